/**
 * The queue port, with two drivers: SQLite (one machine, and the edge's spool) and JetStream
 * (cluster). Delivery is at least once, in order of arrival within a subject except for
 * redeliveries.
 */
export type Queue = {
  /** Maximum size of a message's data. May change with the first connection to a server. */
  readonly message_bytes_max: number
  /**
   * Resolves once the message is durable (synced to disk, or acknowledged by the stream). The same
   * `id` within the deduplication window is stored once, so a failed publish may be repeated.
   * `data` is copied or sent before the promise settles, and never detached. Rejects with
   * QueueUnavailable or MessageTooLarge.
   */
  publish(message: OutgoingMessage): Promise<void>
  /** Starts a consumer. The handler settles each delivery; an unsettled one is redelivered. */
  consume(options: ConsumeOptions, handler: BatchHandler): Promise<Consumer>
  stats(): Promise<QueueStats>
  /**
   * Returns the age of the oldest message of a subject that waits or is in flight, in ms; 0 without
   * one. Other subjects do not change it.
   */
  oldestAgeMs(subject: string): Promise<number>
  /** Resolves with whether a publish would succeed now. */
  ready(): Promise<boolean>
  /**
   * Lists dead letters, oldest first, at most 1,000 per call. Rejects with TypeError for an invalid
   * project.
   */
  deadLetters(limit: number, filter?: DeadLetterFilter): Promise<DeadLetter[]>
  /**
   * Puts a dead letter back at the end of its subject and resets its attempts. Resolves to false
   * when no dead letter has the id. Rejects with TypeError for an invalid project.
   */
  replayDeadLetter(id: string, filter?: Pick<DeadLetterFilter, 'project_id'>): Promise<boolean>
  /** Waits for publishes in progress, then closes the queue. */
  close(): Promise<void>
}

/** A message to publish. `subject` is `<kind>.<project_id>`, for example `ingest.0190…`. */
export type OutgoingMessage = { id: string; subject: string; data: Uint8Array }

export type Delivery = {
  readonly id: string
  readonly subject: string
  readonly data: Uint8Array
  /** 1 on the first delivery. */
  readonly attempt: number
  ack(): Promise<void>
  /** Returns the message for redelivery after the delay. */
  retry(delay_ms: number): Promise<void>
  /** Dead-letters the message with the reason. It can be replayed later. */
  bury(reason: string): Promise<void>
}

export type ConsumeOptions = {
  /** Kind of subjects: `ingest` consumes `ingest.*`. */
  kind: string
  /** Maximum deliveries per call of the handler. */
  batch_messages_max: number
  batch_bytes_max: number
  /** Wait of a started batch for more messages; a function is asked for each batch. */
  batch_wait_ms: number | (() => number)
  /** Time after which an unsettled delivery is redelivered. */
  ack_wait_ms: number
  /** Maximum deliveries. Then the message is dead-lettered. */
  attempts_max: number
  /** First delay after an error of the handler. Doubles with each attempt. 500 by default. */
  backoff_ms_min?: number
  /** Maximum delay after an error of the handler. 60,000 by default. */
  backoff_ms_max?: number
}

/**
 * Handles one batch. After an error, every unsettled delivery is redelivered with back-off, or
 * dead-lettered if it was the last attempt. The signal aborts when `ack_wait_ms` has passed
 * (another consumer may then get the deliveries) and when the queue closes.
 */
export type BatchHandler = (batch: readonly Delivery[], signal: AbortSignal) => Promise<void>

/** A running consumer. `stop` waits for the running batch. */
export type Consumer = { stop(): Promise<void> }

export type QueueStats = {
  /** Messages that wait or are in flight. */
  pending: number
  pending_bytes: number
  dead: number
  oldest_age_ms: number
}

/** A filter of dead letters. Empty: all. */
export type DeadLetterFilter = {
  /** Only dead letters of this project. */
  project_id?: string
  /** Only dead letters after this `position`. */
  after?: string
}

export type DeadLetter = {
  id: string
  subject: string
  reason: string
  attempts: number
  buried_at: string
  bytes: number
  /** Opaque position in the list, for `after`. */
  position: string
}

/** Why a queue is unavailable: no connection or a broken file, no space, too much load, closed. */
export type UnavailableReason = 'away' | 'full' | 'busy' | 'closed'

/** The queue is temporarily unavailable, or closed. Unless closed, the call may be retried. */
export class QueueUnavailable extends Error {
  override readonly name = 'QueueUnavailable'
  readonly reason: UnavailableReason

  constructor(message: string, details: { reason?: UnavailableReason; cause?: unknown } = {}) {
    super(message, { cause: details.cause })
    this.reason = details.reason ?? 'away'
  }
}

/** The message exceeds `message_bytes_max`. Do not publish it again. */
export class MessageTooLarge extends Error {
  override readonly name = 'MessageTooLarge'
}
