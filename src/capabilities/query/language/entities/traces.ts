import { type Entity, type Field, type FieldType, fieldsOf } from '../field.ts'

type Grouped = {
  name: string
  type: FieldType
  about: string
  clickhouse: string
  postgres: string
  reads?: string[]
}

function grouped({ clickhouse, postgres, reads = [], ...field }: Grouped): Field {
  return { ...field, grouped: { sql: { clickhouse, postgres }, reads } }
}

/** What the last observation that knows it says, unless a record of the trace does. */
function latest(name: string, about: string): Field {
  const reads = ['start_time', 'observation_id', name]
  const clickhouse = `argMaxIf(o.${name}, (o.start_time, o.observation_id), o.${name} != '')`
  const order = 'o.start_time DESC, o.observation_id DESC'
  const values = `array_agg(o.${name} ORDER BY ${order}) FILTER (WHERE o.${name} != '')`
  const postgres = `coalesce((${values})[1], '')`
  return { ...grouped({ name, type: 'text', about, clickhouse, postgres, reads }), recorded: true }
}

const calls = ['is_call']

/** Sums are those of calls: what agents and chains report is sums of these already. */
function callTokens(name: string, about: string): Field {
  return grouped({
    name,
    type: 'integer',
    about,
    clickhouse: `sumIf(ifNull(o.${name}, 0), o.is_call)`,
    postgres: `coalesce(sum(o.${name}) FILTER (WHERE o.is_call), 0)`,
    reads: [...calls, name],
  })
}

const fields: readonly Field[] = [
  grouped({
    name: 'trace_id',
    type: 'uuid',
    about: 'The trace.',
    clickhouse: 'o.trace_id',
    postgres: 'o.trace_id',
  }),
  grouped({
    name: 'start_time',
    type: 'time',
    about: 'When its first observation began.',
    clickhouse: 'min(o.start_time)',
    postgres: 'min(o.start_time)',
    reads: ['start_time'],
  }),
  grouped({
    name: 'end_time',
    type: 'time',
    about: 'When its last observation ended.',
    clickhouse: 'max(o.end_time)',
    postgres: 'max(o.end_time)',
    reads: ['end_time'],
  }),
  grouped({
    name: 'duration_ms',
    type: 'float',
    about: 'From start to end, in milliseconds.',
    clickhouse:
      '(toUnixTimestamp64Nano(max(o.end_time)) - toUnixTimestamp64Nano(min(o.start_time))) / 1000000',
    postgres: '(max(o.end_time) - min(o.start_time))::float8 / 1000000',
    reads: ['start_time', 'end_time'],
  }),
  {
    ...grouped({
      name: 'name',
      type: 'text',
      about: 'As its record says, else the name of its root.',
      clickhouse: "argMin(o.name, (o.parent_observation_id != '', o.start_time, o.observation_id))",
      postgres:
        "(array_agg(o.name ORDER BY o.parent_observation_id != '', o.start_time, o.observation_id))[1]",
      reads: ['name', 'parent_observation_id', 'start_time', 'observation_id'],
    }),
    recorded: true,
  },
  grouped({
    name: 'status',
    type: 'text',
    about: 'error when any observation has one, else cancelled when any is, else ok.',
    clickhouse:
      "multiIf(countIf(o.status = 'error') > 0, 'error', countIf(o.status = 'cancelled') > 0, 'cancelled', 'ok')",
    postgres:
      "CASE WHEN bool_or(o.status = 'error') THEN 'error' WHEN bool_or(o.status = 'cancelled') THEN 'cancelled' ELSE 'ok' END",
    reads: ['status'],
  }),
  grouped({
    name: 'has_error',
    type: 'bool',
    about: 'Any observation has an error.',
    clickhouse: "countIf(o.status = 'error') > 0",
    postgres: "bool_or(o.status = 'error')",
    reads: ['status'],
  }),
  grouped({
    name: 'observations',
    type: 'integer',
    about: 'Observations.',
    clickhouse: 'count()',
    postgres: 'count(*)',
  }),
  grouped({
    name: 'calls',
    type: 'integer',
    about: 'Calls of models.',
    clickhouse: 'countIf(o.is_call)',
    postgres: 'count(*) FILTER (WHERE o.is_call)',
    reads: calls,
  }),
  grouped({
    name: 'errors',
    type: 'integer',
    about: 'Observations with an error.',
    clickhouse: "countIf(o.status = 'error')",
    postgres: "count(*) FILTER (WHERE o.status = 'error')",
    reads: ['status'],
  }),
  callTokens('input_tokens', 'Input tokens of calls.'),
  callTokens('output_tokens', 'Output tokens of calls.'),
  callTokens('total_tokens', 'Tokens of calls.'),
  grouped({
    name: 'cost_usd',
    type: 'decimal',
    about: 'What the calls cost, of those whose price is known.',
    clickhouse: 'sumIf(ifNull(o.cost_usd, toDecimal64(0, 9)), o.is_call)',
    postgres: 'coalesce(sum(o.cost_usd) FILTER (WHERE o.is_call), 0)',
    reads: [...calls, 'cost_usd'],
  }),
  grouped({
    name: 'models',
    type: 'list',
    about: 'Models that answered, 100 at most.',
    clickhouse: "arraySort(groupUniqArrayIf(100)(o.model, o.is_call AND o.model != ''))",
    postgres:
      "coalesce((array_agg(DISTINCT o.model) FILTER (WHERE o.is_call AND o.model != ''))[1:100], '{}')",
    reads: [...calls, 'model'],
  }),
  latest('task_id', 'Its task.'),
  latest('task_name', 'What the client calls the task.'),
  latest('conversation_id', 'Its conversation, a UUID.'),
  latest('conversation_external_id', 'The conversation as the client calls it.'),
  latest('user_id', 'The user that it was done for.'),
  latest('environment', 'Where it ran.'),
  latest('release', 'What ran.'),
]

/**
 * Traces that began in the window, computed from their observations (those that start at most a day
 * outside of it) and joined with what was said of the trace as a whole. A trace of which nothing
 * but such a record is known is not among them.
 */
export const traces: Entity = {
  name: 'traces',
  about: 'Traces that began in the window, computed from their observations.',
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
