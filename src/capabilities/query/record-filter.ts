import { conditionOf } from './compile/conditions.ts'
import { clickhouse } from './compile/dialects/clickhouse.ts'
import { namedParams } from './compile/read-rows.ts'
import { columnScope } from './compile/rows.ts'
import { filterContext } from './language/check-query.ts'
import { observations } from './language/entities/observations.ts'
import { correlations, events, links } from './language/entities/records.ts'
import { collectFaults, type QueryFault } from './language/faults.ts'
import { type Entity, type Field, fieldsOf } from './language/field.ts'
import { type Filter, readFilter } from './language/filter.ts'

/** Kinds of stored rows that a filter of the query language can be about. */
export type FilteredKind = 'observations' | 'traces' | 'events' | 'links' | 'correlations'

/** What is wrong with a filter on rows of a kind; empty when it holds. */
export function faultsOfRecordFilter(kind: FilteredKind, where: unknown): readonly QueryFault[] {
  return read(kind, where).faults
}

/**
 * A filter on rows of a kind as a condition in ClickHouse, over the columns of the kind's table.
 * Throws RangeError for a filter that has faults.
 */
export function compileRecordFilter(kind: FilteredKind, where: unknown) {
  const { filter, faults } = read(kind, where)
  if (filter === undefined) throw new RangeError(`the filter: ${faults[0]?.message}`)
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

const text = (name: string, about: string): Field => ({ name, type: 'text', about })

/** What was said of traces as a whole, row by row: queries know it only as a part of traces. */
const traceRecords: Entity = {
  name: 'trace records',
  about: 'What was said of traces as a whole.',
  time: 'time',
  identity: ['trace_id'],
  time_moves: true,
  maps: ['metadata'],
  fields: fieldsOf([
    { name: 'trace_id', type: 'uuid', about: 'The trace.' },
    { name: 'time', type: 'time', about: 'When it was.' },
    text('name', 'What the client calls it.'),
    text('source', 'The path in.'),
    text('task_id', 'Its task.'),
    text('task_name', 'What the client calls the task.'),
    text('conversation_id', 'Its conversation.'),
    text('conversation_external_id', 'The conversation as the client calls it.'),
    text('user_id', 'The user that it was done for.'),
    text('environment', 'Where it ran.'),
    text('release', 'What ran.'),
    { ...text('input', 'What went in.'), content: true },
    { ...text('output', 'What came out.'), content: true },
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
