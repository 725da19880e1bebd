import type { IngestPath, IngestRecords } from '../../../model/ingest-records.ts'
import type { RowKind } from '../../../model/row-frame.ts'

/** One request of a client, decoded, mapped, sampled and masked. */
export type IngestRequest = {
  project_id: string
  path: IngestPath
  /** UUID; the client gets it as X-Ingest-Request-ID. */
  ingest_request_id: string
  received_at_ms: number
  /** Items that the client sent: spans and log records of OTLP, records of a batch, calls. */
  items: number
  /** Rejected items by reason; they are included in `items`. */
  rejected: Readonly<Record<string, number>>
  /** Items with content that was masked or left out on purpose. */
  masked: number
  records: IngestRecords
  /**
   * True when each record is an item, as in canonical batches. Otherwise each observation is one
   * item, and records that came with it (events, links, correlations of a span) are not.
   */
  every_record_is_an_item?: boolean
}

export type EnqueueOptions = {
  /**
   * The request shares no message with others, and message ids derive from its id, so that a
   * repeated request produces the same messages. Canonical batches need it.
   */
  alone?: boolean
  /**
   * Called, before the promise settles, for each record that no message can carry; `index` is its
   * index among those of its kind. The ledger counts such an item as rejected, with the same
   * reason.
   */
  on_refused?: (kind: RowKind, index: number, reason: RecordRefusal) => void
}

/**
 * Why a record is rejected: it does not fit into a message even compressed and without its content,
 * or a value does not fit its column (an id that is not a UUID, a count below 0).
 */
export type RecordRefusal = 'too_large' | 'not_encodable'

/** Encodes records at an edge and publishes them to the queue. */
export type Enqueuer = {
  /**
   * Resolves with the number of messages once every record is durable in the queue or the spool.
   * Rejects with problem('overloaded') and `retry_after_s` when neither accepts it or too much is
   * in flight. A part may be durable then; records that are sent again replace themselves.
   */
  enqueue(request: IngestRequest, options?: EnqueueOptions): Promise<number>
  /** Publishes the open frames; resolves when nothing is in flight. */
  flush(): Promise<void>
  /** Flushes, and refuses later requests. */
  close(): Promise<void>
}
