import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type BatchHandler,
  type BroadcastingQueue,
  type ConsumeOptions,
  openJetStreamQueue,
  openSqliteQueue,
  type Queue,
  type QueueLogger,
} from '../../src/platform/queue/index.ts'
import { type NatsServer, startNatsServer } from './nats.ts'

/** Options for any driver. */
type QueueSettings = {
  bytes_max?: number
  message_bytes_max?: number
  publish_bytes_max?: number
}

/** An empty queue. `peer` is a second connection to it, as of another process. */
type OpenedQueue = { queue: BroadcastingQueue; peer: () => Promise<BroadcastingQueue> }

/** A driver of the queue port, for the contract suite. */
export type QueueDriver = {
  name: string
  /** Starts the driver's dependencies (a server, a folder). */
  start(): Promise<void>
  open(settings?: QueueSettings): Promise<OpenedQueue>
  /** Closes everything that was opened, and removes it. */
  stop(): Promise<void>
}

/** A logger that keeps its lines for tests. */
export function keepingLogger(): QueueLogger & { lines: string[] } {
  const lines: string[] = []
  const keep = (level: string) => (about: object, message: string) => {
    lines.push(`${level} ${message} ${JSON.stringify(about)} ${String(Object.values(about)[0])}`)
  }
  return { lines, info: keep('info'), warn: keep('warn'), error: keep('error') }
}

export function sqliteDriver(): QueueDriver {
  const opened: Queue[] = []
  let directory = ''
  return {
    name: 'sqlite',
    start: async () => {
      directory = await mkdtemp(join(tmpdir(), 'looptrace-queue-'))
    },
    open: async (settings = {}) => {
      const queue = await openSqliteQueue({
        path: join(directory, `${opened.length}.sqlite`),
        bytes_max: 100_000_000,
        message_bytes_max: 1_000_000,
        logger: keepingLogger(),
        ...settings,
      })
      opened.push(queue)
      return { queue, peer: async () => queue }
    },
    stop: async () => {
      await Promise.all(opened.map((queue) => queue.close()))
      await rm(directory, { recursive: true, force: true })
    },
  }
}

export function jetStreamDriver(partitions = 1): QueueDriver {
  const opened: Queue[] = []
  let directory = ''
  let server: NatsServer | undefined
  let prefixes = 0
  const open = async (stream_prefix: string, settings: QueueSettings) => {
    const queue = await openJetStreamQueue({
      servers: [server?.url ?? ''],
      stream_prefix,
      replicas: 1,
      partitions,
      max_bytes: settings.bytes_max ?? 100_000_000,
      duplicate_window_ms: 120_000,
      logger: keepingLogger(),
      ...(settings.publish_bytes_max && { publish_bytes_max: settings.publish_bytes_max }),
    })
    opened.push(queue)
    return queue
  }
  return {
    name: partitions === 1 ? 'jetstream' : `jetstream, ${partitions} partitions`,
    start: async () => {
      directory = await mkdtemp(join(tmpdir(), 'looptrace-nats-'))
      server = await startNatsServer({ directory, max_payload_bytes: 1_004_096 })
    },
    open: async (settings = {}) => {
      prefixes += 1
      const prefix = `test${prefixes}`
      return { queue: await open(prefix, settings), peer: () => open(prefix, settings) }
    },
    stop: async () => {
      await Promise.all(opened.map((queue) => queue.close()))
      await server?.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Default options of a consumer of `ingest`. */
export const consumeOptions: ConsumeOptions = {
  kind: 'ingest',
  batch_messages_max: 100,
  batch_bytes_max: 10_000_000,
  batch_wait_ms: 1,
  ack_wait_ms: 30_000,
  attempts_max: 5,
  backoff_ms_min: 10,
  backoff_ms_max: 50,
}

/** A handler that acknowledges everything and keeps the ids in order of arrival. */
export function ackingHandler(): { ids: string[]; handler: BatchHandler } {
  const ids: string[] = []
  const handler: BatchHandler = async (batch) => {
    ids.push(...batch.map(({ id }) => id))
    await Promise.all(batch.map((delivery) => delivery.ack()))
  }
  return { ids, handler }
}

/** A message of the subject `ingest.project-a` by default. */
export function message(id: string, data: string | Uint8Array = id, subject = 'ingest.project-a') {
  return { id, subject, data: typeof data === 'string' ? Buffer.from(data) : data }
}
