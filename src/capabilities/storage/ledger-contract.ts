import type { IngestPath } from '../../model/ingest-records.ts'
import type { LedgerEntry } from '../../model/ledger-entry.ts'

/**
 * The port to the completeness ledger. Of the entries of one request and message, a settled one
 * wins over an accepted one, and a newer over an older. So entries written twice are never counted
 * twice. No call reads another project. Rejects with problem('store_unavailable') when the store is
 * unavailable.
 */
export type LedgerStore = {
  /** Appends entries of any projects. Safe to repeat, in whole or in part. */
  insertEntries(entries: readonly LedgerEntry[], options: { token: string }): Promise<void>
  /** Returns the sums of each path with requests in the window, in no order. */
  sums(projectId: string, query: LedgerQuery): Promise<LedgerSums[]>
  /**
   * Sums up past hours whose items are all settled, so that `sums` does not read their entries.
   * Sums an hour again after a late entry. Returns the number of hours, at most `hours_max`. Safe
   * to repeat and to run concurrently.
   */
  closeHours(limits: { hours_max: number }): Promise<number>
  /** Drops months whose entries all arrived before the instant, with their sums. */
  dropMonthsBefore(instant_ms: number): Promise<void>
  /**
   * Returns the entries of one request: one for each message, and one for items without a message.
   * `side` is the state of an entry. Empty for an unknown request.
   */
  receipt(projectId: string, ingestRequestId: string): Promise<LedgerEntry[]>
}

export type LedgerQuery = {
  /**
   * Window of the requests' arrival, in milliseconds since 1970: `from` inclusive, `to` exclusive.
   */
  from_ms: number
  to_ms: number
  path?: IngestPath
  /** Selects only messages with items rejected or lost for this reason. */
  reason?: string
  /**
   * Unsettled items count as lost if their entry is older than this instant (milliseconds since
   * 1970), else as pending. Undefined: all are pending.
   */
  lost_before_ms: number | undefined
}

/** Items of one path. Always `accepted` = `stored` + Σ `rejected` + `pending` + Σ `lost`. */
export type LedgerSums = {
  path: IngestPath
  requests: number
  accepted: number
  stored: number
  pending: number
  masked: number
  /** Items by reason. */
  rejected: Record<string, number>
  /** Items by reason, including unaccounted items: `lostReasons`. */
  lost: Record<string, number>
}

/**
 * Reasons that the ledger assigns: a message was never settled, or its settlement omitted items.
 */
export const lostReasons = { unsettled: 'not_settled', unexplained: 'not_explained' } as const
