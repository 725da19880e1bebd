/**
 * The queue port. Two drivers: SQLite (one machine, and the edge's spool) and JetStream (cluster).
 * Delivery is at least once, in order of arrival within a subject as far as redelivery allows.
 */
export type Queue = {
  /** A message with more data is refused with MessageTooLarge. May change when a server is met. */
  readonly message_bytes_max: number
  /**
   * Resolves once the message is durable (fsync'ed or acknowledged by the stream). `id` names the
   * message: the same id within the dedupe window is stored once, so that a publish that failed
   * may be repeated. `data` is copied or sent before the promise settles and never detached.
   * Rejects with QueueUnavailable or MessageTooLarge.
   */
  publish(message: OutgoingMessage): Promise<void>
  /** Starts pulling. The handler settles each delivery itself; what it leaves is redelivered. */
  consume(options: ConsumeOptions, handler: BatchHandler): Promise<Consumer>
  stats(): Promise<QueueStats>
  /** True when a publish would be taken now. */
  ready(): Promise<boolean>
  /** Those buried first come first. No more than 1,000, whatever the limit. */
  deadLetters(limit: number, filter?: DeadLetterFilter): Promise<DeadLetter[]>
  /** Puts a dead letter back at the end of its subject, its attempts counted anew. False when there is none of that id. */
  replayDeadLetter(id: string, filter?: Pick<DeadLetterFilter, 'project_id'>): Promise<boolean>
  /** Waits for publishes in flight, then releases everything. */
  close(): Promise<void>
}

/** `subject` is `<kind>.<project_id>`, for instance `ingest.0190…`. */
export type OutgoingMessage = { id: string; subject: string; data: Uint8Array }

export type Delivery = {
  readonly id: string
  readonly subject: string
  readonly data: Uint8Array
  /** 1 on the first delivery. */
  readonly attempt: number
  ack(): Promise<void>
  /** Gives the message back, to come again after the delay. */
  retry(delay_ms: number): Promise<void>
  /** Sets the message apart for good, with the reason; it can be replayed. */
  bury(reason: string): Promise<void>
}

export type ConsumeOptions = {
  /** Subject prefix, `ingest` takes `ingest.*`. */
  kind: string
  /** Deliveries handed to one call of the handler, at most. */
  batch_messages_max: number
  batch_bytes_max: number
  /** How long a started batch waits for more. */
  batch_wait_ms: number
  /** A delivery not settled by then comes again. */
  ack_wait_ms: number
  /** After so many deliveries a message is buried instead of delivered. */
  attempts_max: number
  /** First delay after a throw of the handler; it doubles with each attempt. 500 when not given. */
  backoff_ms_min?: number
  /** The longest delay after a throw of the handler. 60,000 when not given. */
  backoff_ms_max?: number
}

/**
 * Handles one batch; a throw gives every unsettled delivery back with back-off, or buries it when
 * it was the last attempt. The signal aborts when `ack_wait_ms` has passed (the deliveries are
 * then somebody else's) and when the queue closes.
 */
export type BatchHandler = (batch: readonly Delivery[], signal: AbortSignal) => Promise<void>

/** `stop` lets the running batch end, then resolves. */
export type Consumer = { stop(): Promise<void> }

export type QueueStats = {
  /** Messages waiting or in flight. */
  pending: number
  pending_bytes: number
  dead: number
  oldest_age_ms: number
}

/** Which dead letters are meant; all, where it says nothing. */
export type DeadLetterFilter = {
  /** Only those of subjects `<kind>.<project_id>`. */
  project_id?: string
  /** Only those that come after this `position`. */
  after?: string
}

export type DeadLetter = {
  id: string
  subject: string
  reason: string
  attempts: number
  buried_at: string
  bytes: number
  /** Its place among the dead letters, to go on from; it means nothing to anybody else. */
  position: string
}

/** Why a queue can't be used: no connection or a broken file, no room, too much at once, closed. */
export type UnavailableReason = 'away' | 'full' | 'busy' | 'closed'

/** The queue can't take or give messages now. The same call may work later, unless closed. */
export class QueueUnavailable extends Error {
  override readonly name = 'QueueUnavailable'
  readonly reason: UnavailableReason

  constructor(message: string, about: { reason?: UnavailableReason; cause?: unknown } = {}) {
    super(message, { cause: about.cause })
    this.reason = about.reason ?? 'away'
  }
}

/** The message is over `message_bytes_max`: to publish it again is of no use. */
export class MessageTooLarge extends Error {
  override readonly name = 'MessageTooLarge'
}
