import type { Evidence } from '../incident-view.ts'
import type { Rule } from '../rules/rule.ts'

/**
 * The items that a ledger rule has counted, by outcome and reason, of requests since `from_ms`: such as
 * `lost:not_settled`.
 */
export type LedgerCursor = { from_ms: number; counts: Readonly<Record<string, number>> }

const hour_ms = 3_600_000

/** Requests of these hours are counted; an item may be lost long after its request arrived. */
const counted_ms = 24 * hour_ms

/** The most matches that a rule counts. */
const matches_max = 1000

/** Returns the start of the requests that a new cursor counts. */
export function cursorStart(now_ms: number): number {
  return Math.floor((now_ms - counted_ms) / hour_ms) * hour_ms
}

/** The items of a path by reason. */
type LostItems = { rejected: Record<string, number>; lost: Record<string, number> }

/** Returns the items by outcome and reason. */
export function countsOf(sums: readonly LostItems[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { rejected, lost } of sums) {
    for (const [outcome, reasons] of Object.entries({ rejected, lost })) {
      for (const [reason, items] of Object.entries(reasons)) {
        const key = `${outcome}:${reason}`
        counts[key] = (counts[key] ?? 0) + items
      }
    }
  }
  return counts
}

/** Returns what was counted since the cursor, and matches the rule: at most 1,000 matches. */
export function ledgerMatches(
  { event }: Rule,
  cursor: LedgerCursor,
  { counts, now_ms }: { counts: Readonly<Record<string, number>>; now_ms: number },
): { times_ms: number[]; evidence: Evidence[] } {
  const types = event?.match.types
  const at = new Date(now_ms).toISOString()
  const evidence: Evidence[] = []
  let matches = 0
  for (const [key, items] of Object.entries(counts)) {
    // An item that was called lost may be settled later: the count goes down.
    const more = items - (cursor.counts[key] ?? 0)
    const [outcome = '', reason = ''] = key.split(':')
    const isMatch = types === undefined || types.includes(outcome) || types.includes(reason)
    if (more <= 0 || !isMatch) continue
    matches += more
    const summary = `${more} items ${outcome}: ${reason}`
    evidence.push({ kind: 'ledger', type: outcome, summary, value: more, at })
  }
  const times_ms = Array.from({ length: Math.min(matches, matches_max) }, () => now_ms)
  return { times_ms, evidence }
}
