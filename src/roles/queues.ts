import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigError, type RoleConfig } from '../platform/config/index.ts'
import {
  openJetStreamQueue,
  openSqliteQueue,
  type Queue,
  type SpooledPublisher,
  withSpool,
} from '../platform/queue/index.ts'
import type { RoleContext } from './running.ts'

type QueueConfig = Pick<
  RoleConfig<'worker'>,
  | 'nats_url'
  | 'nats_credentials_file'
  | 'nats_replicas'
  | 'queue_bytes_max'
  | 'queue_message_bytes_max'
  | 'queue_dedupe_ms'
>

/** Opens the queue in NATS. Closed when the role ends. */
export async function openClusterQueue(context: RoleContext, config: QueueConfig): Promise<Queue> {
  if (config.nats_url === undefined) {
    throw new ConfigError('LOOPTRACE_NATS_URL: missing, expected the NATS servers of the cluster')
  }
  const file = config.nats_credentials_file
  const queue = await openJetStreamQueue({
    servers: config.nats_url.split(','),
    ...(file && { credentials: { kind: 'creds', creds: await readFile(file, 'utf8') } }),
    replicas: config.nats_replicas,
    max_bytes: config.queue_bytes_max,
    duplicate_window_ms: config.queue_dedupe_ms,
    logger: context.logger,
  }).catch((error: unknown) => {
    if (!(error instanceof TypeError)) throw error
    throw new ConfigError(`LOOPTRACE_NATS_URL: ${error.message}`, { cause: error })
  })
  context.parts.defer(() => queue.close())
  watchQueue(context, queue)
  return queue
}

/** Returns the path of the queue in a data folder. */
export function queueFileIn(data_directory: string): string {
  return join(data_directory, 'queue', 'queue.sqlite')
}

/** Opens the queue in a file of the data folder. Closed when the role ends. */
export async function openFileQueue(
  context: RoleContext,
  config: QueueConfig & { data_directory: string },
): Promise<Queue> {
  const queue = await openSqliteQueue({
    path: queueFileIn(config.data_directory),
    bytes_max: config.queue_bytes_max,
    message_bytes_max: config.queue_message_bytes_max,
    duplicate_window_ms: config.queue_dedupe_ms,
    logger: context.logger,
  })
  context.parts.defer(() => queue.close())
  watchQueue(context, queue)
  return queue
}

/**
 * Adds a bounded disk spool to a remote queue. The file is named after the role, because roles that
 * share a data folder must not share a spool.
 */
export async function withFileSpool(
  context: RoleContext,
  config: Pick<RoleConfig<'proxy'>, 'data_directory' | 'spool_bytes_max'>,
  { queue, role }: { queue: Queue; role: 'proxy' | 'api' | 'all' },
): Promise<SpooledPublisher> {
  const { logger, metrics, parts } = context
  const spool = await openSqliteQueue({
    path: join(config.data_directory, 'spool', `${role}.sqlite`),
    bytes_max: config.spool_bytes_max,
    logger,
  })
  const spooled = spoolCounter(metrics)
  const publisher: SpooledPublisher = await withSpool({
    queue,
    spool,
    kinds: ['ingest', 'ledger'],
    logger,
    on_spooled: () => spooled.inc({ moved: 'in' }),
    on_replayed: (messages) => spooled.inc({ moved: 'out' }, messages),
  })
  parts.defer(() => publisher.close())
  watchSpool(metrics, publisher)
  return publisher
}

/** Registers the counter of messages into and out of the spool. */
export function spoolCounter(metrics: RoleContext['metrics']) {
  return metrics.counter({
    name: 'looptrace_spool_messages_total',
    help: 'Messages moved into the spool while the queue was unavailable, and out of it.',
    labels: ['moved'],
  })
}

/** Registers the gauge of messages in the spool, also those of earlier processes. */
export function watchSpool(
  metrics: RoleContext['metrics'],
  publisher: Pick<SpooledPublisher, 'stats'>,
): void {
  metrics.gauge({
    name: 'looptrace_spool_messages',
    help: 'Messages in the spool: pending, and permanently rejected by the queue.',
    labels: ['state'],
    collect: async (self) => {
      const { spooled, refused } = await publisher.stats()
      self.set({ state: 'pending' }, spooled)
      self.set({ state: 'refused' }, refused)
    },
  })
}

/** Registers the gauge of messages in the queue. It is NaN while the queue is unavailable. */
export function watchQueue(
  { metrics }: Pick<RoleContext, 'metrics'>,
  queue: Pick<Queue, 'stats'>,
): void {
  const gauge = metrics.gauge({
    name: 'looptrace_queue_messages',
    help: 'Messages in the queue: pending (waiting or in flight), and dead letters.',
    labels: ['state'],
    collect: async (self) => {
      const stats = await queue.stats().catch(() => undefined)
      self.set({ state: 'pending' }, stats?.pending ?? Number.NaN)
      self.set({ state: 'dead' }, stats?.dead ?? Number.NaN)
    },
  })
  gauge.set({ state: 'pending' }, 0)
}
