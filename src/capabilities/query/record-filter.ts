import { columnScope, conditionOf } from './compile/conditions.ts'
import { clickhouse } from './compile/dialects/clickhouse.ts'
import { namedParams } from './compile/statement.ts'
import { observations } from './language/entities/observations.ts'
import { correlations, events, links } from './language/entities/records.ts'
import { collectFaults, type QueryFault } from './language/faults.ts'
import { type Entity, type Field, fieldsOf } from './language/field.ts'
import { type Filter, readFilter } from './language/filter.ts'
import { filterContext } from './language/page-query.ts'

/** The kinds of stored rows that the query language can filter. */
type FilteredKind = 'observations' | 'traces' | 'events' | 'links' | 'correlations'

/** Checks a filter on rows of a kind. Returns its faults; empty when it is valid. */
export function checkRecordFilter(kind: FilteredKind, where: unknown): readonly QueryFault[] {
  return read(kind, where).faults
}

/**
 * Compiles a filter on rows of a kind to a ClickHouse condition on the columns of the kind's table.
 * Throws RangeError for a filter with faults.
 */
export function compileRecordFilter(kind: FilteredKind, where: unknown) {
  const { filter, faults } = read(kind, where)
  if (filter === undefined) throw new RangeError(`invalid filter: ${faults[0]?.message}`)
  const params = clickhouse.params()
  const window = { from: 0n, to: 0n }
  const frame = { dialect: clickhouse, params, project_id: '', entity: entities[kind], window }
  const sql = conditionOf(filter, columnScope(frame))
  return { sql, params: namedParams({ params: params.values }) }
}

function read(
  kind: FilteredKind,
  where: unknown,
): { filter?: Filter; faults: readonly QueryFault[] } {
  const faults = collectFaults()
  const filter = readFilter(where, ['where'], filterContext(entities[kind], faults))
  return { ...(filter && faults.list.length === 0 && { filter }), faults: faults.list }
}

const text = (name: string, description: string): Field => ({ name, type: 'text', description })

/** Records of whole traces, row by row. Queries see them only as a part of `traces`. */
const traceRecords: Entity = {
  name: 'trace records',
  description: 'Records of whole traces.',
  time: 'time',
  identity: ['trace_id'],
  time_moves: true,
  maps: ['metadata'],
  fields: fieldsOf([
    { name: 'trace_id', type: 'uuid', description: 'Trace id.' },
    { name: 'time', type: 'time', description: 'Time of the record.' },
    text('name', 'Name given by the client.'),
    text('source', 'The path in.'),
    text('task_id', 'Task id.'),
    text('task_name', 'Name of the task.'),
    text('conversation_id', 'Its conversation.'),
    text('conversation_external_id', 'Conversation id given by the client.'),
    text('user_id', 'User id.'),
    text('environment', 'Environment.'),
    text('release', 'Release.'),
    { ...text('input', 'Input.'), content: true },
    { ...text('output', 'Output.'), content: true },
  ]),
  stores: { clickhouse: { table: 'traces', versioned: true } },
}

const entities: Readonly<Record<FilteredKind, Entity>> = {
  observations,
  traces: traceRecords,
  events,
  links,
  correlations,
}
