import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { sleep } from '../../kernel/time.ts'
import {
  type AppliedMigration,
  compareSchema,
  type Migration,
  MigrationRefused,
  readMigrations,
  refuseNewer,
  type SchemaStatus,
} from '../migrations/index.ts'
import type { Logger } from '../telemetry/index.ts'

/** What a run of the migrations needs. */
export type MigrateOptions = {
  /** A session of its own: not through a pooler that shares connections by transaction. */
  url: string
  logger: Logger
  /** Folder of the migrations; this package's own by default. */
  directory?: string
  /** How long to wait for another migrator to end; 10 minutes by default. */
  lock_timeout_ms?: number
  /** Called after each committed statement; what it throws ends the run there (for tests). */
  after_statement?: (done: AppliedStatement) => void | Promise<void>
}

/** A statement that is in the database for good. `statement` counts from 1. */
export type AppliedStatement = { migration: string; statement: number; statement_count: number }

/** A statement of a migration that the database refused; `cause` is the driver's error. */
export class MigrationFailed extends Error {
  override readonly name = 'MigrationFailed'
}

/**
 * Brings the database to this code's schema and answers the status it left it in. May be run by
 * many at once (they take turns) and again after a kill at any point: it goes on at the first
 * statement that is not noted as done. Throws MigrationRefused before it changes anything,
 * MigrationFailed when a statement fails, and the driver's error when the store is out of reach.
 */
export async function migrateRelational(options: MigrateOptions): Promise<SchemaStatus> {
  const migrations = await readMigrations(options.directory ?? relationalMigrationsDirectory)
  const client = new pg.Client({
    connectionString: options.url,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    application_name: 'looptrace migrate',
  })
  client.on('error', ({ message }) => {
    options.logger.warn({ reason: message }, 'the migration lost its connection')
  })
  await client.connect()
  try {
    await lock(client, options.lock_timeout_ms ?? lockTimeoutMs)
    await client.query(progressTable)
    await applyPending({ client, migrations, options })
    return compareSchema(migrations, await readProgress(client))
  } finally {
    await client.end()
  }
}

const connectTimeoutMs = 10_000
const lockTimeoutMs = 600_000
const lockRetryMs = 50

/** Any number will do, as long as it never changes: locks are the database's own. */
const lockKey = 7_061_853

const progressTable = `
  create table if not exists schema_migrations (
    version int primary key,
    name text not null,
    checksum text not null,
    statement_count int not null,
    statements_done int not null default 0,
    started_at timestamptz(3) not null default now(),
    finished_at timestamptz(3)
  )`

type Run = { client: pg.Client; migrations: readonly Migration[]; options: MigrateOptions }

/**
 * Takes the advisory lock, which ends with the connection. Asks again and again: a statement that
 * waits for the lock would hold a snapshot, and `create index concurrently` of the lock's holder
 * waits for old snapshots, so the two would wait for each other.
 */
async function lock(client: pg.Client, timeoutMs: number): Promise<void> {
  const endMs = performance.now() + timeoutMs
  for (;;) {
    const answer = await client.query('select pg_try_advisory_lock($1) as locked', [lockKey])
    if (answer.rows[0]?.locked === true) return
    if (performance.now() > endMs) {
      throw new MigrationRefused(`another migrator held the lock for ${timeoutMs} ms: try again`)
    }
    await sleep(lockRetryMs)
  }
}

async function applyPending(run: Run): Promise<void> {
  const progress = await readProgress(run.client)
  const status = compareSchema(run.migrations, progress)
  refuseNewer(status)
  const pending = status.pending.length
  if (pending > 0) run.options.logger.info({ migrations: pending }, 'migrating PostgreSQL')
  for (const migration of run.migrations.slice(status.current)) {
    const done = progress.find((row) => row.version === migration.version)?.statements_done ?? 0
    await apply(run, migration, done)
    run.options.logger.debug({ migration: migration.name, resumed_at: done }, 'migrated')
  }
}

async function apply(run: Run, migration: Migration, done: number): Promise<void> {
  const { version, name, checksum, statements } = migration
  await run.client.query(
    `insert into schema_migrations (version, name, checksum, statement_count)
     values ($1, $2, $3, $4) on conflict do nothing`,
    [version, name, checksum, statements.length],
  )
  for (const [index, statement] of statements.entries()) {
    if (index < done) continue
    const about = { migration: name, statement: index + 1, statement_count: statements.length }
    const work = statement.transactional ? inTransaction : outsideTransaction
    await work(run.client, statement.text, () => note(run.client, version, index + 1)).catch(
      (error) => {
        const where = `migration ${name}, statement ${about.statement} of ${statements.length}`
        throw new MigrationFailed(`${where}: ${error.message}`, { cause: error })
      },
    )
    await run.options.after_statement?.(about)
  }
}

type Note = () => Promise<void>

async function inTransaction(client: pg.Client, text: string, note: Note): Promise<void> {
  await client.query('begin')
  try {
    await client.query(text)
    await note()
    await client.query('commit')
  } catch (error) {
    // The connection may be what broke; then the server rolls back by itself.
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

async function outsideTransaction(client: pg.Client, text: string, note: Note): Promise<void> {
  await client.query(text)
  await note()
}

async function note(client: pg.Client, version: number, done: number): Promise<void> {
  const noted = await client.query(
    `update schema_migrations
     set statements_done = $2, finished_at = case when statement_count = $2 then now() end
     where version = $1 and statements_done = $2 - 1`,
    [version, done],
  )
  if (noted.rowCount !== 1) {
    throw new MigrationRefused(`schema_migrations ${version}: another hand than ours changed it`)
  }
}

/** Where this package keeps its own migrations. */
const relationalMigrationsDirectory = fileURLToPath(new URL('./migrations', import.meta.url))

/** What the database has noted about one migration. */
type MigrationProgress = AppliedMigration & { statements_done: number }

/**
 * Compares the database with the migrations of this code. Throws MigrationRefused when an applied
 * migration is not the one this code has, and the driver's error when the store is out of reach.
 */
export async function relationalSchemaStatus(options: {
  pool: Pick<pg.Pool, 'query'>
  /** Folder of the migrations; this package's own by default. */
  directory?: string
}): Promise<SchemaStatus> {
  const migrations = await readMigrations(options.directory ?? relationalMigrationsDirectory)
  return compareSchema(migrations, await readProgress(options.pool))
}

/** Reads the notes of the runner, oldest first; none when it never ran here. */
async function readProgress(
  connection: Pick<pg.Pool, 'query'>,
): Promise<readonly MigrationProgress[]> {
  const table = await connection.query("select to_regclass('schema_migrations') is not null as ran")
  if (table.rows[0]?.ran !== true) return []
  const notes = await connection.query<MigrationProgress>(
    `select version, name, checksum, statements_done, finished_at is not null as finished
     from schema_migrations order by version`,
  )
  return notes.rows
}
