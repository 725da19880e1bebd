import type { RefreshSettings } from './roll-up/large-rollups.ts'

/** Bounds of the worker's recording; every one has a default in `defaultIngestSettings`. */
export type IngestSettings = RefreshSettings & {
  /** Queue messages handed over at once, at most. */
  batch_messages_max: number
  batch_bytes_max: number
  /** How long a started batch waits for more messages. */
  batch_wait_ms: number
  /** A message not settled by then is delivered again; half of it a batch waits for a store. */
  ack_wait_ms: number
  /** Deliveries of a message, for whatever reason, before the queue sets it apart. */
  attempts_max: number
  /** Batches under way at once: while one is stored, another is read. */
  batches_max: number
  /**
   * From this try on, a failure that nobody can name is looked for message by message, and the one
   * at fault is set apart. An outage of a store is no try.
   */
  suspect_attempts: number
  /** What a compressed queue message may grow to. */
  frame_bytes_max: number
  /** Rows written by one insert, about: a message is never split over two inserts. */
  insert_rows_max: number
  /** Bytes of messages held for one insert, about. */
  insert_bytes_max: number
  /** What a compressed answer of a provider may grow to; one that is larger is not read. */
  response_bytes_max: number
  /** Waits between tries while a store is down: doubled from the first to the second figure. */
  retry_delay_ms: number
  retry_delay_ms_max: number
  /** Observations of a task or conversation from which on its roll-up is refreshed by and by. */
  large_rollup_from: number
}

/**
 * A user sees a call within 2 s, of which 250 ms go to collecting. 10,000 rows is where inserts
 * stop getting cheaper. The attempts outlast an outage of days (two or fewer a minute), because
 * what is at fault by itself is set apart long before.
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
  retry_delay_ms: 250,
  retry_delay_ms_max: 5_000,
  large_rollup_from: 2_000,
  refresh_poll_ms: 1_000,
  refresh_lease_ms: 120_000,
  refresh_rest_ms: 2_000,
  refresh_rest_factor: 9,
}
