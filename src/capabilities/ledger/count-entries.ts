import type { LedgerEntry } from '../../model/ledger-entry.ts'
import type { LedgerMeters, LedgerOutcome } from './ledger-meters.ts'

/**
 * Counts what entries of the accepted side say. Entries of one request or frame come together, so
 * those in a row of one project and path are counted at once: a label look-up costs more than a sum.
 */
export function countEntries(meters: LedgerMeters, entries: readonly LedgerEntry[]): void {
  let items = 0
  let masked = 0
  for (let at = 0; at < entries.length; at += 1) {
    const entry = entries[at]
    if (entry === undefined) continue
    items += entry.items
    masked += entry.masked
    countReasons(meters, entry, 'rejected')
    countReasons(meters, entry, 'lost')
    const next = entries[at + 1]
    if (next?.project_id === entry.project_id && next.path === entry.path) continue
    const about = { project_id: entry.project_id, path: entry.path, reason: '' }
    meters.count({ ...about, outcome: 'accepted' }, items)
    meters.count({ ...about, outcome: 'masked' }, masked)
    items = 0
    masked = 0
  }
}

function countReasons(
  meters: LedgerMeters,
  entry: LedgerEntry,
  outcome: Extract<LedgerOutcome, 'rejected' | 'lost'>,
): void {
  const { project_id, path } = entry
  for (const reason in entry[outcome]) {
    meters.count({ project_id, path, outcome, reason }, entry[outcome][reason] ?? 0)
  }
}
