import type { Clock } from '../../kernel/time.ts'
import type { Exchange } from '../../model/exchange.ts'
import { exchangeParts, frameOf } from '../../model/exchange-frame.ts'
import type { OutgoingMessage } from '../../platform/queue/index.ts'
import type { Logger, Metrics } from '../../platform/telemetry/index.ts'
import type { ExchangeRecorder } from './contract.ts'
import { fittingFrame } from './large-exchange.ts'
import { publishWithRetries, type RetryLimits } from './publish-retries.ts'
import { createQuietLog, type QuietLog } from './quiet-log.ts'
import { createRecordLedger, type LossReason, type RecordLedger } from './record-ledger.ts'

export type RecorderOptions = {
  /** Resolves once the message is durable. A rejected publish is repeated with the same id. */
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
}

/** At any time `seen = published + lost + pending`. */
export type RecorderStats = { seen: number; published: number; lost: number; pending: number }

export type Recorder = ExchangeRecorder & {
  stats(): RecorderStats
  /** Publishes what is open and resolves when everything seen so far is published or lost. */
  flush(): Promise<void>
  /** Flushes; records that come later are lost and counted. */
  close(): Promise<void>
}

/**
 * Packs the records of each project into frames and publishes those. A record that is larger than
 * a frame goes alone, compressed. Nothing here waits for the queue: what it does not take in time
 * is bounded in bytes, and what is over the bound is counted as lost.
 */
export function createRecorder(options: RecorderOptions): Recorder {
  return new FramingRecorder(options)
}

const defaultRetry: RetryLimits = { attempts_max: 5, delay_ms: 100 }
const logInterval_ms = 1_000
/** A frame's version and compression. */
const frameHeader_bytes = 2

type OpenFrame = { project_id: string; parts: Uint8Array[]; bytes: number; records: number }

class FramingRecorder implements Recorder {
  readonly #options: RecorderOptions
  readonly #ledger: RecordLedger
  readonly #log: QuietLog
  readonly #frames = new Map<string, OpenFrame>()
  readonly #underWay = new Set<Promise<void>>()
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: RecorderOptions) {
    this.#options = options
    this.#ledger = createRecordLedger(options.metrics)
    this.#log = createQuietLog(options.logger, options.clock, logInterval_ms)
  }

  stats(): RecorderStats {
    return this.#ledger.stats()
  }

  record(exchange: Exchange): void {
    this.#ledger.seen()
    const parts = exchangeParts(exchange)
    let bytes = 0
    for (const part of parts) bytes += part.length
    if (this.#closed) this.#lose('closed', 1)
    else if (this.#ledger.inflightBytes() + bytes > this.#options.inflight_bytes_max) {
      this.#lose('inflight_full', 1)
    } else {
      this.#ledger.hold(bytes)
      if (bytes + frameHeader_bytes > this.#frame_bytes())
        this.#run(this.#sendAlone(exchange, bytes))
      else this.#append(exchange.facts.project_id, parts, bytes)
    }
  }

  async flush(): Promise<void> {
    this.#sendOpenFrames()
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.flush()
  }

  #frame_bytes(): number {
    return Math.min(this.#options.frame_bytes, this.#options.message_bytes_max)
  }

  #append(project_id: string, parts: Uint8Array[], bytes: number): void {
    const open = this.#frames.get(project_id)
    if (open && open.bytes + bytes <= this.#frame_bytes()) {
      open.parts.push(...parts)
      open.bytes += bytes
      open.records += 1
      return
    }
    if (open) this.#send(open)
    this.#frames.set(project_id, {
      project_id,
      parts,
      bytes: bytes + frameHeader_bytes,
      records: 1,
    })
    this.#timer ??= setTimeout(() => this.#sendOpenFrames(), this.#options.frame_age_ms).unref()
  }

  #sendOpenFrames(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const frame of this.#frames.values()) this.#send(frame)
    this.#frames.clear()
  }

  #send({ project_id, parts, bytes, records }: OpenFrame): void {
    const held_bytes = bytes - frameHeader_bytes
    this.#run(this.#publish(project_id, frameOf(parts), { records, held_bytes }))
  }

  async #sendAlone(exchange: Exchange, held_bytes: number): Promise<void> {
    const about = { records: 1, held_bytes }
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
    if (failure === undefined) {
      this.#ledger.release(about.held_bytes)
      this.#ledger.published(about.records)
    } else this.#release(about, 'not_published', failure)
  }

  #release({ records, held_bytes }: Held, reason: LossReason, cause?: unknown): void {
    this.#ledger.release(held_bytes)
    this.#lose(reason, records, cause)
  }

  #lose(reason: LossReason, records: number, cause?: unknown): void {
    this.#ledger.lost(records, reason)
    this.#log('records of calls were lost', { reason, records, err: cause })
  }

  #run(work: Promise<void>): void {
    this.#underWay.add(work)
    work.finally(() => this.#underWay.delete(work))
  }
}

type Held = { records: number; held_bytes: number }
