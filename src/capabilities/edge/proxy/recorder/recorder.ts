import type { Clock } from '../../../../kernel/time.ts'
import type { Exchange } from '../../../../model/exchange.ts'
import { frameHeaderBytes } from '../../../../model/exchange-frame.ts'
import { absentJournal, type Journal } from '../../../../platform/journal/index.ts'
import { createQuietLog, type Logger, type Metrics } from '../../../../platform/telemetry/index.ts'
import { type LedgerRequest, rejectedEntry } from '../../../ledger/index.ts'
import type { CapturePolicy } from '../../../records/capture/index.ts'
import { type Listed, SlotList } from '../call/slot-list.ts'
import type { ExchangeRecorder } from '../contract.ts'
import type { CaptureRecorder } from './capture-recorder.ts'
import {
  ExchangePublisher,
  OpenFrame,
  type PackedExchange,
  type PublishOptions,
  packExchange,
  toLedgerRequest,
} from './exchange-frames.ts'
import { JournalTurn } from './journal-turn.ts'
import { createRecordLedger, type RecorderStats, type RecordLedger } from './record-ledger.ts'
import { type Recovery, startRecovery } from './recover-calls.ts'

export type RecorderOptions = Omit<PublishOptions, 'journal'> & {
  /** Keeps records until they are in the queue; without it, a killed process loses its last ones. */
  journal?: Journal
  /** Age of the first record at which a frame is published. */
  frame_age_ms: number
  /** Bytes of unpublished records; records beyond this bound are lost and counted. */
  inflight_bytes_max: number
  clock: Clock
  metrics: Metrics
  logger: Logger
  /** Applies the capture policies of projects; without it every exchange is recorded as it came. */
  capture?: CaptureRecorder
}

/** Size and age at which frames are published. One message for each call costs five times more. */
export const frameLimits = { frame_bytes: 128 * 1024, frame_age_ms: 20 }

export type Recorder = ExchangeRecorder & {
  stats(): RecorderStats
  /** Publishes the open frames; resolves when every record so far is published or lost. */
  flush(): Promise<void>
  /** Flushes; later records are lost and counted. */
  close(): Promise<void>
}

/** The options of a recorder, with their defaults. */
type RecorderParts = RecorderOptions & { journal: Journal }

/**
 * Packs the records of each project into frames and publishes them. A record larger than a frame is
 * compressed into a message of its own. A project whose policy leaves something out has no raw
 * records: `capture` records its calls, which are not in the journal. Nothing waits for the queue;
 * bytes beyond the bound are counted as lost.
 *
 * With a journal, the calls that end in one turn of the event loop are packed at its end and written
 * to the journal at once, and then their answers end.
 */
export function createRecorder(options: RecorderOptions): Recorder {
  // Getters of the options must stay getters.
  const parts: RecorderParts = Object.create(options, {
    journal: { value: options.journal ?? absentJournal },
  })
  return new FramingRecorder(parts)
}

const logIntervalMs = 1_000
/** Maximum projects with an open frame; beyond it all frames are published early. */
const maxOpenFrames = 64
/**
 * Exchanges packed at once. Packing them one by one, amid the work of a call, takes several times
 * as long.
 */
const batch_exchanges = 32
/** Estimated bytes of an exchange's facts until it is packed. */
const facts_bytes = 1024

class FramingRecorder implements Recorder {
  readonly #options: RecorderParts
  readonly #ledger: RecordLedger
  readonly #publisher: ExchangePublisher
  readonly #turn: JournalTurn
  readonly #recovery: Recovery
  #waiting: Exchange[] = []
  #waiting_bytes = 0
  readonly #frames = new Map<string, OpenFrame>()
  readonly #underWay = new SlotList<UnderWay>()
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: RecorderParts) {
    this.#options = options
    this.#ledger = createRecordLedger(options.metrics)
    const log = createQuietLog(options.logger, options.clock, logIntervalMs)
    this.#publisher = new ExchangePublisher(options, this.#ledger, log)
    this.#turn = new JournalTurn(options, () => this.#packForJournal())
    this.#recovery = startRecovery(options.journal, options)
  }

  stats(): RecorderStats {
    return this.#ledger.stats()
  }

  prepare(project_id: string): void {
    void this.#options.capture?.policyOf(project_id)
  }

  record(exchange: Exchange, written: () => void): void {
    this.#ledger.seen()
    const bytes = estimateBytes(exchange)
    if (this.#closed) this.#lose('closed', exchange, written)
    else if (this.#ledger.inflightBytes() + bytes > this.#options.inflight_bytes_max) {
      this.#lose('inflight_full', exchange, written)
    } else {
      this.#ledger.hold(bytes)
      this.#waiting.push(exchange)
      this.#waiting_bytes += bytes
      this.#sendSoon()
      if (this.#options.journal.isKept) this.#turn.wait(written)
      else {
        if (this.#isBatchFull()) this.#packWaiting()
        written()
      }
    }
  }

  #lose(reason: 'closed' | 'inflight_full', { facts }: Exchange, written: () => void): void {
    this.#publisher.lose(reason, [toLedgerRequest(facts)])
    written()
  }

  #isBatchFull(): boolean {
    const { frame_bytes } = this.#options
    return this.#waiting.length >= batch_exchanges || this.#waiting_bytes >= frame_bytes
  }

  /** The second round packs the calls that waited for their project's policy. */
  async flush(): Promise<void> {
    for (let round = 1; round <= 2; round += 1) {
      this.#sendAll()
      await Promise.all(this.#underWay.all().map(({ work }) => work))
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.flush()
    await this.#recovery.stop()
  }

  /** Packs the calls of this turn, and gives the journal what is new in the open frames. */
  #packForJournal(): void {
    this.#packWaiting()
    for (const frame of this.#frames.values()) frame.writeTo(this.#options.journal)
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
      this.#turn.packed()
      this.#pack(exchange)
      return undefined
    }
    this.#turn.leftOut()
    const work = this.#capture(capture, exchange, policy)
    this.#run(work)
    return work
  }

  #pack(exchange: Exchange): void {
    const frame_bytes_max = Math.min(this.#options.frame_bytes, this.#options.message_bytes_max)
    const entry = packExchange(exchange)
    this.#ledger.hold(entry.bytes - estimateBytes(exchange))
    const isLarge = entry.bytes + frameHeaderBytes > frame_bytes_max
    if (isLarge) this.#run(this.#publisher.publishAlone(exchange, entry.bytes))
    else this.#append(entry, toLedgerRequest(exchange.facts), frame_bytes_max)
  }

  #append(entry: PackedExchange, call: LedgerRequest, frame_bytes_max: number): void {
    const { project_id } = call
    let frame = this.#frames.get(project_id)
    if (frame && !frame.hasRoomFor(entry.bytes, frame_bytes_max)) {
      this.#send(frame)
      frame = undefined
    }
    if (!frame) {
      if (this.#frames.size >= maxOpenFrames) this.#sendOpenFrames()
      frame = new OpenFrame(
        project_id,
        this.#publisher.pool.take(),
        this.#publisher.begin(project_id),
      )
      this.#frames.set(project_id, frame)
    }
    frame.append(entry, call)
    this.#sendSoon()
  }

  async #capture(
    capture: CaptureRecorder,
    exchange: Exchange,
    policy: CapturePolicy,
  ): Promise<void> {
    const call = toLedgerRequest(exchange.facts)
    const outcome = await capture.take(exchange, { policy, call })
    if (outcome.state === 'lost') this.#publisher.lose(outcome.reason, [call], outcome.cause)
    else if (outcome.state === 'refused') {
      this.#ledger.refused(outcome.reason)
      this.#options.onAccepted?.([rejectedEntry(call, { [outcome.reason]: 1 })])
    } else this.#ledger.published(1)
    this.#ledger.release(estimateBytes(exchange))
  }

  #sendSoon(): void {
    this.#timer ??= setTimeout(() => this.#sendAll(), this.#options.frame_age_ms).unref()
  }

  #sendAll(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#options.journal.isKept) this.#turn.end()
    else this.#packWaiting()
    this.#sendOpenFrames()
  }

  #sendOpenFrames(): void {
    for (const frame of this.#frames.values()) this.#send(frame)
  }

  #send(frame: OpenFrame): void {
    this.#frames.delete(frame.project_id)
    this.#run(this.#publisher.publish(frame))
  }

  #run(work: Promise<void>): void {
    const member = { slot: 0, work }
    this.#underWay.add(member)
    work.finally(() => this.#underWay.remove(member))
  }
}

type UnderWay = Listed & { work: Promise<void> }

/** Estimated bytes of an exchange until it is packed. */
function estimateBytes({ request, response }: Exchange): number {
  return facts_bytes + request.length + response.length
}
