import { dirname } from 'node:path'
import { sleep } from '../../../kernel/time.ts'
import { makeFolder } from '../../folders/index.ts'
import { type BroadcastingQueue, createLocalBroadcast } from '../broadcast.ts'
import {
  type BatchHandler,
  type ConsumeOptions,
  type Consumer,
  type Delivery,
  type OutgoingMessage,
  type QueueStats,
  QueueUnavailable,
} from '../contract.ts'
import { assertMessage, assertProjectId, PublishesInProgress } from '../publishing.ts'
import { batchWaitOf, type QueueLogger, runBatch } from '../run-batch.ts'
import {
  type ClaimedMessage,
  type SqliteThread,
  startSqliteThread,
} from './sqlite-thread-client.ts'

/** Options of the SQLite driver. */
export type SqliteQueueOptions = {
  /** Path of the file. Its folder is created if missing. */
  path: string
  /** Maximum size of messages and dead letters. Above it, publish rejects with "full". */
  bytes_max: number
  logger: QueueLogger
  /** Maximum size of a message. Default 16 MiB. */
  message_bytes_max?: number
  /** Deduplication window. Default 2 minutes, as in JetStream. */
  duplicate_window_ms?: number
  /** Maximum size of payloads in flight. Above it, publish rejects with "busy". Default 64 MiB. */
  publish_bytes_max?: number
  /** Maximum free space inside the file before it is shrunk. Default 64 MiB. */
  reclaim_free_bytes?: number
  /** Maximum wait of `close` for running handlers. Default 5 seconds. */
  close_wait_ms?: number
}

const mebibyte = 1_048_576

/**
 * Opens or creates a queue in one file, for this process only. A thread accesses the file. Rejects
 * with QueueUnavailable when another process has the file open.
 */
export async function openSqliteQueue(options: SqliteQueueOptions): Promise<BroadcastingQueue> {
  await makeFolder(dirname(options.path))
  const thread = await startSqliteThread({
    path: options.path,
    bytes_max: options.bytes_max,
    duplicate_window_ms: options.duplicate_window_ms ?? 120_000,
    reclaim_free_bytes: options.reclaim_free_bytes ?? 64 * mebibyte,
  })
  const message_bytes_max = options.message_bytes_max ?? 16 * mebibyte
  const underWay = new PublishesInProgress(options.publish_bytes_max ?? 64 * mebibyte)
  const consumers = new SqliteConsumers(thread, {
    logger: options.logger,
    close_wait_ms: options.close_wait_ms ?? 5_000,
  })
  return {
    message_bytes_max,
    broadcast: createLocalBroadcast(),
    publish: async (message) => {
      assertMessage(message, message_bytes_max)
      await underWay.run(message.data.length, () => send(thread, message))
    },
    consume: async (consumeOptions, handler) => consumers.start(consumeOptions, handler),
    stats: () => stats(thread),
    oldestAgeMs: (subject) => thread.call({ name: 'oldest_age', subject }),
    ready: () => ready(thread),
    deadLetters: async (limit, filter = {}) => {
      assertProjectId(filter.project_id)
      return thread.call({ name: 'dead_letters', limit: Math.min(limit, 1_000), filter })
    },
    replayDeadLetter: async (id, { project_id } = {}) => {
      assertProjectId(project_id)
      return thread.call({ name: 'replay', id, project_id })
    },
    close: async () => {
      await underWay.ended()
      await consumers.stopAll()
      await thread.close()
    },
  }
}

/**
 * Sends a copy of the payload that the thread then owns. Transferring the caller's buffer would
 * detach it, but it may be a slice of a shared pool, or needed for a retry.
 */
async function send(thread: SqliteThread, message: OutgoingMessage): Promise<void> {
  const { id, subject } = message
  const data = Uint8Array.prototype.slice.call(message.data)
  await thread.call({ name: 'publish', message: { id, subject, data } }, data.buffer)
}

async function stats(thread: SqliteThread): Promise<QueueStats> {
  const { has_room: _, ...counts } = await thread.call({ name: 'stats' })
  return counts
}

async function ready(thread: SqliteThread): Promise<boolean> {
  try {
    return (await thread.call({ name: 'stats' })).has_room
  } catch {
    return false
  }
}

/** Delay after a failed claim (for example, a disk error). */
const claimAgainMs = 1_000

/** The consumers of one queue file. Each claims a batch, handles it and claims the next. */
class SqliteConsumers {
  readonly #thread: SqliteThread
  readonly #logger: QueueLogger
  readonly #close_wait_ms: number
  readonly #closing = new AbortController()
  readonly #consumers = new Set<Consumer>()
  #last = 0

  constructor(thread: SqliteThread, options: { logger: QueueLogger; close_wait_ms: number }) {
    this.#thread = thread
    this.#logger = options.logger
    this.#close_wait_ms = options.close_wait_ms
  }

  start(options: ConsumeOptions, handler: BatchHandler): Consumer {
    this.#last += 1
    const number = this.#last
    const stopping = new AbortController()
    const ended = this.#run({ number, options, handler, stopping: stopping.signal })
    const consumer: Consumer = {
      stop: async () => {
        stopping.abort()
        await this.#thread.call({ name: 'cancel_claims', consumer: number }).catch(ignoreClosed)
        await ended
        this.#consumers.delete(consumer)
      },
    }
    this.#consumers.add(consumer)
    return consumer
  }

  /** Aborts running handlers, and waits for them up to `close_wait_ms`. */
  async stopAll(): Promise<void> {
    this.#closing.abort()
    const stopped = Promise.all([...this.#consumers].map((consumer) => consumer.stop()))
    const waiting = new AbortController()
    await Promise.race([stopped, sleep(this.#close_wait_ms, waiting.signal)])
    waiting.abort()
  }

  async #run(run: ConsumerRun): Promise<void> {
    const { options, handler, stopping } = run
    while (!stopping.aborted) {
      const deliveries = await this.#claim(run)
      if (deliveries.length === 0) continue
      const signal = this.#closing.signal
      await runBatch({ deliveries, handler, options, signal, logger: this.#logger })
    }
  }

  async #claim({ number, options, stopping }: ConsumerRun): Promise<Delivery[]> {
    const { kind, batch_messages_max, batch_bytes_max } = options
    const { ack_wait_ms, attempts_max } = options
    const claim = {
      consumer: number,
      kind,
      messages_max: batch_messages_max,
      bytes_max: batch_bytes_max,
      batch_wait_ms: batchWaitOf(options),
      ack_wait_ms,
      attempts_max,
    }
    try {
      const messages = await this.#thread.call({ name: 'claim', claim })
      return messages.map((message) => deliveryOf(this.#thread, message))
    } catch (error) {
      if (!stopping.aborted) {
        this.#logger.error({ err: error, kind }, 'claiming a batch from the queue file failed')
        await sleep(claimAgainMs, stopping)
      }
      return []
    }
  }
}

type ConsumerRun = {
  number: number
  options: ConsumeOptions
  handler: BatchHandler
  stopping: AbortSignal
}

function deliveryOf(thread: SqliteThread, message: ClaimedMessage): Delivery {
  const { seq, attempt, id, subject, data } = message
  return {
    id,
    subject,
    data,
    attempt,
    ack: async () => {
      await thread.call({ name: 'ack', seq })
    },
    retry: async (delay_ms) => {
      await thread.call({ name: 'retry', seq, attempt, delay_ms })
    },
    bury: async (reason) => {
      await thread.call({ name: 'bury', seq, attempt, reason })
    },
  }
}

function ignoreClosed(error: unknown): void {
  if (!(error instanceof QueueUnavailable)) throw error
}
