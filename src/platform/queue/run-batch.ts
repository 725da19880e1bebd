import { backOff } from '../../kernel/back-off.ts'
import type { BatchHandler, ConsumeOptions, Delivery } from './contract.ts'

/** The part of the service's logger that the drivers use. */
export type QueueLogger = {
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

const backoff_ms_min_default = 500
const backoff_ms_max_default = 60_000
/** Jitter that spreads redeliveries and reconnections over the last quarter of the wait. */
export const queueJitter = -0.25
/** Maximum length of a dead letter's reason, which is sent in a header. */
const maxReasonLength = 500

/** Returns how long the next batch waits for more messages. */
export function batchWaitOf({ batch_wait_ms }: Pick<ConsumeOptions, 'batch_wait_ms'>): number {
  return typeof batch_wait_ms === 'number' ? batch_wait_ms : batch_wait_ms()
}

/**
 * Returns how long a batch still waits for more messages: since its first one came to the queue, not since
 * this process had time for it. The queue's clock may differ: it is never longer than the whole wait.
 */
export function waitLeft(batch_wait_ms: number, first_ms: number, now_ms: number): number {
  return Math.max(0, batch_wait_ms - Math.max(0, now_ms - first_ms))
}

/** One batch for a handler. */
export type BatchRun = {
  deliveries: readonly Delivery[]
  handler: BatchHandler
  options: ConsumeOptions
  /** Aborts when the queue closes. */
  signal: AbortSignal
  logger: QueueLogger
}

/**
 * Passes a batch to its handler, and settles the remaining deliveries after an error. Never
 * rejects: a delivery that can't be settled is redelivered after its `ack_wait_ms`.
 */
export async function runBatch(run: BatchRun): Promise<void> {
  const { handler, options, logger } = run
  const unsettled = new Set<Delivery>()
  const deliveries = run.deliveries.map((delivery) => trackSettlement(delivery, unsettled))
  const over = new AbortController()
  const abort = () => over.abort()
  const timer = setTimeout(abort, options.ack_wait_ms)
  run.signal.addEventListener('abort', abort, { once: true })
  if (run.signal.aborted) abort()
  try {
    await handler(deliveries, over.signal)
  } catch (error) {
    logger.warn({ err: error, kind: options.kind, messages: unsettled.size }, 'a batch failed')
    await giveBack([...unsettled], error, run)
  } finally {
    clearTimeout(timer)
    run.signal.removeEventListener('abort', abort)
  }
}

/** Tracks a delivery in `unsettled` until it is settled. Settling it again does nothing. */
function trackSettlement(delivery: Delivery, unsettled: Set<Delivery>): Delivery {
  const { id, subject, data, attempt } = delivery
  unsettled.add(delivery)
  const settle = async (how: () => Promise<void>) => {
    if (!unsettled.delete(delivery)) return
    try {
      await how()
    } catch (error) {
      unsettled.add(delivery)
      throw error
    }
  }
  return {
    id,
    subject,
    data,
    attempt,
    ack: () => settle(() => delivery.ack()),
    retry: (delay_ms) => settle(() => delivery.retry(delay_ms)),
    bury: (reason) => settle(() => delivery.bury(reason.slice(0, maxReasonLength))),
  }
}

async function giveBack(unsettled: Delivery[], error: unknown, run: BatchRun): Promise<void> {
  const { backoff_ms_min, backoff_ms_max, attempts_max } = run.options
  const rule = {
    base_ms: backoff_ms_min ?? backoff_ms_min_default,
    max_ms: backoff_ms_max ?? backoff_ms_max_default,
    jitter: queueJitter,
  }
  const reason = String(error).slice(0, maxReasonLength)
  const settled = await Promise.allSettled(
    unsettled.map((delivery) =>
      delivery.attempt >= attempts_max
        ? delivery.bury(reason)
        : delivery.retry(backOff(rule, delivery.attempt)),
    ),
  )
  const failed = settled.find((result) => result.status === 'rejected')
  if (failed) run.logger.warn({ err: failed.reason }, 'a delivery could not be returned')
}
