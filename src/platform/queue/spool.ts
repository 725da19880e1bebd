import { sleep } from '../../kernel/time.ts'
import {
  type BatchHandler,
  type Delivery,
  type OutgoingMessage,
  type Queue,
  QueueUnavailable,
} from './contract.ts'
import { PublishesInProgress } from './publishing.ts'
import type { QueueLogger } from './run-batch.ts'

/** A publisher with a disk spool for times when the queue is unavailable. */
export type SpooledPublisher = Pick<Queue, 'message_bytes_max' | 'publish' | 'ready'> & {
  stats(): Promise<SpoolStats>
  /**
   * Waits up to `drain_ms` until the spool is in the queue, then closes both. What is left stays on
   * the disk, and `keepElsewhere` gets its messages of one kind.
   */
  close(options?: { drain_ms?: number }): Promise<SpoolLeft>
}

/** Messages that were left on disk. */
type SpoolLeft = { messages: number; kept_elsewhere: number }

type SpoolStats = {
  /** Messages on disk that are not in the queue yet. */
  spooled: number
  spooled_bytes: number
  oldest_age_ms: number
  /** Messages that the queue rejected permanently (too large). They are kept on disk. */
  refused: number
}

export type SpoolOptions = {
  queue: Queue
  /** A separate SQLite queue. Its `bytes_max` bounds the spool. */
  spool: Queue
  /** Kinds that may be spooled, with one replayer each. */
  kinds: readonly string[]
  logger: QueueLogger
  /** Called for each message that is written to the spool. */
  on_spooled?: (message: OutgoingMessage) => void
  /**
   * Takes messages that are left at the end, because the disk may go with the process. Those that
   * it has taken leave the spool.
   */
  keepElsewhere?: { kind: string; take: (message: OutgoingMessage) => Promise<void> }
  /** Called with the number of messages that were moved from the spool to the queue. */
  on_replayed?: (messages: number) => void
  /** Interval at which the replayer checks the queue. Default half a second. */
  replay_check_ms?: number
}

/** Maximum time that the replayer holds a batch while the queue is unavailable. */
const replayHoldMs = 60_000

/**
 * Publishes to the queue, or to the spool while the queue is unavailable. Spooled messages are
 * moved to the queue in order and with their own ids when it is available again; repetitions are
 * harmless within the queue's deduplication window. New messages do not wait for spooled ones, so
 * order is not kept across an outage. When the spool is full too, publish rejects with
 * QueueUnavailable, and the caller counts the message as lost. `close` closes the queue and the
 * spool.
 */
export async function withSpool(options: SpoolOptions): Promise<SpooledPublisher> {
  const { queue, spool, kinds } = options
  const underWay = new PublishesInProgress(Number.MAX_SAFE_INTEGER)
  const closing = new AbortController()
  const replay = createReplayer(options, closing.signal)
  const replayers = await Promise.all(
    kinds.map((kind) => spool.consume(replayOptions(kind), replay)),
  )
  const close = async (drain_ms: number): Promise<SpoolLeft> => {
    await drain(options, drain_ms)
    closing.abort()
    const stopped = replayers.map((replayer) => replayer.stop())
    await queue.close()
    await underWay.ended()
    await Promise.all(stopped)
    const { pending: messages } = await spool.stats()
    const kept_elsewhere = messages === 0 ? 0 : await keepLeft(options)
    await spool.close()
    return { messages: messages - kept_elsewhere, kept_elsewhere }
  }
  let closed: Promise<SpoolLeft> | undefined
  return {
    get message_bytes_max() {
      return Math.min(queue.message_bytes_max, spool.message_bytes_max)
    },
    publish: (message) => underWay.run(message.data.length, () => publish(message, options)),
    ready: async () => (await queue.ready()) || (await spool.ready()),
    stats: async () => {
      const { pending, pending_bytes, oldest_age_ms, dead } = await spool.stats()
      return { spooled: pending, spooled_bytes: pending_bytes, oldest_age_ms, refused: dead }
    },
    close: ({ drain_ms = 0 } = {}) => {
      closed ??= close(drain_ms)
      return closed
    },
  }
}

/** Waits until the replayers have emptied the spool, or the time is over. */
async function drain({ spool, replay_check_ms = 500 }: SpoolOptions, drain_ms: number) {
  const over = AbortSignal.timeout(drain_ms)
  while (!over.aborted && (await spool.stats()).pending > 0) await sleep(replay_check_ms, over)
}

/** Maximum time for `keepElsewhere`, and the time without progress after which it ends. */
const keep_ms_max = 5_000
const keepPauseMs = 250

/** Moves the messages of one kind elsewhere. Returns how many were moved. */
async function keepLeft(options: SpoolOptions): Promise<number> {
  const { spool, keepElsewhere } = options
  if (keepElsewhere === undefined) return 0
  const { kind, take } = keepElsewhere
  const over = AbortSignal.timeout(keep_ms_max)
  let kept = 0
  const consumer = await spool.consume(replayOptions(kind), async (batch) => {
    for (const delivery of batch) {
      const { id, subject, data } = delivery
      await take({ id, subject, data })
      await delivery.ack()
      kept += 1
    }
  })
  for (let before = -1; before < kept && !over.aborted; ) {
    before = kept
    await sleep(keepPauseMs, over)
  }
  await consumer.stop()
  return kept
}

async function publish(message: OutgoingMessage, options: SpoolOptions): Promise<void> {
  try {
    await options.queue.publish(message)
  } catch (error) {
    if (!(error instanceof QueueUnavailable)) throw error
    await options.spool.publish(message)
    options.on_spooled?.(message)
  }
}

function replayOptions(kind: string) {
  return {
    kind,
    batch_messages_max: 64,
    batch_bytes_max: 8 * 1_048_576,
    batch_wait_ms: 0,
    ack_wait_ms: 2 * replayHoldMs,
    attempts_max: Number.MAX_SAFE_INTEGER,
  }
}

/** Holds a batch until the queue is ready, then publishes it in order. Failures are redelivered. */
function createReplayer(options: SpoolOptions, closing: AbortSignal): BatchHandler {
  const { queue, replay_check_ms = 500 } = options
  return async (batch, signal) => {
    const waited = AbortSignal.any([signal, closing, AbortSignal.timeout(replayHoldMs)])
    while (!waited.aborted && !(await queue.ready())) await sleep(replay_check_ms, waited)
    const moved = await Promise.all(batch.map((delivery) => move(delivery, options)))
    const replayed = moved.filter((outcome) => outcome === 'moved').length
    if (replayed > 0) options.on_replayed?.(replayed)
    if (moved.includes('put back')) await sleep(replay_check_ms, waited)
  }
}

type Outcome = 'moved' | 'put back' | 'refused'

async function move(delivery: Delivery, options: SpoolOptions): Promise<Outcome> {
  const { id, subject, data } = delivery
  try {
    await options.queue.publish({ id, subject, data })
    await delivery.ack()
    return 'moved'
  } catch (error) {
    if (error instanceof QueueUnavailable) {
      await delivery.retry(0)
      return 'put back'
    }
    options.logger.error({ err: error, message_id: id, subject }, 'the queue rejected a message')
    await delivery.bury(String(error))
    return 'refused'
  }
}
