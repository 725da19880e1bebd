import { Readable } from 'node:stream'
import type { EventRing } from './event-ring.ts'
import { selectChanges, type Topics, topicNames } from './topics.ts'

/** Bytes that wait for a slow reader. Above it, events wait in the ring of the project. */
const waiting_bytes_max = 16 * 1024

const retry_ms_min = 2_000
const retry_ms_max = 5_000
/** All streams of a process end at once when it stops. */
const maxRetryAfterStopMs = 10_000

/** Why a stream ends, as the client reads it. */
export type Bye = {
  /** `shutdown`, or the code of the error that a new request would get. */
  reason: string
  /** Whether the client may connect again with the same credentials. */
  reconnect: boolean
}

export type EventStreamOptions = {
  ring: EventRing
  topics: Topics
  /** The id that the client saw last. */
  last_event_id: string | undefined
  onEvent: (event: 'change' | 'reset') => void
  onClosed: () => void
}

/**
 * The events of one client. It keeps no events, only a position in the ring of its project, and reads
 * on when the client takes more: a client that is too slow misses events and gets `reset`.
 */
export class EventStream extends Readable {
  readonly #options: EventStreamOptions
  #position: number
  #isMissing: boolean
  #isOpen = false
  #wantsMore = false
  #isEnded = false
  #reads = 0

  constructor(options: EventStreamOptions) {
    super({ highWaterMark: waiting_bytes_max })
    this.#options = options
    const { ring, last_event_id } = options
    const known = last_event_id === undefined ? ring.last : ring.positionOf(last_event_id)
    this.#position = known ?? ring.last
    this.#isMissing = known === undefined
  }

  /** Number of times that the stream asked for more text. */
  get reads(): number {
    return this.#reads
  }

  /** Whether text waits that the client has not taken. */
  get isBlocked(): boolean {
    return this.#isOpen && !this.#wantsMore
  }

  /** Begins the stream, with the event `ready`. */
  begin(): void {
    if (this.#isEnded || this.#isOpen) return
    this.#isOpen = true
    const data = { topics: topicNames(this.#options.topics) }
    const retry_ms = randomDelay(retry_ms_min, retry_ms_max)
    this.#send(eventText({ event: 'ready', data, id: this.#id, retry_ms }))
    this.wake()
  }

  /** Sends events that were added to the ring, as far as the client takes them. */
  wake(): void {
    while (this.#isOpen && this.#wantsMore && !this.#isEnded) {
      const text = this.#next()
      if (text === undefined) return
      this.#send(text)
    }
  }

  /** Sends a comment if the client has taken everything. */
  keepAlive(): void {
    if (this.#isOpen && this.#wantsMore && !this.#isEnded) this.#send(keepAliveText(this.#id))
  }

  /** Ends the stream with the event `bye`. */
  sayBye(bye: Bye): void {
    if (this.#isEnded || this.destroyed) return
    this.#isEnded = true
    const retry_ms = randomDelay(retry_ms_min / 2, maxRetryAfterStopMs)
    const { reconnect } = bye
    this.push(eventText({ event: 'bye', data: bye, ...(reconnect && { retry_ms }) }))
    this.push(null)
  }

  override _read(): void {
    this.#wantsMore = true
    this.#reads += 1
    this.wake()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#isEnded = true
    this.#options.onClosed()
    done(error)
  }

  get #id(): string {
    return this.#options.ring.idAt(this.#position)
  }

  #send(text: string): void {
    this.#wantsMore = this.push(text)
  }

  /** Returns the next event for the client; undefined after the newest one. */
  #next(): string | undefined {
    const { ring, topics, onEvent } = this.#options
    if (this.#isMissing) return this.#reset()
    for (;;) {
      const event = ring.next(this.#position)
      if (event === undefined) return undefined
      if (event === 'missed') return this.#reset()
      this.#position = event.position
      const shown = selectChanges(topics, event)
      if (shown === undefined) continue
      onEvent('change')
      return eventText({ event: 'change', id: this.#id, data: { kind: event.kind, ...shown } })
    }
  }

  #reset(): string {
    const { ring, onEvent } = this.#options
    this.#isMissing = false
    this.#position = ring.last
    onEvent('reset')
    return eventText({ event: 'reset', id: this.#id, data: { reason: 'events_missed' } })
  }
}

/** An event as it is sent. */
type SentEvent = {
  event: string
  data: object
  /** Id for `Last-Event-ID`. */
  id?: string
  /** Delay before the client connects again, in ms. */
  retry_ms?: number
}

/**
 * Formats an event (https://html.spec.whatwg.org/multipage/server-sent-events.html). JSON has no line
 * break, so the data is one line.
 */
function eventText({ event, data, id, retry_ms }: SentEvent): string {
  const retry = retry_ms === undefined ? '' : `retry: ${retry_ms}\n`
  const named = id === undefined ? '' : `id: ${id}\n`
  return `${retry}${named}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}

/** Formats a comment that keeps the connection open. The client notes the id, and sees no event. */
function keepAliveText(id: string): string {
  return `: keep-alive\nid: ${id}\n\n`
}

/** Returns a delay in ms between two bounds, so that many clients do not connect again at once. */
function randomDelay(min_ms: number, max_ms: number, random = Math.random): number {
  return Math.round(min_ms + (max_ms - min_ms) * random())
}
