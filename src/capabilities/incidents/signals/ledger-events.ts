import type { Columnar } from '../../../platform/columnar/index.ts'
import type { LedgerCursor, LedgerEvent, LedgerEvents } from '../ports.ts'
import { Parameters } from './grouped-statement.ts'
import { measurementTime_ms_max } from './measurement-error.ts'

/** Time after which an entry that is being inserted is visible. */
const overlap_ms = 60_000

/** Age of requests whose entries are read. Items that are settled later have no event. */
const lookBack_ms = 24 * 3_600_000

/** Maximum entries of one call; the next call continues. */
const entries_max = 5_000

type EntryRow = {
  request: string
  message: string
  at: string
  rejected: Record<string, string>
  lost: Record<string, string>
}

/**
 * Opens the events of the ledger: entries with rejected or lost items, in the order in which they
 * were stored. A chain of cursors has each entry once. Entries are read again for a minute, because
 * one that was stored earlier may be visible later; the cursor remembers those that were returned.
 */
export function openLedgerEvents(columnar: Pick<Columnar, 'read'>): LedgerEvents {
  return async (project_id, after, signal) => {
    if (after === null) return { events: [], cursor: await firstCursor(columnar, signal) }
    const seen = new Set(after.seen)
    const rows = await readEntries(columnar, { project_id, after, seen: seen.size }, signal)
    const news = rows.filter((row) => !seen.has(keyOf(row))).slice(0, entries_max)
    const until_ms = Math.max(after.until_ms, ...news.slice(-1).map(({ at }) => Number(at)))
    const kept = rows.filter((row) => seen.has(keyOf(row)) || news.includes(row))
    const cursor = {
      ...after,
      until_ms,
      seen: kept.filter(({ at }) => Number(at) >= until_ms - overlap_ms).map(keyOf),
    }
    return { events: news.flatMap(eventsFrom), cursor }
  }
}

/** Returns a cursor at the present time of the store. */
async function firstCursor(
  columnar: Pick<Columnar, 'read'>,
  signal?: AbortSignal,
): Promise<LedgerCursor> {
  const sql = 'SELECT toUnixTimestamp64Milli(now64(3)) AS now'
  const { rows } = await columnar.read<{ now: string }>(sql, {}, signal && { signal })
  const since_ms = Number(rows[0]?.now)
  return { since_ms, until_ms: since_ms, seen: [] }
}

async function readEntries(
  columnar: Pick<Columnar, 'read'>,
  asked: { project_id: string; after: LedgerCursor; seen: number },
  signal?: AbortSignal,
): Promise<EntryRow[]> {
  const { project_id, after, seen } = asked
  const parameters = new Parameters()
  const from_ms = Math.max(after.since_ms, after.until_ms - overlap_ms)
  const text = `SELECT toString(ingest_request_id) AS request, message_id AS message,
      toUnixTimestamp64Milli(ingested_at) AS at, rejected, lost
    FROM ingest_ledger
    WHERE project_id = ${parameters.project(project_id)}
      AND received_at >= ${parameters.instant(from_ms - lookBack_ms)}
      AND ingested_at >= ${parameters.instant(from_ms)}
      AND arraySum(mapValues(rejected)) + arraySum(mapValues(lost)) > 0
    ORDER BY at, request, message
    LIMIT 1 BY request, message
    LIMIT ${parameters.add(seen + entries_max, 'UInt32')}`
  const { rows } = await columnar.read<EntryRow>(text, parameters.values, {
    timeout_ms: measurementTime_ms_max,
    ...(signal && { signal }),
  })
  return rows
}

function keyOf({ request, message }: EntryRow): string {
  return `${request} ${message}`
}

function eventsFrom({ request, at, ...row }: EntryRow): LedgerEvent[] {
  return (['rejected', 'lost'] as const).flatMap((type) => {
    const counts = Object.entries(row[type]).map(([reason, count]) => [reason, Number(count)])
    const reasons: Record<string, number> = Object.fromEntries(counts)
    const items = Object.values(reasons).reduce((all, one) => all + one, 0)
    return items === 0
      ? []
      : [{ type, items, reasons, ingest_request_id: request, at_ms: Number(at) }]
  })
}
