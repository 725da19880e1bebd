import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { keepLedgerMessage } from '../capabilities/ledger/index.ts'
import { ConfigError, type Settings } from '../platform/config/index.ts'
import { absentJournal, type Journal, openJournal } from '../platform/journal/index.ts'
import {
  type BroadcastingQueue,
  migrateJetStream,
  openJetStreamQueue,
  openSqliteQueue,
  type Queue,
  QueueUnavailable,
  type SpooledPublisher,
  withSpool,
} from '../platform/queue/index.ts'
import type { IngestTables, Kysely } from '../platform/relational/index.ts'
import { createQuietLog } from '../platform/telemetry/index.ts'
import type { RoleContext } from './running.ts'

/**
 * Opens the queue in NATS. Closed when the role ends. Missing streams are created, unless
 * `may_create` is false; those that exist stay as they are.
 */
export async function openClusterQueue(
  context: RoleContext,
  config: Settings<'queue'>,
  { may_create = true }: { may_create?: boolean } = {},
): Promise<BroadcastingQueue> {
  const options = await jetStreamOptions(context, config)
  const queue = await openJetStreamQueue({ ...options, may_create }).catch(nameNatsUrl)
  context.parts.defer(() => queue.close())
  watchQueue(context, queue)
  return queue
}

/**
 * Changes the streams in NATS to the settings, and creates missing ones. Values that keep fewer copies or
 * messages are only logged, unless `may_shrink` is true. Without NATS nothing is changed, because the
 * other stores do not depend on it.
 */
export async function migrateQueue(
  context: Pick<RoleContext, 'logger'>,
  config: Settings<'queue'>,
  { may_shrink }: { may_shrink: boolean },
): Promise<void> {
  const { logger } = context
  try {
    const options = await jetStreamOptions(context, config)
    for (const change of await migrateJetStream(options, { may_shrink }).catch(nameNatsUrl)) {
      if (change.is_changed) logger.info(change, 'a setting of the queue was changed')
      else
        logger.warn(
          change,
          'the queue keeps more than the settings ask: run migrate --shrink-queue',
        )
    }
  } catch (error) {
    if (!(error instanceof QueueUnavailable)) throw error
    logger.warn(
      { err: error },
      'NATS is unavailable: the queue keeps its settings. Run migrate again',
    )
  }
}

async function jetStreamOptions(
  { logger }: Pick<RoleContext, 'logger'>,
  config: Settings<'queue'>,
) {
  if (config.nats_url === undefined) {
    throw new ConfigError('LOOPTRACE_NATS_URL: missing, expected the NATS servers of the cluster')
  }
  const file = config.nats_credentials_file
  return {
    servers: config.nats_url.split(','),
    ...(file && {
      credentials: { kind: 'creds', creds: await readFile(file, 'utf8') } as const,
    }),
    replicas: config.nats_replicas,
    partitions: config.queue_partitions,
    max_bytes: config.queue_bytes_max,
    duplicate_window_ms: config.queue_dedupe_ms,
    logger,
  }
}

function nameNatsUrl(error: unknown): never {
  if (!(error instanceof TypeError)) throw error
  throw new ConfigError(`LOOPTRACE_NATS_URL: ${error.message}`, { cause: error })
}

/** Returns the path of the queue in a data folder. */
export function queueFileIn(data_directory: string): string {
  return join(data_directory, 'queue', 'queue.sqlite')
}

/** Opens the queue in a file of the data folder. Closed when the role ends. */
export async function openFileQueue(
  context: RoleContext,
  config: Settings<'queue' | 'folder'>,
): Promise<BroadcastingQueue> {
  const queue = await openSqliteQueue({
    path: queueFileIn(config.data_directory),
    bytes_max: config.queue_bytes_max,
    duplicate_window_ms: config.queue_dedupe_ms,
    logger: context.logger,
  })
  context.parts.defer(() => queue.close())
  watchQueue(context, queue)
  return queue
}

type SpoolParts = {
  queue: Queue
  /** Keeps the ledger of records that are left when the role ends. */
  db: Kysely<IngestTables>
  role: 'proxy' | 'api' | 'all'
}

/**
 * Adds a bounded disk spool to a remote queue. The file is named after the role, because roles that
 * share a data folder must not share a spool. When the role ends, the rest of its grace period is for
 * what is in the spool.
 */
export async function withFileSpool(
  context: RoleContext,
  config: Settings<'process' | 'recording' | 'folder'>,
  { queue, db, role }: SpoolParts,
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
    keepElsewhere: { kind: 'ledger', take: (message) => keepLedgerMessage(db, message) },
    on_spooled: () => spooled.inc({ moved: 'in' }),
    on_replayed: (messages) => spooled.inc({ moved: 'out' }, messages),
  })
  const remaining_ms = graceOf(context, config)
  parts.defer(async () => {
    const left = await publisher.close({ drain_ms: remaining_ms() })
    if (left.messages + left.kept_elsewhere === 0) return
    logger.error(
      { ...left, folder: join(config.data_directory, 'spool') },
      'the role ends while the queue is unavailable: its last records are only on its disk, and are lost with it',
    )
  })
  watchSpool(metrics, publisher)
  return publisher
}

/** Maximum size of the journal, in multiples of the records in memory that it repeats. */
const journalShare = 4

/**
 * Opens the journal of proxied calls in the data folder. Closed when the role ends. Where the folder
 * can't be used, calls are recorded without it: a killed process loses the last ones.
 */
export async function openCallJournal(
  { logger, clock, parts }: Pick<RoleContext, 'logger' | 'clock' | 'parts'>,
  config: Settings<'recording' | 'folder'>,
  role: 'proxy' | 'all',
): Promise<Journal> {
  const log = createQuietLog(logger, clock, quietLogMs)
  try {
    const journal = await openJournal({
      folder: join(config.data_directory, 'journal', role),
      bytes_max: Math.min(config.spool_bytes_max, journalShare * config.record_inflight_bytes_max),
      onFault: ({ cause, write_ms }) =>
        log('the journal of calls rests: a write failed or was slow', { err: cause, write_ms }),
    })
    parts.defer(() => journal.close())
    return journal
  } catch (error) {
    logger.error({ err: error }, 'calls are recorded without a journal: its folder is not usable')
    return absentJournal
  }
}

const quietLogMs = 1_000

/** Returns the rest of the grace period, in milliseconds, at the time of the call. */
function graceOf(
  { stop }: Pick<RoleContext, 'stop'>,
  { drain_delay_ms, grace_period_ms }: Settings<'process'>,
): () => number {
  let told_ms: number | undefined
  const tell = () => {
    told_ms = performance.now()
  }
  stop.addEventListener('abort', tell, { once: true })
  return () => {
    const since_ms = told_ms === undefined ? 0 : performance.now() - told_ms
    return Math.max(0, Math.round(drain_delay_ms + grace_period_ms - since_ms))
  }
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
