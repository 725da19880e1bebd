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
import { ColumnarError, type ColumnarServer } from './contract.ts'
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
 * repeated, and concurrent runs do no harm. Rejects with MigrationRefused, ColumnarError or
 * ColumnarUnavailable.
 */
export async function migrateColumnar(options: ColumnarMigrateOptions): Promise<SchemaStatus> {
  const { columnar, cluster } = options
  const directory = options.directory ?? columnarMigrationsDirectory
  const migrations = await readMigrations(directory)
  await columnar.createDatabase(cluster)
  const target: SchemaTarget = {
    database: columnar.database,
    ...(cluster !== undefined && { cluster }),
    table_settings: await readTableSettings(columnar),
  }
  for (const template of noteTables) await run(columnar, template, target)
  const status = compareSchema(migrations, await readApplied(columnar))
  refuseNewer(status)
  const pending = status.pending.length
  if (pending > 0) options.logger.info({ migrations: pending }, 'migrating ClickHouse')
  for (const migration of migrations.slice(status.current)) {
    await apply(options, migration, target)
  }
  return compareSchema(migrations, await readApplied(columnar))
}

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
  { columnar, logger, after_statement }: ColumnarMigrateOptions,
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
    { settings: { insert_distributed_sync: 1 } },
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
