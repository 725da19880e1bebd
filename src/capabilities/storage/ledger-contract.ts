import type { IngestPath } from '../../model/ingest-records.ts'
import type { LedgerEntry } from '../../model/ledger-entry.ts'

/**
 * The port to the ledger. Entries of one request and message are joined: the settled side wins over
 * the accepted one, and of several settled ones the newest. So every answer is exact while an entry
 * that was written again lies beside its first version, and nothing is counted twice. No call sees
 * another project. Rejects with problem('store_unavailable') when the store is out of reach.
 */
export type LedgerStore = {
  /** Appends entries of any projects; to repeat it, whole or in part, is right. */
  insertEntries(entries: readonly LedgerEntry[], options: { token: string }): Promise<void>
  /** One for each path that took a request in the window, in no order. */
  sums(projectId: string, query: LedgerQuery): Promise<LedgerSums[]>
  /**
   * Sums up hours that are long over and of which every item is settled, so that `sums` need not
   * read their entries; also again, when an entry came late. At most so many; resolves with how
   * many. To repeat it, or to do it twice at once, is right.
   */
  closeHours(limits: { hours_max: number }): Promise<number>
  /** Drops months all of whose entries came in before the instant, with their sums. */
  dropMonthsBefore(instant_ms: number): Promise<void>
  /**
   * What is known of one request: an entry for each of its messages and one for what no message
   * took; `side` tells whether it is settled. Empty for a request that is not known.
   */
  receipt(projectId: string, ingestRequestId: string): Promise<LedgerEntry[]>
}

export type LedgerQuery = {
  /** By the request's arrival, in milliseconds since 1970: from inclusive, to exclusive. */
  from_ms: number
  to_ms: number
  path?: IngestPath
  /** Only messages of which items were refused or lost for this reason. */
  reason?: string
  /**
   * Unsettled items whose entry was written before this instant (milliseconds since 1970) are lost,
   * others pending; undefined: all of them are pending.
   */
  lost_before_ms: number | undefined
}

/** Items of one path; `accepted` = `stored` + Σ `rejected` + `pending` + Σ `lost`, always. */
export type LedgerSums = {
  path: IngestPath
  requests: number
  accepted: number
  stored: number
  pending: number
  masked: number
  /** Items by reason. */
  rejected: Record<string, number>
  /** Items by reason, with what nobody can account for: `lostReasons`. */
  lost: Record<string, number>
}

/** Reasons that the ledger finds itself: no message has the items, or a settled one left some out. */
export const lostReasons = { unsettled: 'not_settled', unexplained: 'not_explained' } as const
