import type { IngestPath, RecordCounts } from './ingest-records.ts'

/**
 * One entry of the completeness ledger: the outcome of a request's items in one queue message. The
 * edge writes the `accepted` side when the message is durable. The worker writes the `settled` side
 * when the records are stored or rejected. Either side proves that the items were accepted. Items
 * are spans and log records of OTLP, records of a canonical batch, or calls of the proxy. A second
 * entry with the same project, request, message and side replaces the first.
 */
export type LedgerEntry = {
  project_id: string
  ingest_request_id: string
  /** Empty for items that the edge rejected or lost before they were in a message. */
  message_id: string
  side: 'accepted' | 'settled'
  path: IngestPath
  /** Arrival of the request, in milliseconds since 1970. */
  received_at_ms: number
  items: number
  /** Stored items; 0 on the accepted side. */
  stored: number
  /** Rejected items by reason, such as `invalid_trace_id`, `sampled`, `refused_by_store`. */
  rejected: Readonly<Record<string, number>>
  /** Lost items by reason, such as `spool_full`. */
  lost: Readonly<Record<string, number>>
  /** Items with masked or omitted content, by policy. */
  masked: number
  /** Stored records. Events and links of a span count here, but not as items. */
  records: RecordCounts
  /** Deliveries of the message; 0 on the accepted side. */
  attempts: number
  settled_at_ms: number
  /** Why items were rejected, for people. Empty when no item was rejected. */
  error_reason: string
}
