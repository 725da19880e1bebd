import { type Entity, type Field, type FieldType, fieldsOf } from '../field.ts'

type GroupedField = {
  name: string
  type: FieldType
  description: string
  clickhouse: string
  postgres: string
  reads?: string[]
}

function groupedField({ clickhouse, postgres, reads = [], ...field }: GroupedField): Field {
  return { ...field, grouped: { sql: { clickhouse, postgres }, reads } }
}

/** Returns a field of the trace's record, else of the latest observation that has it. */
function latest(name: string, description: string): Field {
  const reads = ['start_time', 'observation_id', name]
  const clickhouse = `argMaxIf(o.${name}, (o.start_time, o.observation_id), o.${name} != '')`
  const order = 'o.start_time DESC, o.observation_id DESC'
  const values = `array_agg(o.${name} ORDER BY ${order}) FILTER (WHERE o.${name} != '')`
  const postgres = `coalesce((${values})[1], '')`
  return {
    ...groupedField({ name, type: 'text', description, clickhouse, postgres, reads }),
    recorded: true,
  }
}

const calls = ['is_call']

/** Returns a sum over calls alone: agents and chains report sums of their calls. */
function callTokens(name: string, description: string): Field {
  return groupedField({
    name,
    type: 'integer',
    description,
    // A sum of UInt64 would begin at 0 again above 2^64.
    clickhouse: `sumIf(toInt128(ifNull(o.${name}, 0)), o.is_call)`,
    postgres: `coalesce(sum(o.${name}) FILTER (WHERE o.is_call), 0)`,
    reads: [...calls, name],
  })
}

const fields: readonly Field[] = [
  groupedField({
    name: 'trace_id',
    type: 'uuid',
    description: 'Trace id.',
    clickhouse: 'o.trace_id',
    postgres: 'o.trace_id',
  }),
  groupedField({
    name: 'start_time',
    type: 'time',
    description: 'Start of the first observation.',
    clickhouse: 'min(o.start_time)',
    postgres: 'min(o.start_time)',
    reads: ['start_time'],
  }),
  groupedField({
    name: 'end_time',
    type: 'time',
    description: 'End of the last observation.',
    clickhouse: 'max(o.end_time)',
    postgres: 'max(o.end_time)',
    reads: ['end_time'],
  }),
  groupedField({
    name: 'duration_ms',
    type: 'float',
    description: 'Duration in milliseconds.',
    clickhouse:
      '(toUnixTimestamp64Nano(max(o.end_time)) - toUnixTimestamp64Nano(min(o.start_time))) / 1000000',
    postgres: '(max(o.end_time) - min(o.start_time))::float8 / 1000000',
    reads: ['start_time', 'end_time'],
  }),
  {
    ...groupedField({
      name: 'name',
      type: 'text',
      description: 'Name in the record of the trace, else name of the root.',
      clickhouse: "argMin(o.name, (o.parent_observation_id != '', o.start_time, o.observation_id))",
      postgres:
        "(array_agg(o.name ORDER BY o.parent_observation_id != '', o.start_time, o.observation_id))[1]",
      reads: ['name', 'parent_observation_id', 'start_time', 'observation_id'],
    }),
    recorded: true,
  },
  groupedField({
    name: 'status',
    type: 'text',
    description: 'error if any observation has an error, else cancelled if any is, else ok.',
    clickhouse:
      "multiIf(countIf(o.status = 'error') > 0, 'error', countIf(o.status = 'cancelled') > 0, 'cancelled', 'ok')",
    postgres:
      "CASE WHEN bool_or(o.status = 'error') THEN 'error' WHEN bool_or(o.status = 'cancelled') THEN 'cancelled' ELSE 'ok' END",
    reads: ['status'],
  }),
  groupedField({
    name: 'has_error',
    type: 'bool',
    description: 'Any observation has an error.',
    clickhouse: "countIf(o.status = 'error') > 0",
    postgres: "bool_or(o.status = 'error')",
    reads: ['status'],
  }),
  groupedField({
    name: 'observations',
    type: 'integer',
    description: 'Number of observations.',
    clickhouse: 'count()',
    postgres: 'count(*)',
  }),
  groupedField({
    name: 'calls',
    type: 'integer',
    description: 'Model calls.',
    clickhouse: 'countIf(o.is_call)',
    postgres: 'count(*) FILTER (WHERE o.is_call)',
    reads: calls,
  }),
  groupedField({
    name: 'errors',
    type: 'integer',
    description: 'Observations with an error.',
    clickhouse: "countIf(o.status = 'error')",
    postgres: "count(*) FILTER (WHERE o.status = 'error')",
    reads: ['status'],
  }),
  callTokens('input_tokens', 'Input tokens of calls.'),
  callTokens('output_tokens', 'Output tokens of calls.'),
  callTokens('total_tokens', 'Tokens of calls.'),
  groupedField({
    name: 'cost_usd',
    type: 'decimal',
    description: 'Cost in US dollars of the calls with a known price.',
    clickhouse: 'sumIf(ifNull(o.cost_usd, toDecimal64(0, 9)), o.is_call)',
    postgres: 'coalesce(sum(o.cost_usd) FILTER (WHERE o.is_call), 0)',
    reads: [...calls, 'cost_usd'],
  }),
  groupedField({
    name: 'models',
    type: 'list',
    description: 'Models that answered, at most 100.',
    clickhouse: "arraySort(groupUniqArrayIf(100)(o.model, o.is_call AND o.model != ''))",
    postgres:
      "coalesce((array_agg(DISTINCT o.model) FILTER (WHERE o.is_call AND o.model != ''))[1:100], '{}')",
    reads: [...calls, 'model'],
  }),
  latest('task_id', 'Task id.'),
  latest('task_name', 'Name of the task.'),
  latest('conversation_id', 'Conversation id, a UUID.'),
  latest('conversation_external_id', 'Conversation id given by the client.'),
  latest('user_id', 'User id.'),
  latest('environment', 'Environment.'),
  latest('release', 'Release.'),
]

/**
 * Traces that began in the window, computed from their observations (of up to a day outside of it)
 * and joined with the trace's own record. A trace without observations is not included.
 */
export const traces: Entity = {
  name: 'traces',
  description: 'Traces that began in the window, computed from their observations.',
  time: 'start_time',
  identity: ['trace_id'],
  time_moves: true,
  maps: ['metadata'],
  error_field: 'has_error',
  fields: fieldsOf(fields),
  stores: {
    clickhouse: {
      table: 'observations',
      versioned: true,
      record_table: 'traces',
      restored: 'restored_observations',
      restored_records: 'restored_traces',
    },
    postgres: {
      table: 'hot_observations',
      versioned: false,
      times_in_ns: true,
      record_table: 'hot_traces',
    },
  },
  computed: { of: 'observations', by: 'trace_id' },
}
