import { createInbox, headers, type Msg, type NatsConnection } from '@nats-io/transport-node'
import { Semaphore } from '../../../kernel/semaphore.ts'
import { MessageTooLarge, QueueUnavailable } from '../contract.ts'

/** A message for a stream. `dedupe_id` identifies it within the deduplication window. */
export type StreamMessage = {
  subject: string
  data: Uint8Array
  dedupe_id: string
  headers?: Readonly<Record<string, string>>
}

type Waiting = {
  resolve: () => void
  reject: (error: Error) => void
  deadline_ms: number
}

const maximumBytesExceeded = 10_077
const messageSizeExceeded = 10_054
const noResponders = 503

/**
 * Publishes with a window of acknowledgements: up to `window` messages are in flight, and each
 * promise waits for its own acknowledgement. One subscription and one timer serve all messages,
 * which costs the event loop less than one request of the client library per message.
 */
export class JetStreamPublisher {
  readonly #ack_timeout_ms: number
  readonly #streamMissing: () => void
  readonly #unanswered: () => void
  readonly #waiting = new Map<string, Waiting>()
  readonly #slots: Semaphore
  #nc: NatsConnection | undefined
  #inbox = ''
  #last = 0
  #timer: NodeJS.Timeout | undefined

  constructor(options: {
    window: number
    ack_timeout_ms: number
    /** Called when the server has no stream for a message. */
    streamMissing: () => void
    /** Called when a message was not acknowledged in time. */
    unanswered: () => void
  }) {
    this.#slots = new Semaphore({ permits_max: options.window })
    this.#ack_timeout_ms = options.ack_timeout_ms
    this.#streamMissing = options.streamMissing
    this.#unanswered = options.unanswered
  }

  /** Subscribes to acknowledgements, once per connection. */
  listen(nc: NatsConnection): void {
    if (this.#nc === nc) return
    this.#nc = nc
    this.#inbox = createInbox()
    nc.subscribe(`${this.#inbox}.*`, {
      callback: (_error, msg) => this.#acknowledged(msg),
    })
  }

  /** Resolves once the stream has the message. Rejects with QueueUnavailable or MessageTooLarge. */
  publish(up: () => NatsConnection, message: StreamMessage): Promise<void> {
    // `up` is called once a slot is free: the connection may have changed during the wait.
    return this.#slots.run(() => this.#send(up(), message))
  }

  /**
   * Rejects all messages in flight after the end of the connection. They may be published again.
   */
  rejectAll(error: QueueUnavailable): void {
    for (const waiting of this.#waiting.values()) waiting.reject(error)
    this.#waiting.clear()
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #send(nc: NatsConnection, message: StreamMessage): Promise<void> {
    const messageHeaders = headers()
    messageHeaders.set('Nats-Msg-Id', message.dedupe_id)
    for (const [name, value] of Object.entries(message.headers ?? {}))
      messageHeaders.set(name, value)
    this.#last += 1
    const token = this.#last.toString(36)
    const reply = `${this.#inbox}.${token}`
    return new Promise((resolve, reject) => {
      try {
        nc.publish(message.subject, message.data, { headers: messageHeaders, reply })
      } catch (cause) {
        return reject(new QueueUnavailable('NATS did not accept the message', { cause }))
      }
      const deadline_ms = performance.now() + this.#ack_timeout_ms
      this.#waiting.set(token, { resolve, reject, deadline_ms })
      this.#timer ??= setTimeout(() => this.#sweep(), this.#ack_timeout_ms)
    })
  }

  #acknowledged(msg: Msg): void {
    const token = msg.subject.slice(this.#inbox.length + 1)
    const waiting = this.#waiting.get(token)
    if (waiting === undefined) return
    this.#waiting.delete(token)
    if (msg.headers?.code === noResponders) this.#streamMissing()
    const error = parseFailure(msg)
    if (error === undefined) waiting.resolve()
    else waiting.reject(error)
  }

  /**
   * Rejects messages after their timeout. All have the same one, so the map is in order of expiry.
   */
  #sweep(): void {
    this.#timer = undefined
    const now_ms = performance.now()
    let expired = 0
    for (const [token, waiting] of this.#waiting) {
      if (waiting.deadline_ms > now_ms) {
        this.#timer = setTimeout(() => this.#sweep(), waiting.deadline_ms - now_ms)
        break
      }
      expired += 1
      this.#waiting.delete(token)
      waiting.reject(
        new QueueUnavailable(`JetStream did not acknowledge within ${this.#ack_timeout_ms} ms`),
      )
    }
    if (expired > 0) this.#unanswered()
  }
}

type PubAck = { seq?: number; error?: { err_code?: number; description?: string } }

function parseFailure(msg: Msg): Error | undefined {
  if (msg.headers?.code === noResponders) return new QueueUnavailable('the stream does not exist')
  const { seq, error } = parsePubAck(msg)
  if (error === undefined && seq !== undefined) return undefined
  const description = error?.description ?? 'an unreadable acknowledgement'
  if (error?.err_code === messageSizeExceeded) return new MessageTooLarge(description)
  const reason = error?.err_code === maximumBytesExceeded ? 'full' : 'away'
  return new QueueUnavailable(`JetStream rejected the message: ${description}`, { reason })
}

function parsePubAck(msg: Msg): PubAck {
  try {
    return msg.json<PubAck>()
  } catch {
    return {}
  }
}
