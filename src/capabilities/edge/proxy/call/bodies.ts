import type { IncomingMessage } from 'node:http'
import { type Endpoint, formats } from '../formats.ts'

export const noBytes: Buffer = Buffer.alloc(0)

/** The body of a client's request, as received so far. */
export class RequestBody {
  #chunks: Buffer[] = []
  #whole = noBytes
  #bytes = 0
  #isComplete = false

  /** Bytes received, kept or not. */
  get bytes(): number {
    return this.#bytes
  }

  get isComplete(): boolean {
    return this.#isComplete
  }

  /** The complete body; empty before that. */
  get whole(): Buffer {
    return this.#whole
  }

  /** Counts a chunk. Returns the bytes received with it. */
  count(chunk: Buffer): number {
    this.#bytes += chunk.length
    return this.#bytes
  }

  keep(chunk: Buffer): void {
    this.#chunks.push(chunk)
  }

  complete(): void {
    this.#whole = this.received()
    this.#chunks = []
    this.#isComplete = true
  }

  /** Returns false when the body was not read, or is longer than what is recorded. */
  isCaptured(bytes_max: number): boolean {
    return this.#bytes <= bytes_max && (this.#isComplete || this.#bytes > 0)
  }

  /** Returns the bytes kept so far, joined. */
  received(): Buffer {
    if (this.#isComplete) return this.#whole
    const [only] = this.#chunks
    return this.#chunks.length === 1 && only ? only : Buffer.concat(this.#chunks)
  }
}

/** Unread bytes that node:http drains itself, so that the connection can be reused. */
const maxDiscardedByNodeBytes = 64 * 1024

/** Returns false for a small rest of a body: node:http reads and drops it by itself. */
export function hasLargeRest(request: IncomingMessage, content_length: number): boolean {
  if (request.complete) return false
  if (content_length === -1) return request.headers['transfer-encoding'] !== undefined
  return content_length > maxDiscardedByNodeBytes
}

/** A provider's answer, as received so far. The relay fills it; the call reads it at its end. */
export class ProviderAnswer {
  /** 0 until the head comes. */
  status_code = 0
  content_type = ''
  content_encoding = ''
  /** The provider's own X-Request-ID. */
  request_id = ''
  /** True when the proxy, and not the client, asked for usage. */
  isUsageOurs = false
  /** Milliseconds from the start of the call to the first byte of an answer below 300. */
  firstByteMs: number | undefined
  /** The copy that is recorded; undefined until the client gets the head. */
  body: BodyCapture | undefined

  get isStream(): boolean {
    return isEventStream(this.content_type)
  }

  /** Returns whether this chunk, which was just added, has the end of the last event of a stream. */
  endsStreamWith(chunk: Buffer, endpoint: Endpoint): boolean {
    const { last_event } = formats[endpoint]
    if (last_event === undefined || !this.isStream) return false
    return mayEndStream(chunk, last_event) && this.hasStreamEnd(endpoint)
  }

  /** Returns whether the provider's last event has come, which ends a stream of this format. */
  hasStreamEnd(endpoint: Endpoint): boolean {
    const { last_event } = formats[endpoint]
    if (this.body === undefined || last_event === undefined) return false
    return endsStream(this.body.last(streamEndBytes[last_event]), last_event)
  }
}

/** Returns true for the content type of an event stream. */
function isEventStream(content_type: string): boolean {
  return content_type.startsWith('text/event-stream') || /^text\/event-stream/i.test(content_type)
}

/** Bytes kept of the end of an answer that is longer than its kept head. */
const tail_bytes = 64 * 1024

/**
 * Keeps the head of a body and, once that is full, the last 64 KiB, which contain the usage. It
 * keeps references to the chunks; nothing is copied below the bound.
 */
export class BodyCapture {
  /** Bytes received, kept or not. */
  bytes = 0
  readonly #head_bytes_max: number
  #head: Buffer[] = []
  #headBytes = 0
  #tail: TailRing | undefined

  constructor(head_bytes_max: number) {
    this.#head_bytes_max = head_bytes_max
  }

  add(chunk: Buffer): void {
    this.bytes += chunk.length
    const room = this.#head_bytes_max - this.#headBytes
    if (chunk.length <= room) {
      this.#head.push(chunk)
      this.#headBytes += chunk.length
      return
    }
    if (room > 0) {
      this.#head.push(chunk.subarray(0, room))
      this.#headBytes += room
    }
    this.#tail ??= new TailRing()
    this.#tail.add(chunk.subarray(room))
  }

  /** True when bytes between head and tail were dropped. */
  get truncated(): boolean {
    return this.#tail?.dropped ?? false
  }

  /** Returns a copy of the last bytes, at most `bytes_max`. */
  last(bytes_max: number): Buffer {
    const parts = this.#parts()
    const ends: Buffer[] = []
    let missing = bytes_max
    for (let i = parts.length - 1; i >= 0 && missing > 0; i -= 1) {
      const end = parts[i]?.subarray(-missing) ?? Buffer.alloc(0)
      ends.unshift(end)
      missing -= end.length
    }
    return Buffer.concat(ends)
  }

  /** Returns the kept bytes, joined, and empties the capture. */
  take(): Buffer {
    const parts = this.#parts()
    this.#head = []
    this.#tail = undefined
    const [only] = parts
    return parts.length === 1 && only ? only : Buffer.concat(parts)
  }

  #parts(): Buffer[] {
    return this.#tail ? [...this.#head, ...this.#tail.parts()] : this.#head
  }
}

class TailRing {
  dropped = false
  readonly #ring = Buffer.allocUnsafeSlow(tail_bytes)
  #at = 0
  #full = false

  add(chunk: Buffer): void {
    this.dropped ||= this.#full || this.#at + chunk.length > tail_bytes
    const last = chunk.length > tail_bytes ? chunk.subarray(chunk.length - tail_bytes) : chunk
    const first = Math.min(last.length, tail_bytes - this.#at)
    last.copy(this.#ring, this.#at, 0, first)
    last.copy(this.#ring, 0, first)
    this.#full ||= this.#at + last.length >= tail_bytes
    this.#at = (this.#at + last.length) % tail_bytes
  }

  parts(): Buffer[] {
    const recent = this.#ring.subarray(0, this.#at)
    return this.#full ? [this.#ring.subarray(this.#at), recent] : [recent]
  }
}

/** The events that end a stream, by the formats that have one. */
type LastEvent = NonNullable<(typeof formats)[Endpoint]['last_event']>

/**
 * Number of last bytes that `endsStream` needs. The last event of Responses holds the whole answer;
 * a longer one is not recognised.
 */
export const streamEndBytes: Readonly<Record<LastEvent, number>> = {
  done: 32,
  message_stop: 1_024,
  response_end: 1024 * 1024,
}

const lastEvents: Readonly<Record<LastEvent, RegExp>> = {
  done: /(?:^|[\r\n])data: ?\[DONE\]\s*$/,
  message_stop: /(?:^|[\r\n])event: ?message_stop\r?\n[^\r\n]+\r?\n\r?\n\s*$/,
  response_end:
    /(?:^|[\r\n])event: ?response\.(?:completed|incomplete|failed)\r?\n[^\r\n]+\r?\n\r?\n\s*$/,
}

const lineFeed = 0x0a
const closeBracket = 0x5d
/** Texts of the last events; some servers end a stream of Responses with `[DONE]`. */
const lastEventNames: Readonly<Record<LastEvent, Buffer>> = {
  done: Buffer.from('[DONE]'),
  message_stop: Buffer.from('message_stop'),
  response_end: Buffer.from('event: response.'),
}

/**
 * Returns false for nearly all chunks that do not complete the last event, at the cost of a few
 * comparisons.
 */
function mayEndStream(chunk: Buffer, event: LastEvent): boolean {
  let at = chunk.length - 1
  if (chunk[at] !== lineFeed) return false
  let lines = 0
  for (; at >= 0 && (chunk[at] ?? 0) <= 0x20; at -= 1) if (chunk[at] === lineFeed) lines += 1
  if (at < 0) return true
  if (lines < 2) return false
  return chunk[at] === closeBracket || (event !== 'done' && chunk.includes(lastEventNames[event]))
}

/** Returns true when an event stream ends with its last event. `last` is its last bytes. */
export function endsStream(last: Buffer, event: LastEvent): boolean {
  const text = last.toString('latin1')
  if (lastEvents[event].test(text)) return true
  // Other servers end a stream of Responses as one of chat completions.
  return event === 'response_end' && lastEvents.done.test(text)
}
