/** Bounds of the worker's recording; every one has a default in `defaultIngestSettings`. */
export type IngestSettings = {
  /** Queue messages handed over at once, at most. */
  batch_messages_max: number
  batch_bytes_max: number
  /** How long a started batch waits for more messages. */
  batch_wait_ms: number
  /** A message not settled by then is delivered again. */
  ack_wait_ms: number
  /** Deliveries of a message before the queue sets it apart. */
  attempts_max: number
  /** What a compressed queue message may grow to. */
  frame_bytes_max: number
  /** Rows written by one insert, about: a message is never split over two inserts. */
  insert_rows_max: number
  /** Bytes of decoded messages held for one insert, about. */
  insert_bytes_max: number
  /** What a compressed answer of a provider may grow to; the rest is cut off. */
  response_bytes_max: number
  /** Waits between tries while a store is down: doubled from the first to the second figure. */
  retry_delay_ms: number
  retry_delay_ms_max: number
  /** How long a batch is held while a store is down, before it is given back to the queue. */
  outage_hold_ms: number
}

/**
 * 2 s from call to timeline leave 250 ms for collecting; 10,000 rows is where ClickHouse inserts
 * stop getting cheaper; the attempts outlast an outage of about a week (one a minute), because
 * what can't be decoded is set apart at once and needs no attempts.
 */
export const defaultIngestSettings: IngestSettings = {
  batch_messages_max: 512,
  batch_bytes_max: 16 * 1024 * 1024,
  batch_wait_ms: 250,
  ack_wait_ms: 120_000,
  attempts_max: 10_000,
  frame_bytes_max: 64 * 1024 * 1024,
  insert_rows_max: 10_000,
  insert_bytes_max: 32 * 1024 * 1024,
  response_bytes_max: 32 * 1024 * 1024,
  retry_delay_ms: 250,
  retry_delay_ms_max: 10_000,
  outage_hold_ms: 45_000,
}
