import type { Clock } from '../../../../kernel/time.ts'
import type { Exchange, ExchangeFacts } from '../../../../model/exchange.ts'
import { frameHeader_bytes } from '../../../../model/exchange-frame.ts'
import type { LedgerEntry } from '../../../../model/ledger-entry.ts'
import {
  FramePool,
  type OutgoingMessage,
  publishWithRetries,
  type RetryLimits,
} from '../../../../platform/queue/index.ts'
import {
  createQuietLog,
  type Logger,
  type Metrics,
  type QuietLog,
} from '../../../../platform/telemetry/index.ts'
import {
  acceptedEntry,
  type LedgerRequest,
  lostEntry,
  rejectedEntry,
} from '../../../ledger/index.ts'
import type { CapturePolicy } from '../../../records/capture/index.ts'
import { type Listed, SlotList } from '../call/slot-list.ts'
import type { ExchangeRecorder } from '../contract.ts'
import type { CaptureWay } from './capture-way.ts'
import { fittingFrame, OpenFrame, type PackedExchange, packed } from './exchange-frames.ts'
import {
  createRecordLedger,
  type LossReason,
  type RecorderStats,
  type RecordLedger,
} from './record-ledger.ts'

export type RecorderOptions = {
  /**
   * Resolves once the message is durable; from then on its `data` is used for the next frame. A
   * rejected publish is repeated with the same id.
   */
  publish(message: OutgoingMessage): Promise<void>
  /** A frame is published when it has so many bytes. */
  frame_bytes: number
  /** A frame is published when its first record is so old. */
  frame_age_ms: number
  /** What the queue takes in one message; read each time, as it may change. */
  readonly message_bytes_max: number
  /** Bytes of records that are not published yet; above, records are lost and counted. */
  inflight_bytes_max: number
  clock: Clock
  newId: () => string
  metrics: Metrics
  logger: Logger
  /** How often a publish is tried, and the first delay between tries; it doubles. */
  retry?: RetryLimits
  /** Told of calls whose records are durable, refused or lost; must not throw. */
  onAccepted?(entries: readonly LedgerEntry[]): void
  /** What projects let be recorded; left out, everything is, as it came. */
  capture?: CaptureWay
}

export type Recorder = ExchangeRecorder & {
  stats(): RecorderStats
  /** Publishes what is open and resolves when everything seen so far is published or lost. */
  flush(): Promise<void>
  /** Flushes; records that come later are lost and counted. */
  close(): Promise<void>
}

/**
 * Packs the records of each project into frames and publishes those. A record that is larger than
 * a frame goes alone, compressed. Of a project that does not let everything be recorded nothing
 * goes raw: its records take the way of `capture`. Nothing here waits for the queue: what it does
 * not take in time is bounded in bytes, and what is over the bound is counted as lost.
 */
export function createRecorder(options: RecorderOptions): Recorder {
  return new FramingRecorder(options)
}

const defaultRetry: RetryLimits = { attempts_max: 5, delay_ms: 100 }
const logInterval_ms = 1_000
/** Projects whose frames are open at one time; with more, all frames are published early. */
const openFrames_max = 64
/**
 * Exchanges are packed so many at a time: one by one, between all else that a call does, it takes
 * several times as long.
 */
const batch_exchanges = 32
/** What the facts of an exchange are taken for until they are packed. */
const facts_bytes = 1024

class FramingRecorder implements Recorder {
  readonly #options: RecorderOptions
  readonly #ledger: RecordLedger
  readonly #log: QuietLog
  readonly #pool: FramePool
  #waiting: Exchange[] = []
  #waiting_bytes = 0
  readonly #frames = new Map<string, OpenFrame>()
  readonly #underWay = new SlotList<UnderWay>()
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: RecorderOptions) {
    this.#options = options
    this.#ledger = createRecordLedger(options.metrics)
    this.#log = createQuietLog(options.logger, options.clock, logInterval_ms)
    this.#pool = new FramePool(options.frame_bytes)
  }

  stats(): RecorderStats {
    return this.#ledger.stats()
  }

  record(exchange: Exchange): void {
    this.#ledger.seen()
    const bytes = heldAtFirst(exchange)
    if (this.#closed) this.#lose('closed', [requestOf(exchange.facts)])
    else if (this.#ledger.inflightBytes() + bytes > this.#options.inflight_bytes_max) {
      this.#lose('inflight_full', [requestOf(exchange.facts)])
    } else {
      this.#ledger.hold(bytes)
      this.#waiting.push(exchange)
      this.#waiting_bytes += bytes
      this.#sendSoon()
      if (
        this.#waiting.length >= batch_exchanges ||
        this.#waiting_bytes >= this.#options.frame_bytes
      ) {
        this.#packWaiting()
      }
    }
  }

  /** Calls that waited for their project's policy are packed in the second round. */
  async flush(): Promise<void> {
    for (let round = 1; round <= 2; round += 1) {
      this.#sendAll()
      await Promise.all(this.#underWay.all().map(({ work }) => work))
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.flush()
  }

  #packWaiting(): void {
    const waiting = this.#waiting
    this.#waiting = []
    this.#waiting_bytes = 0
    const { capture } = this.#options
    for (const exchange of waiting) {
      const policy = capture?.policyOf(exchange.facts.project_id)
      if (policy instanceof Promise) this.#run(policy.then((known) => this.#take(exchange, known)))
      else void this.#take(exchange, policy)
    }
  }

  #take(exchange: Exchange, policy: CapturePolicy | undefined): Promise<void> | undefined {
    const { capture } = this.#options
    if (capture === undefined || policy === undefined || policy.keeps_all) {
      this.#pack(exchange)
      return undefined
    }
    const work = this.#capture(capture, exchange, policy)
    this.#run(work)
    return work
  }

  #pack(exchange: Exchange): void {
    const frame_bytes_max = Math.min(this.#options.frame_bytes, this.#options.message_bytes_max)
    const entry = packed(exchange)
    this.#ledger.hold(entry.bytes - heldAtFirst(exchange))
    const isLarge = entry.bytes + frameHeader_bytes > frame_bytes_max
    if (isLarge) this.#run(this.#sendAlone(exchange, entry.bytes))
    else this.#append(entry, requestOf(exchange.facts), frame_bytes_max)
  }

  #append(entry: PackedExchange, call: LedgerRequest, frame_bytes_max: number): void {
    const { project_id } = call
    let frame = this.#frames.get(project_id)
    if (frame && !frame.hasRoomFor(entry.bytes, frame_bytes_max)) {
      this.#send(frame)
      frame = undefined
    }
    if (!frame) {
      if (this.#frames.size >= openFrames_max) this.#sendOpenFrames()
      frame = new OpenFrame(project_id, this.#pool.take())
      this.#frames.set(project_id, frame)
    }
    frame.append(entry, call)
    this.#sendSoon()
  }

  async #capture(way: CaptureWay, exchange: Exchange, policy: CapturePolicy): Promise<void> {
    const call = requestOf(exchange.facts)
    const outcome = await way.take(exchange, { policy, call })
    if (outcome.state === 'lost') this.#lose(outcome.reason, [call], outcome.cause)
    else if (outcome.state === 'refused') {
      this.#ledger.refused(outcome.reason)
      this.#options.onAccepted?.([rejectedEntry(call, { [outcome.reason]: 1 })])
    } else this.#ledger.published(1)
    this.#ledger.release(heldAtFirst(exchange))
  }

  #sendSoon(): void {
    this.#timer ??= setTimeout(() => this.#sendAll(), this.#options.frame_age_ms).unref()
  }

  #sendAll(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#packWaiting()
    this.#sendOpenFrames()
  }

  #sendOpenFrames(): void {
    for (const frame of this.#frames.values()) this.#send(frame)
  }

  #send(frame: OpenFrame): void {
    const { project_id, calls, held_bytes } = frame
    this.#frames.delete(project_id)
    const { data, buffer } = frame.seal(this.#pool)
    this.#run(this.#publish(project_id, data, { calls, held_bytes, buffer }))
  }

  async #sendAlone(exchange: Exchange, held_bytes: number): Promise<void> {
    const about: Held = { calls: [requestOf(exchange.facts)], held_bytes, buffer: undefined }
    try {
      const frame = await fittingFrame(exchange, this.#options.message_bytes_max)
      if (frame) await this.#publish(exchange.facts.project_id, frame, about)
      else this.#release(about, 'too_large')
    } catch (error) {
      this.#release(about, 'not_compressed', error)
    }
  }

  async #publish(project_id: string, data: Buffer, about: Held): Promise<void> {
    const message = { id: this.#options.newId(), subject: `ingest.${project_id}`, data }
    const { publish, retry = defaultRetry } = this.#options
    const failure = await publishWithRetries(publish, message, retry)
    if (failure) {
      this.#release(about, 'not_published', failure)
      return
    }
    this.#ledger.release(about.held_bytes)
    this.#ledger.published(about.calls.length)
    this.#options.onAccepted?.(about.calls.map((call) => acceptedEntry(call, message.id, 1)))
    if (about.buffer) this.#pool.give(about.buffer)
  }

  #release({ calls, held_bytes }: Held, reason: LossReason, cause?: unknown): void {
    this.#ledger.release(held_bytes)
    this.#lose(reason, calls, cause)
  }

  #lose(reason: LossReason, calls: readonly LedgerRequest[], cause?: unknown): void {
    this.#ledger.lost(calls.length, reason)
    this.#options.onAccepted?.(calls.map((call) => lostEntry(call, { [reason]: 1 })))
    this.#log('records of calls were lost', { reason, records: calls.length, err: cause })
  }

  #run(work: Promise<void>): void {
    const member = { slot: 0, work }
    this.#underWay.add(member)
    work.finally(() => this.#underWay.remove(member))
  }
}

type UnderWay = Listed & { work: Promise<void> }

/** `buffer` goes back to the pool once published; when that fails, somebody may still read it. */
type Held = { calls: LedgerRequest[]; held_bytes: number; buffer: Buffer | undefined }

/** A call as the ledger knows it. It came in when it began; nanoseconds are cut to milliseconds. */
function requestOf({
  project_id,
  ingest_request_id = '',
  start_time,
}: ExchangeFacts): LedgerRequest {
  const received_at_ms = Number(start_time.slice(0, -6))
  return { project_id, ingest_request_id, path: 'proxy', received_at_ms }
}

/** What an exchange is taken for until it is packed. */
function heldAtFirst({ request, response }: Exchange): number {
  return facts_bytes + request.length + response.length
}
