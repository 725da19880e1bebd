import type { IngestPath, IngestRecords } from '../../../model/ingest-records.ts'
import type { RowKind } from '../../../model/row-frame.ts'

/** What one request of a client brings, once it is decoded, mapped, sampled and masked. */
export type IngestRequest = {
  project_id: string
  path: IngestPath
  /** UUID; the client gets it as X-Ingest-Request-ID. */
  ingest_request_id: string
  received_at_ms: number
  /** Items that the client sent: spans and log records of OTLP, records of a batch, calls. */
  items: number
  /** Items that were refused, by reason; a part of `items`. */
  rejected: Readonly<Record<string, number>>
  /** Items of which content was masked or left out on purpose. */
  masked: number
  records: IngestRecords
  /**
   * How many of the items each record of `observations` stands for is 1; records that came with
   * another item (a span's events, links and correlations) count for none. A canonical batch sets
   * this: each of its records is an item.
   */
  every_record_is_an_item?: boolean
}

export type EnqueueOptions = {
  /**
   * The request shares no message with others, and message ids derive from its id, so that the same
   * request handed over again is the same messages. Canonical batches need it.
   */
  alone?: boolean
  /**
   * Told, before the promise settles, of each record that no message takes although the others
   * are taken; `index` is its place among those of its kind. Those that are items count as
   * refused in the ledger, under the same reason.
   */
  on_refused?: (kind: RowKind, index: number, reason: RecordRefusal) => void
}

/**
 * Why a record is not taken: it does not fit into a message even compressed and without its
 * content, or a value does not fit its column (an id that is no UUID, a count below 0).
 */
export type RecordRefusal = 'too_large' | 'not_encodable'

/** The way of records from an edge into the queue. */
export type Enqueuer = {
  /**
   * Resolves once every record is durable in the queue or in the spool; rejects with
   * problem('overloaded') and `retry_after_s` when neither takes it or too much is in flight (then
   * a part may be durable: the same records sent again replace themselves).
   * Resolves with the number of messages that carry the records.
   */
  enqueue(request: IngestRequest, options?: EnqueueOptions): Promise<number>
  /** Publishes what is open; resolves when nothing is in flight. */
  flush(): Promise<void>
  /** Flushes and refuses what comes later. */
  close(): Promise<void>
}
