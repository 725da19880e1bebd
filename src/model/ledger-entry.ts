import type { IngestPath, RecordCounts } from './ingest-records.ts'

/**
 * One line of the ledger: what became of a request's items in one queue message. The edge writes
 * the `accepted` side when the message is durable, the worker the `settled` side when its records
 * are stored or refused; either is enough to know that the items were accepted. Items are what the
 * client sent: spans and log records of OTLP, records of a canonical batch, calls of the proxy.
 * Written again under the same (project, request, message, side) it replaces itself.
 */
export type LedgerEntry = {
  project_id: string
  ingest_request_id: string
  /** Empty for items that no message took, because the edge refused or lost them. */
  message_id: string
  side: 'accepted' | 'settled'
  path: IngestPath
  /** When the request came in, in milliseconds since 1970. */
  received_at_ms: number
  items: number
  /** Of the items; 0 on the accepted side. */
  stored: number
  /** Items that were refused, by reason, e.g. `invalid_trace_id`, `sampled`, `refused_by_store`. */
  rejected: Readonly<Record<string, number>>
  /** Items known to be lost, by reason, e.g. `spool_full`. */
  lost: Readonly<Record<string, number>>
  /** Items of which content was masked or left out on purpose. */
  masked: number
  /** Records that were stored; a span's events and links count here and not as items. */
  records: RecordCounts
  /** Deliveries that it took; 0 on the accepted side. */
  attempts: number
  settled_at_ms: number
  /** Why items were refused, for people; empty when none was. */
  error_reason: string
}
