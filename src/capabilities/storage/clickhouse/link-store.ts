import type { LinkFilter, LinkPage, LinkRow, RecordStore } from '../record-contract.ts'
import {
  allOf,
  behind,
  type Condition,
  inWindow,
  latestFirst,
  rows_max,
  sortedBy,
  when,
} from './conditions.ts'
import type { Read } from './store-failure.ts'

/** The reads of table `links`. */
export function linkReads(read: Read): Pick<RecordStore, 'traceLinks' | 'countTraceLinks'> {
  return {
    traceLinks: async (projectId, traceId, page) => {
      const sides = sidesOf(projectId, traceId, page)
      const params = { ...allOf(sides).params, limit: Math.min(page.limit, rows_max) }
      return (await read<JsonRow>(linksSql(sides, page.order), params)).map(linkFrom)
    },
    countTraceLinks: async (projectId, traceId, { limit, ...filter }) => {
      const sides = sidesOf(projectId, traceId, filter)
      const params = { ...allOf(sides).params, limit }
      const [row] = await read<{ links: string }>(countSql(sides), params)
      return Number(row?.links ?? 0)
    },
  }
}

type JsonRow = Omit<LinkRow, 'time'> & { time_ns: string }

function linkFrom({ time_ns, ...row }: JsonRow): LinkRow {
  return { ...row, time: BigInt(time_ns) }
}

/**
 * The links from the trace, and those to it from others. They are read apart: the first by the
 * table's key, the second by an index, and one condition for both could use neither.
 */
function sidesOf(
  projectId: string,
  traceId: string,
  filter: LinkFilter & Partial<Pick<LinkPage, 'after' | 'order'>>,
): Condition[] {
  const { direction, after, order = 'asc' } = filter
  const both = [
    { sql: 'project_id = {project:UUID}', params: { project: projectId, trace: traceId } },
    inWindow(filter),
    behind(order, { trace_id: 'UUID', observation_id: 'String', link_id: 'String' }, after),
  ]
  const observation = (column: string) =>
    when(filter.observation_id, (given) => ({
      sql: `${column} = {observation:String}`,
      params: { observation: given },
    }))
  const from = { sql: 'trace_id = {trace:UUID}', params: {} }
  // Without a direction, a link of the trace to itself is one of the first kind.
  const apart = direction === undefined ? ' AND trace_id != {trace:UUID}' : ''
  const to = { sql: `linked_trace_id = {trace:UUID}${apart}`, params: {} }
  return [
    ...(direction === 'to' ? [] : [allOf([...both, from, observation('observation_id')])]),
    ...(direction === 'from' ? [] : [allOf([...both, to, observation('linked_observation_id')])]),
  ]
}

const identityColumns = ['time', 'trace_id', 'observation_id', 'link_id']

function linksSql(sides: readonly Condition[], order: 'asc' | 'desc'): string {
  const sorted = sortedBy(identityColumns, order)
  return `
SELECT trace_id, observation_id, link_id, toUnixTimestamp64Nano(time) AS time_ns, linked_trace_id,
  linked_observation_id, source, attributes
FROM (${sides.map((side) => sideSql(side, sorted)).join(' UNION ALL ')})
ORDER BY ${sorted}
LIMIT {limit:UInt32}`
}

const sideSql = ({ sql }: Condition, sorted: string) => `
  SELECT trace_id, observation_id, link_id, time, linked_trace_id, linked_observation_id, source,
    attributes
  FROM links WHERE ${sql}
  ORDER BY ${sorted}, ${latestFirst}
  LIMIT 1 BY ${identityColumns.join(', ')}
  LIMIT {limit:UInt32}`

function countSql(sides: readonly Condition[]): string {
  const counted = sides.map(
    ({ sql }) => `
  SELECT 1 FROM links WHERE ${sql} LIMIT 1 BY ${identityColumns.join(', ')} LIMIT {limit:UInt32}`,
  )
  return `
SELECT least(count(), {limit:UInt32}) AS links FROM (${counted.join(' UNION ALL ')})`
}
