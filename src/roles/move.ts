import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  copyQueueFile,
  countFiles,
  type MoveProgress,
  type MoveState,
  moveFiles,
  moveMessages,
  moveRows,
  moveTables,
  openMoveProgress,
  openRowsStore,
  recordMetadata,
} from '../capabilities/move/index.ts'
import { NoAnswer } from '../cli/index.ts'
import type { Blobs } from '../platform/blobs/index.ts'
import {
  type ColumnarServer,
  columnarSchemaStatus,
  migrateColumnar,
} from '../platform/columnar/index.ts'
import { ConfigError, type RoleConfig } from '../platform/config/index.ts'
import { openSqliteQueue } from '../platform/queue/index.ts'
import {
  assertDatabaseEmpty,
  CopyRefused,
  copyDatabase,
  countRows,
  migrateRelational,
  type Relational,
} from '../platform/relational/index.ts'
import { runInInstallation } from '../platform/tenancy/index.ts'
import { runAudited } from './audited-command.ts'
import { explainFolder } from './data-folder.ts'
import { openArchiveBlobs } from './jobs.ts'
import { assertSecretKey, type EmbeddedStores, MoveRefused, openEmbedded } from './move-source.ts'
import { explainPostgres, openPostgres, postgresUrl, type Tables } from './postgres.ts'
import { openClusterQueue } from './queues.ts'
import { oneShotContext, print, type RoleContext } from './running.ts'
import { openClickHouse } from './stores.ts'

type Config = RoleConfig<'all'>

/**
 * Moves the data of an embedded installation into the stores of a cluster: `data_directory` is the
 * source, the addresses of the stores are the target. The source is only read. A killed move
 * continues with the next call. Throws MoveRefused or CopyRefused before anything is changed.
 */
export async function moveData(
  config: Config,
  { is_dry_run, stop }: { is_dry_run: boolean; stop: AbortSignal },
): Promise<number> {
  assertTarget(config)
  return runInInstallation('data of all projects', () => moveAll(config, { is_dry_run, stop }))
}

async function moveAll(
  config: Config,
  { is_dry_run, stop }: { is_dry_run: boolean; stop: AbortSignal },
): Promise<number> {
  await using parts = new AsyncDisposableStack()
  const context = { ...oneShotContext('move', config, parts), stop }
  const source = await openEmbedded(context, config).catch(explainFolder(config.data_directory))
  await assertSecretKey(context, source, config)
  const target = openTarget(context, config)
  const state = await findMove(source, target)
  await assertArchives(source, target)
  if (state?.is_finished) {
    print({ moved: 'before', note: 'this move is complete: start the cluster' })
    return 0
  }
  if (state === undefined) await assertEmptyTarget(config, source, target)
  if (is_dry_run) await plan(context, config, source)
  else await move(context, config, { source, target, state })
  return 0
}

function assertTarget({ postgres_url, clickhouse_url, nats_url }: Config): void {
  const missing = Object.entries({
    LOOPTRACE_POSTGRES_URL: postgres_url,
    LOOPTRACE_CLICKHOUSE_URL: clickhouse_url,
    LOOPTRACE_NATS_URL: nats_url,
  }).flatMap(([name, value]) => (value === undefined ? [name] : []))
  if (missing.length === 0) return
  throw new ConfigError(`${missing.join(', ')}: missing, expected the stores of the cluster`)
}

type Target = {
  relational: Relational<Tables>
  columnar: ColumnarServer
  archives: Blobs | undefined
  progress: MoveProgress
}

function openTarget(context: RoleContext, config: Config): Target {
  const relational = openPostgres(context, config)
  return {
    relational,
    columnar: openClickHouse(context, config),
    archives: openArchiveBlobs(context, config),
    progress: openMoveProgress(relational.pool),
  }
}

/** Returns the recorded move into the target, unless it is one of another source. */
async function findMove(
  { identity }: EmbeddedStores,
  { progress }: Target,
): Promise<MoveState | undefined> {
  const state = await progress.find().catch(explainPostgres)
  if (state === undefined) return undefined
  if (state.id !== identity.id) {
    throw new MoveRefused(
      'the databases of the cluster belong to the move of another installation. Use other databases.',
    )
  }
  if (!state.is_finished && state.position !== identity.position) {
    throw new MoveRefused(
      'the embedded installation ran after the move began, so its data has changed. Empty the databases of the cluster and run the move again.',
    )
  }
  return state
}

async function assertArchives({ archives }: EmbeddedStores, target: Target): Promise<void> {
  if (target.archives !== undefined) return
  const { files } = await countFiles(archives)
  if (files === 0) return
  throw new MoveRefused(
    `the installation has ${files} archive files, and LOOPTRACE_BLOBS_URL is missing. Set it to the bucket of the cluster.`,
  )
}

async function assertEmptyTarget(
  config: Config,
  source: EmbeddedStores,
  { columnar }: Target,
): Promise<void> {
  await assertDatabaseEmpty(postgresUrl(config), moveTables).catch(explainPostgres)
  const { current } = await columnarSchemaStatus({ columnar })
  if (current === 0) return
  const store = openRowsStore(columnar)
  const existing = new Set(await store.listNames())
  for (const { name } of await openRowsStore(source.columnar).listTables()) {
    if (!existing.has(name) || (await store.countRows(name)) === 0) continue
    throw new CopyRefused(
      `the ClickHouse database is not empty: table ${name} has rows. Use an empty database, in which no role has run.`,
    )
  }
}

type Move = { source: EmbeddedStores; target: Target; state: MoveState | undefined }

async function move(context: RoleContext, config: Config, about: Move): Promise<void> {
  const { source, target, state } = about
  const began_ms = performance.now()
  const signal = context.stop
  if (state === undefined) {
    await migrateTarget(context, config, target)
    await target.progress.begin(source.identity)
  }
  if (!state?.is_metadata_moved) {
    const tables = await copyDatabase({
      source_url: source.postgres_url,
      target_url: postgresUrl(config),
      // Copied feedback marks its tasks in the target, as new feedback does.
      excluded: [...moveTables, 'rated_tasks_due'],
      complete: recordMetadata,
      signal,
    })
    const rows = tables.reduce((sum, table) => sum + table.rows, 0)
    print({ moved: 'metadata', tables: tables.length, rows })
  }
  const rows = await moveRows({
    source: openRowsStore(source.columnar),
    target: openRowsStore(target.columnar),
    progress: target.progress,
    ...batchLimits,
    report: (line) => print({ moving: 'rows', ...line }),
    signal,
  })
  print({ moved: 'rows', tables: Object.fromEntries(rows.map((one) => [one.table, one.rows])) })
  if (target.archives !== undefined) {
    const blobs = { source: source.archives, target: target.archives }
    print({ moved: 'archives', ...(await moveFiles(blobs, signal)) })
  }
  print({ moved: 'messages', messages: await moveQueue(context, config, source) })
  await recordMove(context, target, source)
  await target.progress.finish()
  print({ moved: 'all', seconds: Math.round((performance.now() - began_ms) / 1_000) })
}

/**
 * Records the move in the audit trail of the target, which has the records of the source by now. A
 * move that is killed before its end is recorded by the call that ends it.
 */
async function recordMove(
  { clock }: RoleContext,
  { relational: { db } }: Target,
  { identity }: EmbeddedStores,
): Promise<void> {
  await runAudited(
    { clock, db },
    {
      name: 'move',
      resource_type: 'installation',
      resource_id: identity.id,
      work: async () => undefined,
      outcomeOf: () => ({ outcome: 'succeeded' }),
    },
  )
}

/** A batch is in memory once here, and for its insert once in ClickHouse. */
const batchLimits = { batch_rows_max: 50_000, batch_bytes_max: 32 * 1_048_576 }

/** Creates the schema of the target, without the first login. */
async function migrateTarget(
  { logger }: RoleContext,
  config: Config,
  { columnar }: Target,
): Promise<void> {
  await migrateRelational({ url: postgresUrl(config), logger }).catch(explainPostgres)
  const cluster = config.clickhouse_cluster
  await migrateColumnar({ columnar, ...(cluster !== undefined && { cluster }), logger })
}

/** Moves the messages of a copy of the queue, so that the queue itself keeps them. */
async function moveQueue(
  context: RoleContext,
  config: Config,
  { queue_file }: EmbeddedStores,
): Promise<number> {
  const { logger, parts, stop } = context
  const copy = await openQueueCopy(context, config, queue_file)
  if (copy === undefined) return 0
  const queue = await openClusterQueue(context, config)
  if (!(await queue.ready())) throw new NoAnswer('NATS (LOOPTRACE_NATS_URL) is unavailable')
  parts.defer(() => copy.close())
  return moveMessages({ copy, queue, logger }, stop)
}

async function openQueueCopy({ logger, parts }: RoleContext, config: Config, file: string) {
  const folder = await mkdtemp(join(tmpdir(), 'looptrace-move-'))
  parts.defer(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'queue.sqlite')
  if (!(await copyQueueFile(file, path))) return undefined
  // Dead letters become messages again, so the copy may exceed the limit of the queue.
  return openSqliteQueue({ path, bytes_max: 2 * config.queue_bytes_max, logger })
}

/** Prints what would be moved. Writes nothing. */
async function plan(context: RoleContext, config: Config, source: EmbeddedStores): Promise<void> {
  const tables = await countRows(source.postgres_url, moveTables)
  const filled = tables.filter(({ rows }) => rows > 0)
  print({
    would_move: 'metadata',
    tables: Object.fromEntries(filled.map((one) => [one.table, one.rows])),
  })
  const store = openRowsStore(source.columnar)
  const { rows, seconds } = await planRows(store)
  print({ would_move: 'rows', tables: rows, seconds })
  print({ would_move: 'archives', ...(await countFiles(source.archives)) })
  const copy = await openQueueCopy(context, config, source.queue_file)
  const { pending = 0, dead = 0 } = (await copy?.stats()) ?? {}
  await copy?.close()
  print({ would_move: 'messages', messages: pending, dead_letters: dead })
}

/** Rows per second on two shared processors: docs/guides/move-from-embedded-to-cluster.md. */
const rowsPerSecond = 3_000

async function planRows(store: ReturnType<typeof openRowsStore>) {
  const rows: Record<string, number> = {}
  let sum = 0
  for (const { name } of await store.listTables()) {
    rows[name] = await store.countRows(name)
    sum += rows[name]
  }
  return { rows, seconds: Math.ceil(sum / rowsPerSecond) }
}
