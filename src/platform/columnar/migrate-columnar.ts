import { fileURLToPath } from 'node:url'
import {
  type AppliedMigration,
  compareSchema,
  type Migration,
  readMigrations,
  refuseNewer,
  type SchemaStatus,
} from '../migrations/index.ts'
import type { Logger } from '../telemetry/index.ts'
import { checkCluster, quoteText } from './cluster/check-cluster.ts'
import { statementSettings } from './cluster/statement-classes.ts'
import { ColumnarError, type ColumnarServer, ColumnarUnavailable } from './contract.ts'
import { renderStatement, type SchemaTarget } from './render-statement.ts'

export type ColumnarMigrateOptions = {
  columnar: ColumnarServer
  /** Cluster for replicated and distributed tables; a single server without it. */
  cluster?: string
  logger: Logger
  /** Folder of the migrations. Defaults to the folder of this package. */
  directory?: string
  /** Called after each statement. An error ends the run (for tests). */
  after_statement?: (done: { migration: string; statement: number }) => void | Promise<void>
}

/**
 * Creates the database, migrates it to this code's schema and returns the resulting status.
 * ClickHouse has no transactions and no locks, so every statement is idempotent: a killed run is
 * repeated, and concurrent runs do no harm. In a cluster, a current schema needs no statement that
 * waits for other servers; a server that was added later lacks tables, and gets all of them.
 * Rejects with MigrationRefused, ColumnarError or ColumnarUnavailable.
 */
export async function migrateColumnar(options: ColumnarMigrateOptions): Promise<SchemaStatus> {
  const { columnar, cluster, logger } = options
  const directory = options.directory ?? columnarMigrationsDirectory
  const migrations = await readMigrations(directory)
  await columnar.createDatabase(cluster)
  if (cluster !== undefined) await checkCluster(columnar, cluster)
  const before = compareSchema(migrations, await readApplied(columnar))
  refuseNewer(before)
  const incomplete = cluster === undefined ? [] : await findTableGaps(columnar, cluster)
  if (incomplete.length === 0 && before.current > 0 && before.pending.length === 0) return before
  if (incomplete.length > 0) logger.info({ servers: incomplete }, 'servers lack tables')
  const target: SchemaTarget = {
    database: columnar.database,
    ...(cluster !== undefined && { cluster }),
    table_settings: await readTableSettings(columnar),
  }
  for (const template of [...(incomplete.length > 0 ? [database] : []), ...noteTables]) {
    await run(columnar, template.replace('{{database}}', columnar.database), target)
  }
  const status = compareSchema(migrations, await readApplied(columnar))
  refuseNewer(status)
  const pending = status.pending.length
  if (pending > 0) logger.info({ migrations: pending }, 'migrating ClickHouse')
  const first = incomplete.length > 0 ? 0 : status.current
  for (const migration of migrations.slice(first)) await apply(options, migration, target)
  if (cluster !== undefined) await refuseGaps(options, cluster)
  return compareSchema(migrations, await readApplied(columnar))
}

/** Fails while a server that answers lacks tables: its queue of statements is behind. */
async function refuseGaps({ columnar }: ColumnarMigrateOptions, cluster: string): Promise<void> {
  const servers = await findTableGaps(columnar, cluster)
  if (servers.length === 0) return
  throw new ColumnarUnavailable(
    `servers ${servers.join(', ')} of the ClickHouse cluster "${cluster}" lack tables of "${columnar.database}" after the migration, expected all tables on every server that answers. See system.distributed_ddl_queue.`,
  )
}

const database = 'create database if not exists `{{database}}` {{on_cluster}}'

const noteTables = [
  `create table if not exists {{table:schema_migrations}} {{on_cluster}}
  (version UInt32, name String, checksum String, finished_at DateTime64(3, 'UTC') default now64(3))
  engine = {{engine:ReplacingMergeTree(finished_at)}} order by version`,
  '{{distributed:schema_migrations by version}}',
]

async function readTableSettings(columnar: ColumnarServer): Promise<ReadonlySet<string>> {
  const rows = await columnar.query<{ name: string }>('SELECT name FROM system.merge_tree_settings')
  return new Set(rows.map(({ name }) => name))
}

/** Longer than any request, because a statement may rewrite a large table. */
const statement_ms_max = 3_600_000

async function apply(
  { columnar, cluster, logger, after_statement }: ColumnarMigrateOptions,
  { version, name, checksum, statements }: Migration,
  target: SchemaTarget,
): Promise<void> {
  for (const [index, { text }] of statements.entries()) {
    await run(columnar, text, target)
    await after_statement?.({ migration: name, statement: index + 1 })
  }
  await columnar.command(
    `INSERT INTO schema_migrations (version, name, checksum)
     SELECT {version:UInt32}, {name:String}, {checksum:String}`,
    { version, name, checksum },
    { settings: statementSettings(cluster).insert },
  )
  logger.debug({ migration: name }, 'migrated')
}

async function run(
  columnar: ColumnarServer,
  template: string,
  target: SchemaTarget,
): Promise<void> {
  const statement = renderStatement(template, target)
  if (statement !== '') await columnar.command(statement, {}, { timeout_ms: statement_ms_max })
}

/** Folder of the migrations of this package. */
export const columnarMigrationsDirectory: string = fileURLToPath(
  new URL('./migrations', import.meta.url),
)

/**
 * Compares the server with the migrations of this code. Rejects with MigrationRefused when an
 * applied migration differs from this code's file, and with ColumnarUnavailable.
 */
export async function columnarSchemaStatus({
  columnar,
  directory = columnarMigrationsDirectory,
}: {
  columnar: ColumnarServer
  directory?: string
}): Promise<SchemaStatus> {
  const migrations = await readMigrations(directory)
  return compareSchema(migrations, await readApplied(columnar))
}

const unknownTable = 60
const unknownDatabase = 81

/** Reads the recorded migrations; an empty list before the first run. */
async function readApplied(columnar: ColumnarServer): Promise<AppliedMigration[]> {
  try {
    const notes = await columnar.query<Omit<AppliedMigration, 'finished'>>(
      'SELECT DISTINCT version, name, checksum FROM schema_migrations ORDER BY version LIMIT 10000',
    )
    // A migration is recorded after all of its statements.
    return notes.map((note) => ({ ...note, finished: true }))
  } catch (error) {
    const codes = [unknownTable, unknownDatabase]
    if (error instanceof ColumnarError && codes.includes(error.code)) return []
    throw error
  }
}

/**
 * Returns the servers of a cluster that lack tables of the database which others have, of those that
 * answer. A server that was added to the cluster lacks them all: the statements that create tables
 * went to the servers of their time.
 */
async function findTableGaps(
  columnar: Pick<ColumnarServer, 'query' | 'database'>,
  cluster: string,
): Promise<string[]> {
  const rows = await columnar.query<{ host: string; tables: string[] }>(
    `SELECT host, groupUniqArrayIf(name, name != '') AS tables FROM (
       SELECT hostName() AS host, name FROM clusterAllReplicas(${quoteText(cluster)}, view(
         SELECT name FROM system.tables WHERE database = {database:String}
         UNION ALL SELECT ''
       ))
     ) GROUP BY host ORDER BY host`,
    { database: columnar.database },
  )
  const all = new Set(rows.flatMap(({ tables }) => tables))
  return rows.filter(({ tables }) => tables.length < all.size).map(({ host }) => host)
}
