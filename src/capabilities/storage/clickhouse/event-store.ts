import type { EventFilter, EventPage, EventRow, RecordStore } from '../record-contract.ts'
import {
  allOf,
  behind,
  type Condition,
  inWindow,
  latestFirst,
  ofTrace,
  rows_max,
  sortedBy,
  when,
} from './conditions.ts'
import type { Read } from './store-failure.ts'

/** The reads of table `events`. */
export function eventReads(read: Read): Pick<RecordStore, 'traceEvents' | 'countTraceEvents'> {
  return {
    traceEvents: async (projectId, traceId, page) => {
      const wanted = conditions(projectId, traceId, page)
      const rows = await read<JsonRow>(eventsSql(wanted, page.order), {
        ...wanted.identity.params,
        ...wanted.content.params,
        limit: Math.min(page.limit, rows_max),
        bytes_max: page.bytes_max,
      })
      return { rows: rows.map(eventFrom), more: rows.length < Number(rows[0]?.fetched ?? 0) }
    },
    countTraceEvents: async (projectId, traceId, { limit, ...filter }) => {
      const { identity, content } = conditions(projectId, traceId, filter)
      const params = { ...identity.params, ...content.params, limit }
      const [row] = await read<{ events: string }>(countSql({ identity, content }), params)
      return Number(row?.events ?? 0)
    },
  }
}

type JsonRow = Omit<EventRow, 'time'> & { time_ns: string; fetched: string }

function eventFrom({ time_ns, fetched: _, ...row }: JsonRow): EventRow {
  return { ...row, time: BigInt(time_ns) }
}

/** Fields of the identity may be filtered before the latest version is chosen, others only after. */
type Wanted = { identity: Condition; content: Condition }

function conditions(
  projectId: string,
  traceId: string,
  filter: EventFilter & Partial<Pick<EventPage, 'after' | 'order'>>,
): Wanted {
  const { observation_id, name, after, order = 'asc' } = filter
  return {
    identity: allOf([
      ofTrace(projectId, traceId),
      inWindow(filter),
      when(observation_id, (observation) => ({
        sql: 'observation_id = {observation:String}',
        params: { observation },
      })),
      behind(order, { observation_id: 'String', event_id: 'String' }, after),
    ]),
    content: allOf([
      when(name, (given) => ({ sql: 'name = {name:String}', params: { name: given } })),
    ]),
  }
}

const identityColumns = ['time', 'observation_id', 'event_id']

/** Reads one row more than the page has, to know of it; counts up what the texts take. */
function eventsSql({ identity, content }: Wanted, order: 'asc' | 'desc'): string {
  const sorted = sortedBy(identityColumns, order)
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
      LIMIT 1 BY ${identityColumns.join(', ')}
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

function countSql({ identity, content }: Wanted): string {
  return `
SELECT count() AS events FROM (
  SELECT 1 FROM (
    SELECT ${identityColumns.join(', ')}, name FROM events
    WHERE ${identity.sql}
    ORDER BY ${sortedBy(identityColumns, 'asc')}, ${latestFirst}
    LIMIT 1 BY ${identityColumns.join(', ')}
  )
  WHERE ${content.sql}
  LIMIT {limit:UInt32}
)`
}
