import type { Clock } from '../../../kernel/time.ts'
import type { LedgerEntry } from '../../../model/ledger-entry.ts'
import {
  FramePool,
  type OutgoingMessage,
  publishWithRetries,
  type RetryLimits,
} from '../../../platform/queue/index.ts'
import type { Logger } from '../../../platform/telemetry/index.ts'
import { acceptedEntries } from './accepted-entries.ts'
import type { EnqueueMeters } from './enqueue-meters.ts'
import type { SealedFrame } from './open-frame.ts'
import type { PendingRequest } from './pending-request.ts'
import { PublishWindow, type WindowLimits } from './publish-window.ts'

export type FramePublisherOptions = {
  publish(message: OutgoingMessage): Promise<void>
  buffer_bytes: number
  window: WindowLimits
  retry: RetryLimits
  clock: Clock
  logger: Logger
  meters: EnqueueMeters
  onAccepted(entries: readonly LedgerEntry[]): void
  /** Told of each request of a frame once that is durable or has failed. */
  onSettled(pending: PendingRequest): void
}

const logInterval_ms = 1_000

/** Publishes frames, and gives their buffers to the next ones. */
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

  /** Never rejects: the requests of the frame learn how it went. */
  async publish(frame: SealedFrame): Promise<void> {
    const { project_id, message_id: id, data, requests, buffer } = frame
    const { publish, retry, meters, onSettled } = this.#options
    this.window.add(data.length)
    const message = { id, subject: `ingest.${project_id}`, data }
    const failure = await publishWithRetries(publish, message, retry)
    if (failure === undefined) {
      if (buffer) this.pool.give(buffer)
      meters.durable(frame)
      this.tell(acceptedEntries(frame))
    } else {
      meters.failed('not_published')
      this.log(failure, 'records did not reach the queue')
    }
    this.window.remove(data.length)
    for (const pending of requests) {
      pending.failure ??= failure
      pending.underWay -= 1
      onSettled(pending)
    }
  }

  /** Hands entries to the ledger. */
  tell(entries: readonly LedgerEntry[]): void {
    try {
      this.#options.onAccepted(entries)
    } catch (error) {
      this.log(error, 'the ledger was not told of records')
    }
  }

  /** Says it in the log, at most once in a second. */
  log(error: unknown, message: string): void {
    const now_ms = this.#options.clock.now_ms()
    if (now_ms - this.#logged_ms < logInterval_ms) return
    this.#logged_ms = now_ms
    this.#options.logger.error({ err: error }, message)
  }
}
