import { type Entity, type Field, type FieldType, fieldsOf } from '../field.ts'

type Grouped = { name: string; type: FieldType; about: string; sql: string; reads?: string[] }

function grouped({ sql, reads = [], ...field }: Grouped): Field {
  return { ...field, grouped: { expression: sql, reads } }
}

/** What the last observation that knows it says, unless a record of the trace does. */
function latest(name: string, about: string): Field {
  const sql = `argMaxIf(o.${name}, (o.start_time, o.observation_id), o.${name} != '')`
  const reads = ['start_time', 'observation_id', name]
  return { ...grouped({ name, type: 'text', about, sql, reads }), recorded: true }
}

const errorsSql = "countIf(o.status = 'error')"
const calls = ['is_call']

/** Sums are those of calls: what agents and chains report are sums of these already. */
function callTokens(name: string, about: string): Field {
  const sql = `sumIf(ifNull(o.${name}, 0), o.is_call)`
  return grouped({ name, type: 'integer', about, sql, reads: [...calls, name] })
}

const fields: readonly Field[] = [
  grouped({ name: 'trace_id', type: 'uuid', about: 'The trace.', sql: 'o.trace_id' }),
  grouped({
    name: 'start_time',
    type: 'time',
    about: 'When its first observation began.',
    sql: 'min(o.start_time)',
    reads: ['start_time'],
  }),
  grouped({
    name: 'end_time',
    type: 'time',
    about: 'When its last observation ended.',
    sql: 'max(o.end_time)',
    reads: ['end_time'],
  }),
  grouped({
    name: 'duration_ms',
    type: 'float',
    about: 'From start to end, in milliseconds.',
    sql: '(toUnixTimestamp64Nano(max(o.end_time)) - toUnixTimestamp64Nano(min(o.start_time))) / 1000000',
    reads: ['start_time', 'end_time'],
  }),
  {
    ...grouped({
      name: 'name',
      type: 'text',
      about: 'As its record says, else the name of its root.',
      sql: "argMin(o.name, (o.parent_observation_id != '', o.start_time, o.observation_id))",
      reads: ['name', 'parent_observation_id', 'start_time', 'observation_id'],
    }),
    recorded: true,
  },
  grouped({
    name: 'status',
    type: 'text',
    about: 'error when any observation has one, else cancelled when any is, else ok.',
    sql: `multiIf(${errorsSql} > 0, 'error', countIf(o.status = 'cancelled') > 0, 'cancelled', 'ok')`,
    reads: ['status'],
  }),
  grouped({
    name: 'has_error',
    type: 'bool',
    about: 'Any observation has an error.',
    sql: `${errorsSql} > 0`,
    reads: ['status'],
  }),
  grouped({ name: 'observations', type: 'integer', about: 'Observations.', sql: 'count()' }),
  grouped({
    name: 'calls',
    type: 'integer',
    about: 'Calls of models.',
    sql: 'countIf(o.is_call)',
    reads: calls,
  }),
  grouped({
    name: 'errors',
    type: 'integer',
    about: 'Observations with an error.',
    sql: errorsSql,
    reads: ['status'],
  }),
  callTokens('input_tokens', 'Input tokens of calls.'),
  callTokens('output_tokens', 'Output tokens of calls.'),
  callTokens('total_tokens', 'Tokens of calls.'),
  grouped({
    name: 'cost_usd',
    type: 'decimal',
    about: 'What the calls cost, of those whose price is known.',
    sql: 'sumIf(ifNull(o.cost_usd, toDecimal64(0, 9)), o.is_call)',
    reads: [...calls, 'cost_usd'],
  }),
  grouped({
    name: 'models',
    type: 'list',
    about: 'Models that answered, 100 at most.',
    sql: "arraySort(groupUniqArrayIf(100)(o.model, o.is_call AND o.model != ''))",
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
  stores: { clickhouse: { table: 'observations', versioned: true } },
  computed: { of: 'observations', by: 'trace_id', record_table: 'traces' },
}
