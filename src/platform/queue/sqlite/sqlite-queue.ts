import { dirname } from 'node:path'
import { makeFolder } from '../../folders/index.ts'
import type { OutgoingMessage, Queue, QueueStats } from '../contract.ts'
import { assertMessage, PublishesUnderWay } from '../message-limits.ts'
import type { QueueLogger } from '../run-batch.ts'
import { SqliteConsumers } from './sqlite-consumers.ts'
import { type SqliteThread, startSqliteThread } from './sqlite-thread-client.ts'

/** Settings of the SQLite driver. */
export type SqliteQueueOptions = {
  /** The file; its folder is made when it is missing. */
  path: string
  /** What messages and dead letters may hold, in bytes; above, publish rejects with "full". */
  bytes_max: number
  logger: QueueLogger
  /** Default 16 MiB. */
  message_bytes_max?: number
  /** How long a message id is remembered. Default 2 minutes, as JetStream's. */
  duplicate_window_ms?: number
  /** Payloads on their way to the thread; above, publish rejects with "busy". Default 64 MiB. */
  publish_bytes_max?: number
  /** Free space inside the file above this is given back to the disk. Default 64 MiB. */
  reclaim_free_bytes?: number
  /** How long close waits for batches that are with a handler. Default 5 seconds. */
  close_wait_ms?: number
}

const mebibyte = 1_048_576

/**
 * Opens (or makes) a queue in one file, for this process alone. Work on the file happens in a
 * thread. Rejects with QueueUnavailable when another process has the file open.
 */
export async function openSqliteQueue(options: SqliteQueueOptions): Promise<Queue> {
  await makeFolder(dirname(options.path))
  const thread = await startSqliteThread({
    path: options.path,
    bytes_max: options.bytes_max,
    duplicate_window_ms: options.duplicate_window_ms ?? 120_000,
    reclaim_free_bytes: options.reclaim_free_bytes ?? 64 * mebibyte,
  })
  const message_bytes_max = options.message_bytes_max ?? 16 * mebibyte
  const underWay = new PublishesUnderWay(options.publish_bytes_max ?? 64 * mebibyte)
  const consumers = new SqliteConsumers(thread, {
    logger: options.logger,
    close_wait_ms: options.close_wait_ms ?? 5_000,
  })
  return {
    message_bytes_max,
    publish: async (message) => {
      assertMessage(message, message_bytes_max)
      await underWay.run(message.data.length, () => send(thread, message))
    },
    consume: async (about, handler) => consumers.start(about, handler),
    stats: () => stats(thread),
    ready: () => ready(thread),
    deadLetters: (limit, filter = {}) =>
      thread.call({ name: 'dead_letters', limit: Math.min(limit, 1_000), filter }),
    replayDeadLetter: (id, { project_id } = {}) => thread.call({ name: 'replay', id, project_id }),
    close: async () => {
      await underWay.ended()
      await consumers.stopAll()
      await thread.close()
    },
  }
}

/**
 * The payload goes over as a copy that the thread then owns: one memcpy, where handing over the
 * caller's own buffer would detach it (it may be a slice of a shared pool, or needed to try again).
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
