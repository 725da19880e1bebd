import type { Clock } from '../../../kernel/time.ts'
import type { LedgerEntry } from '../../../model/ledger-entry.ts'
import {
  FramePool,
  type OutgoingMessage,
  publishWithRetries,
  type RetryLimits,
} from '../../../platform/queue/index.ts'
import type { Logger } from '../../../platform/telemetry/index.ts'
import { acceptedEntry, rejectedEntry } from '../../ledger/index.ts'
import type { EnqueueMeters } from './enqueue-meters.ts'
import type { SealedFrame } from './open-frame.ts'
import { type PendingRequest, sumOf } from './pending-request.ts'

type FramePublisherOptions = {
  publish(message: OutgoingMessage): Promise<void>
  buffer_bytes: number
  window: WindowLimits
  retry: RetryLimits
  clock: Clock
  logger: Logger
  meters: EnqueueMeters
  onAccepted(entries: readonly LedgerEntry[]): void
  /** Called for each request of a frame once the frame is durable or has failed. */
  onSettled(pending: PendingRequest): void
}

const logIntervalMs = 1_000

/** Publishes frames, and reuses their buffers. */
export class FramePublisher {
  readonly pool: FramePool
  readonly window: PublishWindow
  readonly #options: FramePublisherOptions
  #logged_ms = Number.NEGATIVE_INFINITY

  constructor(options: FramePublisherOptions) {
    this.#options = options
    this.pool = new FramePool(options.buffer_bytes, options.window.messages_max)
    this.window = new PublishWindow(options.window)
  }

  /** Publishes a frame and settles its requests. Never rejects. */
  async publish(frame: SealedFrame): Promise<void> {
    const { project_id, message_id: id, data, requests, buffer } = frame
    const { publish, retry, meters, onSettled } = this.#options
    this.window.add(data.length)
    const message = { id, subject: `ingest.${project_id}`, data }
    const failure = await publishWithRetries(publish, message, retry)
    if (failure === undefined) {
      if (buffer) this.pool.give(buffer)
      meters.durable(frame)
      this.report(acceptedEntries(frame))
    } else {
      meters.failed('not_published')
      this.log(failure, 'publishing records failed')
    }
    this.window.remove(data.length)
    for (const pending of requests) {
      pending.failure ??= failure
      pending.underWay -= 1
      onSettled(pending)
    }
  }

  /** Passes entries to the ledger. */
  report(entries: readonly LedgerEntry[]): void {
    try {
      this.#options.onAccepted(entries)
    } catch (error) {
      this.log(error, 'passing entries to the ledger failed')
    }
  }

  /** Logs an error, at most once a second. */
  log(error: unknown, message: string): void {
    const now_ms = this.#options.clock.now_ms()
    if (now_ms - this.#logged_ms < logIntervalMs) return
    this.#logged_ms = now_ms
    this.#options.logger.error({ err: error }, message)
  }
}

export type WindowLimits = { messages_max: number; bytes_max: number }

/**
 * Limits concurrent publishes. A caller that fills another frame waits for room first, in order of
 * arrival. Frames that are open when the window fills up may still be published.
 */
class PublishWindow {
  readonly #limits: WindowLimits
  readonly #waiting: (() => void)[] = []
  #messages = 0
  #bytes = 0

  constructor(limits: WindowLimits) {
    this.#limits = limits
  }

  get isFull(): boolean {
    return this.#messages >= this.#limits.messages_max || this.#bytes >= this.#limits.bytes_max
  }

  /** True when a new caller has to wait. */
  get isBusy(): boolean {
    return this.isFull || this.#waiting.length > 0
  }

  add(bytes: number): void {
    this.#messages += 1
    this.#bytes += bytes
  }

  remove(bytes: number): void {
    this.#messages -= 1
    this.#bytes -= bytes
    this.wakeNext()
  }

  /** Resolves when the caller may proceed. The caller then runs `wakeNext` once it is done. */
  waitForRoom(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.wakeNext()
    })
  }

  /** Wakes the next caller if there is room. */
  wakeNext(): void {
    if (!this.isFull) this.#waiting.shift()?.()
  }
}

/** Returns the ledger entries of a durable message, one for each of its receipts. */
function acceptedEntries({ project_id, message_id, receipts }: SealedFrame): LedgerEntry[] {
  return receipts.map(({ ingest_request_id, path, received_at_ms, items, masked }) => {
    const request = { project_id, ingest_request_id, path, received_at_ms }
    return acceptedEntry(request, message_id, items, masked)
  })
}

/** Returns the ledger entry of items that the edge rejected; undefined without such items. */
export function refusedEntry(pending: PendingRequest): LedgerEntry | undefined {
  const { request, messages } = pending
  const refused = pending.allRefused()
  if (sumOf(refused) === 0) return undefined
  return rejectedEntry(request, refused, messages === 0 ? request.masked : 0)
}
