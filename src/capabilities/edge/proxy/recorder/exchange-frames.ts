import { promisify } from 'node:util'
import { zstdCompress } from 'node:zlib'
import type { Exchange, ExchangeFacts } from '../../../../model/exchange.ts'
import {
  compressedFrameOf,
  exchangeOverheadBytes,
  exchangeParts,
  frameHeaderBytes,
  frameOf,
  startFrame,
  writeExchange,
} from '../../../../model/exchange-frame.ts'
import type { LedgerEntry } from '../../../../model/ledger-entry.ts'
import type { Journal, JournalEntry } from '../../../../platform/journal/index.ts'
import {
  FramePool,
  type OutgoingMessage,
  publishWithRetries,
  type RetryLimits,
} from '../../../../platform/queue/index.ts'
import type { QuietLog } from '../../../../platform/telemetry/index.ts'
import { acceptedEntry, type LedgerRequest, lostEntry } from '../../../ledger/index.ts'
import type { LossReason, RecordLedger } from './record-ledger.ts'

/** An exchange with its facts as JSON text, and the bytes it takes in a frame. */
export type PackedExchange = Omit<Exchange, 'facts'> & { facts: string; bytes: number }

/** Serializes an exchange's facts and counts its bytes in a frame. */
export function packExchange({ facts, request, response }: Exchange): PackedExchange {
  const text = JSON.stringify(facts)
  const bytes = exchangeOverheadBytes + Buffer.byteLength(text) + request.length + response.length
  return { facts: text, request, response, bytes }
}

/** A frame being filled, in a buffer of the pool. */
export class OpenFrame {
  readonly project_id: string
  /** The calls in the frame, as the ledger identifies them. */
  readonly calls: LedgerRequest[] = []
  /** The message in the journal; its id is that of the message in the queue. */
  readonly entry: JournalEntry
  readonly #buffer: Buffer
  #end: number
  /** Bytes that were given to the journal. */
  #journaled = 0

  constructor(project_id: string, buffer: Buffer, entry: JournalEntry) {
    this.project_id = project_id
    this.entry = entry
    this.#buffer = buffer
    this.#end = startFrame(buffer)
  }

  /** Bytes of the exchanges, without the frame's own header. */
  get held_bytes(): number {
    return this.#end - frameHeaderBytes
  }

  hasRoomFor(bytes: number, frame_bytes_max: number): boolean {
    return this.#end + bytes <= frame_bytes_max
  }

  /** Copies an exchange into the frame, which must have room for it. */
  append(exchange: PackedExchange, call: LedgerRequest): void {
    this.#end = writeExchange(this.#buffer, this.#end, exchange)
    this.calls.push(call)
  }

  /** Gives the journal what was appended since the last time. */
  writeTo(journal: Journal, data = this.#buffer): void {
    if (this.#journaled === this.#end) return
    journal.add(this.entry, [data.subarray(this.#journaled, this.#end)])
    this.#journaled = this.#end
  }

  /**
   * Returns the data to publish, and the buffer to return to the pool afterwards. A mostly empty
   * frame is copied and its buffer returned at once, so that small waiting frames hold no large
   * buffers.
   */
  seal(pool: FramePool): { data: Buffer; buffer: Buffer | undefined } {
    const data = this.#buffer.subarray(0, this.#end)
    if (data.length * 2 > this.#buffer.length) return { data, buffer: this.#buffer }
    const copy = Buffer.from(data)
    pool.give(this.#buffer)
    return { data: copy, buffer: undefined }
  }
}

/** How frames are published. */
export type PublishOptions = {
  /**
   * Resolves once the message is durable; its `data` is then reused for the next frame. A rejected
   * publish is repeated with the same id.
   */
  publish(message: OutgoingMessage): Promise<void>
  newId: () => string
  /** Size at which a frame is published. */
  frame_bytes: number
  /** Largest message that the queue accepts. It may change, so it is read for each message. */
  readonly message_bytes_max: number
  /** Attempts of a publish, and the first delay between them; the delay doubles. */
  retry?: RetryLimits
  /** Where messages are kept until they are in the queue; see `absentJournal`. */
  journal: Journal
  /** Receives the ledger entries of durable, refused and lost records; must not throw. */
  onAccepted?(entries: readonly LedgerEntry[]): void
}

export const defaultRetry: RetryLimits = { attempts_max: 5, delay_ms: 100 }

/** Calls whose records are on their way to the queue, in one message. */
type PendingCalls = {
  entry: JournalEntry
  calls: readonly LedgerRequest[]
  held_bytes: number
  /**
   * Returned to the pool once published. After a failure it is not, because a publish that timed
   * out may still read it.
   */
  buffer: Buffer | undefined
}

/** Publishes frames of exchanges, and accounts for what was published or lost. */
export class ExchangePublisher {
  readonly pool: FramePool
  readonly #options: PublishOptions
  readonly #ledger: RecordLedger
  readonly #log: QuietLog

  constructor(options: PublishOptions, ledger: RecordLedger, log: QuietLog) {
    this.pool = new FramePool(options.frame_bytes)
    this.#options = options
    this.#ledger = ledger
    this.#log = log
  }

  /** Publishes the frame; nothing may be appended to it afterwards. Never rejects. */
  publish(frame: OpenFrame): Promise<void> {
    const { entry, calls, held_bytes } = frame
    const { data, buffer } = frame.seal(this.pool)
    frame.writeTo(this.#options.journal, data)
    return this.#publish(data, { entry, calls, held_bytes, buffer })
  }

  /** Begins a message of a project. */
  begin(project_id: string): JournalEntry {
    const { journal, newId } = this.#options
    return journal.begin(newId(), `ingest.${project_id}`)
  }

  /** Publishes an exchange larger than a frame in a compressed message of its own. */
  async publishAlone(exchange: Exchange, held_bytes: number): Promise<void> {
    const { journal } = this.#options
    const entry = this.begin(exchange.facts.project_id)
    const calls = [toLedgerRequest(exchange.facts)]
    const pending = { entry, calls, held_bytes, buffer: undefined }
    if (journal.isKept) journal.add(entry, [frameStart, ...exchangeParts(exchange)])
    try {
      const frame = await compressToFit(exchange, this.#options.message_bytes_max)
      if (frame) await this.#publish(frame, pending)
      else this.#drop(pending, 'too_large')
    } catch (error) {
      this.#drop(pending, 'not_compressed', error)
    }
  }

  /** Accounts for records that never reach the queue. */
  lose(reason: LossReason, calls: readonly LedgerRequest[], cause?: unknown): void {
    this.#ledger.lost(calls.length, reason)
    this.#options.onAccepted?.(calls.map((call) => lostEntry(call, { [reason]: 1 })))
    this.#log('records of calls were lost', { reason, records: calls.length, err: cause })
  }

  async #publish(data: Buffer, pending: PendingCalls): Promise<void> {
    const { id, subject } = pending.entry
    const message = { id, subject, data }
    const { publish, journal, retry = defaultRetry } = this.#options
    const failure = await publishWithRetries(publish, message, retry)
    if (failure) {
      this.#drop(pending, 'not_published', failure)
      return
    }
    const { calls, held_bytes, buffer } = pending
    journal.settle(pending.entry)
    this.#ledger.release(held_bytes)
    this.#ledger.published(calls.length)
    this.#options.onAccepted?.(calls.map((call) => acceptedEntry(call, message.id, 1)))
    if (buffer) this.pool.give(buffer)
  }

  #drop(pending: PendingCalls, reason: LossReason, cause?: unknown): void {
    const { entry, calls, held_bytes } = pending
    this.#options.journal.settle(entry)
    this.#ledger.release(held_bytes)
    this.lose(reason, calls, cause)
  }
}

/** Identifies a call for the ledger. Its arrival is its start, cut to milliseconds. */
export function toLedgerRequest({
  project_id,
  ingest_request_id = '',
  start_time,
}: ExchangeFacts): LedgerRequest {
  const received_at_ms = Number(start_time.slice(0, -6))
  return { project_id, ingest_request_id, path: 'proxy', received_at_ms }
}

const frameStart = frameOf([])
const compress = promisify(zstdCompress)

/**
 * Compresses a large exchange off the event loop, to at most `frame_bytes_max`. Drops the request
 * if it does not fit, then also the answer. Returns undefined when the facts alone do not fit.
 */
export async function compressToFit(
  exchange: Exchange,
  frame_bytes_max: number,
): Promise<Buffer | undefined> {
  const none = Buffer.alloc(0)
  const facts = { ...exchange.facts, content_state: 'dropped' as const }
  const attempts: Exchange[] = [
    exchange,
    { ...exchange, facts, request: none },
    { facts, request: none, response: none },
  ]
  for (const attempt of attempts) {
    const frame = compressedFrameOf(await compress(Buffer.concat(exchangeParts(attempt))))
    if (frame.length <= frame_bytes_max) return frame
  }
  return undefined
}
