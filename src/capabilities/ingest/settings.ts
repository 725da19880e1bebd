import type { CostSource } from '../records/pricing/index.ts'
import type { RefreshSettings } from './roll-up/large-rollups.ts'

/** Limits of ingest; `defaultIngestSettings` has the defaults. */
export type IngestSettings = RefreshSettings & {
  /** Maximum queue messages in one batch. */
  batch_messages_max: number
  batch_bytes_max: number
  /** How long a batch that has messages waits for more without load; with load twice as long. */
  batch_wait_ms: number
  /** A message that is not settled by then is redelivered; a batch waits half of it for a store. */
  ack_wait_ms: number
  /** Deliveries of a message, for any reason, before the queue dead-letters it. */
  attempts_max: number
  /** Concurrent batches: while one is stored, another is read. */
  batches_max: number
  /**
   * Failed attempts from which an unclassified failure is bisected, message by message, and the
   * faulty message dead-lettered. Outages of a store do not count as attempts.
   */
  suspect_attempts: number
  /** Maximum bytes of a decompressed queue message. */
  frame_bytes_max: number
  /** Approximate rows of one insert; a message is never split over two inserts. */
  insert_rows_max: number
  /** Approximate bytes of messages for one insert. */
  insert_bytes_max: number
  /** Maximum bytes of a decompressed answer of a provider; a larger one is not read. */
  response_bytes_max: number
  /** Which cost of a call counts when it has a computed and a reported one. */
  cost_source: CostSource
  /** First and longest wait between attempts while a store is unavailable; the wait doubles. */
  retry_delay_ms: number
  retry_delay_ms_max: number
  /** Observations of a task or conversation from which its roll-up is refreshed asynchronously. */
  large_rollup_from: number
}

/**
 * A user sees a call within 2 s, of which 250 ms are for collecting a batch, up to 500 ms under load. Inserts get no cheaper
 * beyond 10,000 rows. Each batch takes a few times its size in memory. The attempts, two or fewer a minute, outlast an outage of days; a faulty
 * message is dead-lettered long before.
 */
export const defaultIngestSettings: IngestSettings = {
  batch_messages_max: 512,
  batch_bytes_max: 16 * 1024 * 1024,
  batch_wait_ms: 250,
  ack_wait_ms: 60_000,
  attempts_max: 10_000,
  batches_max: 2,
  suspect_attempts: 5,
  frame_bytes_max: 64 * 1024 * 1024,
  insert_rows_max: 10_000,
  insert_bytes_max: 32 * 1024 * 1024,
  response_bytes_max: 32 * 1024 * 1024,
  cost_source: 'complete',
  retry_delay_ms: 250,
  retry_delay_ms_max: 5_000,
  large_rollup_from: 2_000,
  refresh_poll_ms: 1_000,
  refresh_lease_ms: 120_000,
  refresh_rest_ms: 2_000,
  refresh_rest_factor: 9,
  refresh_busy_share: 0.25,
}
