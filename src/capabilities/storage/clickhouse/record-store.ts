import type { Columnar } from '../../../platform/columnar/index.ts'
import type {
  EventFilter,
  EventPage,
  EventRow,
  LinkFilter,
  LinkPage,
  LinkRow,
  RecordKind,
  RecordStore,
} from '../record-contract.ts'
import { columnTypesByKind } from '../row-format/columns.ts'
import {
  afterPosition,
  allOf,
  type Condition,
  inWindow,
  latestFirst,
  ofTrace,
  orderBy,
  rows_max,
  when,
} from './conditions.ts'
import { correlationReads } from './correlation-store.ts'
import type { StoreOptions } from './store.ts'
import { asStoreFailure, type Read, reader } from './store-failure.ts'

/** Opens the store of all kinds of records in ClickHouse. */
export function openClickHouseRecordStore({
  columnar,
  reads = columnar,
}: StoreOptions): RecordStore {
  const read = reader(reads)
  return {
    insertRows: (kind, rows, { token }) => insertRows(columnar, { kind, rows, token }),
    ...eventReads(read),
    ...linkReads(read),
    ...correlationReads(read),
    traceExists: (projectId, traceId) => traceExists(read, projectId, traceId),
  }
}

type Batch = { kind: RecordKind; rows: readonly Uint8Array[]; token: string }

async function insertRows(columnar: Columnar, { kind, rows, token }: Batch): Promise<void> {
  const [first, ...others] = rows
  if (first === undefined) return
  const bytes = others.length === 0 ? first : Buffer.concat(rows)
  const options = { deduplication_token: token }
  await asStoreFailure(
    columnar.acrossProjects('ingest').insertRowBinary(kind, columnNames[kind], bytes, options),
  )
}

const columnNames: Record<RecordKind, readonly string[]> = {
  traces: Object.keys(columnTypesByKind.traces),
  observations: Object.keys(columnTypesByKind.observations),
  events: Object.keys(columnTypesByKind.events),
  links: Object.keys(columnTypesByKind.links),
  correlations: Object.keys(columnTypesByKind.correlations),
}

async function traceExists(read: Read, projectId: string, traceId: string): Promise<boolean> {
  const { sql, params } = ofTrace(projectId, traceId)
  const kinds = Object.keys(columnNames)
  const each = kinds.map((kind) => `SELECT 1 FROM ${kind} WHERE ${sql} LIMIT 1`)
  return (
    (await read(projectId, `SELECT 1 FROM (${each.join(' UNION ALL ')}) LIMIT 1`, params)).length >
    0
  )
}

/** Returns the reads of table `events`. */
function eventReads(read: Read): Pick<RecordStore, 'traceEvents' | 'countTraceEvents'> {
  return {
    traceEvents: async (projectId, traceId, page) => {
      const wanted = eventConditions(projectId, traceId, page)
      const rows = await read<EventJsonRow>(projectId, eventsSql(wanted, page.order), {
        ...wanted.identity.params,
        ...wanted.content.params,
        limit: Math.min(page.limit, rows_max),
        bytes_max: page.bytes_max,
      })
      return { rows: rows.map(eventFrom), more: rows.length < Number(rows[0]?.fetched ?? 0) }
    },
    countTraceEvents: async (projectId, traceId, { limit, ...filter }) => {
      const { identity, content } = eventConditions(projectId, traceId, filter)
      const params = { ...identity.params, ...content.params, limit }
      const [row] = await read<{ events: string }>(
        projectId,
        countEventsSql({ identity, content }),
        params,
      )
      return Number(row?.events ?? 0)
    },
  }
}

type EventJsonRow = Omit<EventRow, 'time'> & { time_ns: string; fetched: string }

function eventFrom({ time_ns, fetched: _, ...row }: EventJsonRow): EventRow {
  return { ...row, time: BigInt(time_ns) }
}

/** Conditions on the identity apply before the latest version is chosen, others only after. */
type EventConditions = { identity: Condition; content: Condition }

function eventConditions(
  projectId: string,
  traceId: string,
  filter: EventFilter & Partial<Pick<EventPage, 'after' | 'order'>>,
): EventConditions {
  const { observation_id, name, after, order = 'asc' } = filter
  return {
    identity: allOf([
      ofTrace(projectId, traceId),
      inWindow(filter),
      when(observation_id, (observation) => ({
        sql: 'observation_id = {observation:String}',
        params: { observation },
      })),
      afterPosition(order, { observation_id: 'String', event_id: 'String' }, after),
    ]),
    content: allOf([
      when(name, (given) => ({ sql: 'name = {name:String}', params: { name: given } })),
    ]),
  }
}

const eventIdentity = ['time', 'observation_id', 'event_id']

/** Selects a page, limited by rows and bytes. `fetched` counts one row more than the page. */
function eventsSql({ identity, content }: EventConditions, order: 'asc' | 'desc'): string {
  const sorted = orderBy(eventIdentity, order)
  return `
SELECT trace_id, observation_id, event_id, toUnixTimestamp64Nano(time) AS time_ns, name, level,
  source, body, attributes, fetched
FROM (
  SELECT *, byteSize(body, attributes) AS size_bytes, count() OVER () AS fetched,
    sum(size_bytes) OVER page AS bytes, row_number() OVER page AS place
  FROM (
    SELECT * FROM (
      SELECT trace_id, observation_id, event_id, time, name, level, source, body, attributes
      FROM events
      WHERE ${identity.sql}
      ORDER BY ${sorted}, ${latestFirst}
      LIMIT 1 BY ${eventIdentity.join(', ')}
    )
    WHERE ${content.sql}
    ORDER BY ${sorted}
    LIMIT {limit:UInt32} + 1
  )
  WINDOW page AS (ORDER BY ${sorted} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
)
WHERE place = 1 OR bytes <= {bytes_max:UInt64}
ORDER BY ${sorted}
LIMIT {limit:UInt32}`
}

function countEventsSql({ identity, content }: EventConditions): string {
  return `
SELECT count() AS events FROM (
  SELECT 1 FROM (
    SELECT ${eventIdentity.join(', ')}, name FROM events
    WHERE ${identity.sql}
    ORDER BY ${orderBy(eventIdentity, 'asc')}, ${latestFirst}
    LIMIT 1 BY ${eventIdentity.join(', ')}
  )
  WHERE ${content.sql}
  LIMIT {limit:UInt32}
)`
}

/** Returns the reads of table `links`. */
function linkReads(read: Read): Pick<RecordStore, 'traceLinks' | 'countTraceLinks'> {
  return {
    traceLinks: async (projectId, traceId, page) => {
      const sides = sideConditions(projectId, traceId, page)
      const params = { ...allOf(sides).params, limit: Math.min(page.limit, rows_max) }
      return (await read<LinkJsonRow>(projectId, linksSql(sides, page.order), params)).map(linkFrom)
    },
    countTraceLinks: async (projectId, traceId, { limit, ...filter }) => {
      const sides = sideConditions(projectId, traceId, filter)
      const params = { ...allOf(sides).params, limit }
      const [row] = await read<{ links: string }>(projectId, countLinksSql(sides), params)
      return Number(row?.links ?? 0)
    },
  }
}

type LinkJsonRow = Omit<LinkRow, 'time'> & { time_ns: string }

function linkFrom({ time_ns, ...row }: LinkJsonRow): LinkRow {
  return { ...row, time: BigInt(time_ns) }
}

/**
 * Returns the conditions of links from the trace and of links to it. They are read separately, by
 * the table's key and by an index, since one condition for both could use neither.
 */
function sideConditions(
  projectId: string,
  traceId: string,
  filter: LinkFilter & Partial<Pick<LinkPage, 'after' | 'order'>>,
): Condition[] {
  const { direction, after, order = 'asc' } = filter
  const both = [
    { sql: 'project_id = {project:UUID}', params: { project: projectId, trace: traceId } },
    inWindow(filter),
    afterPosition(order, { trace_id: 'UUID', observation_id: 'String', link_id: 'String' }, after),
  ]
  const observation = (column: string) =>
    when(filter.observation_id, (given) => ({
      sql: `${column} = {observation:String}`,
      params: { observation: given },
    }))
  const from = { sql: 'trace_id = {trace:UUID}', params: {} }
  // Without a direction, a link of the trace to itself counts as one from it.
  const apart = direction === undefined ? ' AND trace_id != {trace:UUID}' : ''
  const to = { sql: `linked_trace_id = {trace:UUID}${apart}`, params: {} }
  return [
    ...(direction === 'to' ? [] : [allOf([...both, from, observation('observation_id')])]),
    ...(direction === 'from' ? [] : [allOf([...both, to, observation('linked_observation_id')])]),
  ]
}

const linkIdentity = ['time', 'trace_id', 'observation_id', 'link_id']

function linksSql(sides: readonly Condition[], order: 'asc' | 'desc'): string {
  const sorted = orderBy(linkIdentity, order)
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
  LIMIT 1 BY ${linkIdentity.join(', ')}
  LIMIT {limit:UInt32}`

function countLinksSql(sides: readonly Condition[]): string {
  const counted = sides.map(
    ({ sql }) => `
  SELECT 1 FROM links WHERE ${sql} LIMIT 1 BY ${linkIdentity.join(', ')} LIMIT {limit:UInt32}`,
  )
  return `
SELECT least(count(), {limit:UInt32}) AS links FROM (${counted.join(' UNION ALL ')})`
}
