import { type Clock, systemClock } from '../../../kernel/time.ts'
import type { LedgerEntry } from '../../../model/ledger-entry.ts'
import {
  type Columnar,
  compileRowBinary,
  type RowBinaryColumn,
} from '../../../platform/columnar/index.ts'
import type { LedgerQuery, LedgerSums } from '../ledger-contract.ts'
import { countsFrom, milliParameter, readSums } from './ledger-sums.ts'
import { asStoreFailure, type Read, reader } from './store-failure.ts'

export type LedgerHoursOptions = {
  columnar: Columnar
  clock?: Clock
  /** Maximum difference of clocks plus lag of replicas. Default: 5 minutes. */
  lag_ms_max?: number
}

/**
 * Stored sums of past hours, so that sums over a long window do not read all entries. An hour is
 * identified by its first millisecond since 1970.
 *
 * An hour is summed up some time after its end. For a later entry (a replayed dead letter, the
 * backlog of an outage) a note is written after the entry and before its message is acknowledged.
 * Sums that are not newer than the note are invalid: the hour is read entry by entry until it is
 * summed up again. A failure in between therefore costs time, but never makes an answer wrong.
 */
type LedgerHours = {
  /** Writes notes for the hours of late entries. */
  noteLate(entries: readonly LedgerEntry[], token: string): Promise<void>
  /** Returns the whole hours of the window with valid sums, and the sums. */
  closedIn(projectId: string, query: LedgerQuery): Promise<{ hours: number[]; sums: LedgerSums[] }>
  /** Implements `closeHours` of the port. */
  close(limits: { hours_max: number }): Promise<number>
}

/** An entry is late if it is written this long after the arrival of its request. */
const late_ms = 30 * 60_000

/**
 * Delay of sums after an hour's end: `late_ms` plus more than the lag, so writers know they are
 * late.
 */
const closedAfterMs = 45 * 60_000

/** Age of hours searched for missing sums; hours with late entries are found at any age. */
const lookBackMs = 48 * 3_600_000

const hour_ms = 3_600_000

const defaultLagMs = 5 * 60_000

/** Opens the sums of hours in a store. */
export function createLedgerHours(options: LedgerHoursOptions): LedgerHours {
  const { columnar, clock = systemClock, lag_ms_max = defaultLagMs } = options
  const read = reader(columnar)
  const insert = (names: readonly string[], rows: Uint8Array, token: string) => {
    const options = { deduplication_token: `${token}-hours` }
    return asStoreFailure(
      columnar
        .acrossProjects('ingest')
        .insertRowBinary('ingest_ledger_hours', names, rows, options),
    )
  }
  return {
    noteLate: async (entries, token) => {
      const rows = lateHours(entries, clock.now_ms())
      if (rows.length > 0) await insert(noteNames, encodeNotes(rows), token)
    },
    closedIn: (projectId, query) => closedIn(read, projectId, query),
    close: async ({ hours_max }) => {
      let closed = 0
      for (const { project_id, hour } of await openHours(columnar, clock.now_ms(), hours_max)) {
        const as_of = clock.now_ms() - lag_ms_max
        const window = { from_ms: hour, to_ms: hour + hour_ms, lost_before_ms: undefined }
        const sums = await readSums(read, project_id, window)
        if (sums.length === 0 || sums.some(({ pending }) => pending > 0)) continue
        const rows = sums.map((one) => ({ ...one, project_id, hour, as_of }))
        await insert(sumNames, encodeSums(rows), `${project_id}-${hour}-${as_of}`)
        closed += 1
      }
      return closed
    },
  }
}

type Hour = { project_id: string; hour: number }

/** A note (a row without a path): the hour got a late entry, stored by `as_of`. */
type Note = Hour & { as_of: number }

type HourSums = Note & LedgerSums

const counts = 'Map(LowCardinality(String), UInt64)'

const noteColumns = [
  { name: 'project_id', type: 'UUID' },
  { name: 'hour', type: "DateTime64(3, 'UTC')" },
  { name: 'as_of', type: "DateTime64(3, 'UTC')" },
] as const satisfies readonly RowBinaryColumn<Note>[]

const sumColumns: readonly RowBinaryColumn<HourSums>[] = [
  ...noteColumns,
  { name: 'path', type: 'LowCardinality(String)' },
  { name: 'requests', type: 'UInt64' },
  { name: 'accepted', type: 'UInt64' },
  { name: 'stored', type: 'UInt64' },
  { name: 'masked', type: 'UInt64' },
  { name: 'rejected', type: counts },
  { name: 'lost', type: counts },
]

const noteNames = noteColumns.map(({ name }) => name)

const encodeNotes = compileRowBinary<Note>(noteColumns)

const sumNames = sumColumns.map(({ name }) => name)

const encodeSums = compileRowBinary(sumColumns)

function lateHours(entries: readonly LedgerEntry[], as_of: number): Note[] {
  const hours = new Map<string, Note>()
  for (const { project_id, received_at_ms } of entries) {
    if (received_at_ms >= as_of - late_ms) continue
    const hour = Math.floor(received_at_ms / hour_ms) * hour_ms
    hours.set(`${project_id} ${hour}`, { project_id, hour, as_of })
  }
  return [...hours.values()]
}

async function closedIn(read: Read, projectId: string, query: LedgerQuery) {
  const from_ms = Math.ceil(query.from_ms / hour_ms) * hour_ms
  const to_ms = Math.floor(query.to_ms / hour_ms) * hour_ms
  if (from_ms >= to_ms) return { hours: [], sums: [] }
  const params = { from_ms: BigInt(from_ms), to_ms: BigInt(to_ms) }
  const rows = await read<SumsRow>(projectId, closedSql, params)
  const byHour = Map.groupBy(rows, ({ hour }) => hour)
  const hours: number[] = []
  const sums: LedgerSums[] = []
  for (const [hour, ofHour] of byHour) {
    const hourSums = ofHour.map(sumsFrom)
    if (
      hourSums.some(({ rejected, lost }) => hasReason(query, rejected) || hasReason(query, lost))
    ) {
      continue
    }
    hours.push(Number(hour))
    if (query.reason !== undefined) continue
    sums.push(...hourSums.filter(({ path }) => query.path === undefined || path === query.path))
  }
  return { hours, sums }
}

function hasReason({ reason }: LedgerQuery, items: Readonly<Record<string, number>>): boolean {
  return reason !== undefined && Object.hasOwn(items, reason)
}

/** Selects the newest sums of each hour and path, of hours without a later note. */
const closedSql = `
SELECT toString(toUnixTimestamp64Milli(hour)) AS hour, path, requests, accepted, stored, masked,
  rejected, lost
FROM (
  SELECT hour, path, requests, accepted, stored, masked, rejected, lost, as_of,
    maxIf(as_of, path = '') OVER (PARTITION BY hour) AS late
  FROM (
    SELECT hour, path, requests, accepted, stored, masked, rejected, lost, as_of
    FROM ingest_ledger_hours
    WHERE project_id = {project:UUID}
      AND hour >= ${milliParameter('from_ms')} AND hour < ${milliParameter('to_ms')}
    ORDER BY as_of DESC
    LIMIT 1 BY hour, path
  )
)
WHERE path != '' AND as_of > late`

type SumsRow = Pick<LedgerSums, 'path'> & { hour: string } & Record<
    'requests' | 'accepted' | 'stored' | 'masked',
    string
  > &
  Record<'rejected' | 'lost', Record<string, string>>

function sumsFrom(row: SumsRow): LedgerSums {
  return {
    path: row.path,
    requests: Number(row.requests),
    accepted: Number(row.accepted),
    stored: Number(row.stored),
    pending: 0,
    masked: Number(row.masked),
    rejected: countsFrom(row.rejected),
    lost: countsFrom(row.lost),
  }
}

/** Finds past hours without valid sums, latest first. */
async function openHours(columnar: Columnar, now_ms: number, limit: number): Promise<Hour[]> {
  const to_ms = Math.floor((now_ms - closedAfterMs) / hour_ms) * hour_ms
  const params = { from_ms: BigInt(to_ms - lookBackMs), to_ms: BigInt(to_ms), limit }
  const ofAll = columnar.acrossProjects('ledger hours')
  const rows = await asStoreFailure(
    ofAll.query<{ project_id: string; at: string }>(openSql, params),
  )
  return rows.map(({ project_id, at }) => ({ project_id, hour: Number(at) }))
}

const openSql = `
SELECT project_id, toString(toUnixTimestamp64Milli(hour)) AS at
FROM (
  SELECT project_id, toDateTime64(toStartOfHour(received_at), 3, 'UTC') AS hour
  FROM ingest_ledger
  WHERE received_at >= ${milliParameter('from_ms')} AND received_at < ${milliParameter('to_ms')}
  GROUP BY project_id, hour
  UNION DISTINCT
  SELECT project_id, hour FROM ingest_ledger_hours
  WHERE path = '' AND hour < ${milliParameter('to_ms')}
  GROUP BY project_id, hour
)
WHERE (project_id, hour) NOT IN (
  SELECT project_id, hour FROM ingest_ledger_hours
  GROUP BY project_id, hour
  HAVING maxIf(as_of, path != '') > maxIf(as_of, path = '')
)
ORDER BY hour DESC
LIMIT {limit:UInt32}`
