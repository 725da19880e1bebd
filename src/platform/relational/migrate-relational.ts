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
import { createTenantPolicies } from './tenant-policies.ts'

/** Options of a run of the migrations. */
export type MigrateOptions = {
  url: string
  logger: Logger
  /** Folder of the migrations. Defaults to the folder of this package. */
  directory?: string
  /** Maximum wait for another migrator; 10 minutes by default. */
  lock_timeout_ms?: number
  /** Called after each committed statement. An error ends the run (for tests). */
  after_statement?: (done: AppliedStatement) => void | Promise<void>
}

/** A committed statement. `statement` counts from 1. */
export type AppliedStatement = { migration: string; statement: number; statement_count: number }

/** The database rejected a statement of a migration. `cause` is the driver's error. */
export class MigrationFailed extends Error {
  override readonly name = 'MigrationFailed'
}

/**
 * Migrates the database to this code's schema and returns the resulting status. Concurrent runs
 * wait for each other, and a run after a kill resumes at the first statement that is not recorded.
 * Throws MigrationRefused before it changes anything, MigrationFailed when a statement fails, and
 * the driver's error when the store is unavailable.
 */
export async function migrateRelational(options: MigrateOptions): Promise<SchemaStatus> {
  const migrations = await readMigrations(options.directory ?? relationalMigrationsDirectory)
  await using holder = await connect(options, 'looptrace migrate lock')
  await using worker = await connect(options, 'looptrace migrate')
  refuseOldServer((await worker.client.query('show server_version')).rows[0]?.server_version)
  await lock(holder.client, options.lock_timeout_ms ?? lockTimeoutMs)
  const { client } = worker
  await client.query(progressTable)
  const assertLocked = async () => {
    await holder.client.query('select 1')
  }
  await applyPending({ client, migrations, options, assertLocked })
  await assertLocked()
  await createTenantPolicies(client)
  return compareSchema(migrations, await readProgress(client))
}

async function connect(
  { url, logger }: MigrateOptions,
  application_name: string,
): Promise<AsyncDisposable & { client: pg.Client }> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    application_name,
  })
  client.on('error', ({ message }) => {
    logger.warn({ reason: message }, 'the migration lost a connection')
  })
  await client.connect()
  return { client, [Symbol.asyncDispose]: () => client.end() }
}

/** The oldest version whose statements the migrations use: `detach partition … concurrently`. */
const minServerVersion = 14

/** Throws MigrationRefused for a `server_version` of PostgreSQL that is too old. */
export function refuseOldServer(version: string): void {
  if (Number.parseInt(version, 10) >= minServerVersion) return
  throw new MigrationRefused(
    `the server is PostgreSQL ${version}, expected ${minServerVersion} or later: upgrade it, and run migrate again`,
  )
}

const connectTimeoutMs = 10_000
const lockTimeoutMs = 600_000
const lockRetryMs = 50

/** An arbitrary number that must never change. Locks are per database. */
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

type Run = {
  client: pg.Client
  migrations: readonly Migration[]
  options: MigrateOptions
  /** Rejects if the connection with the lock is lost. */
  assertLocked: () => Promise<void>
}

/**
 * Takes the advisory lock in a transaction that stays open until the connection ends: a pooler
 * keeps a connection of the server for a transaction, but not for a session. The transaction has no
 * snapshot between statements, so `create index concurrently` does not wait for it. Polls for the
 * lock, because a waiting statement would hold a snapshot.
 */
async function lock(client: pg.Client, timeoutMs: number): Promise<void> {
  const endMs = performance.now() + timeoutMs
  for (;;) {
    await client.query('begin')
    await client.query('set local idle_in_transaction_session_timeout = 0')
    const answer = await client.query('select pg_try_advisory_xact_lock($1) as locked', [lockKey])
    if (answer.rows[0]?.locked === true) return
    await client.query('rollback')
    if (performance.now() > endMs) {
      throw new MigrationRefused(
        `another migrator held the lock for ${timeoutMs} ms: run migrate again`,
      )
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
    await run.assertLocked()
    const applied = { migration: name, statement: index + 1, statement_count: statements.length }
    const work = statement.transactional ? inTransaction : outsideTransaction
    await work(run.client, statement.text, () => note(run.client, version, index + 1)).catch(
      (error) => {
        const where = `migration ${name}, statement ${applied.statement} of ${statements.length}`
        throw new MigrationFailed(`${where}: ${error.message}`, { cause: error })
      },
    )
    await run.options.after_statement?.(applied)
  }
}

type Note = () => Promise<void>

async function inTransaction(client: pg.Client, text: string, note: Note): Promise<void> {
  await client.query('begin')
  try {
    // The owner of the tables is also subject to their policies.
    await client.query("set local looptrace.scope = 'installation'")
    await client.query(text)
    await note()
    await client.query('commit')
  } catch (error) {
    // After a broken connection, the server rolls back.
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
    throw new MigrationRefused(`schema_migrations ${version}: changed by something else meanwhile`)
  }
}

/** Folder of the migrations of this package. */
const relationalMigrationsDirectory = fileURLToPath(new URL('./migrations', import.meta.url))

/** Progress of one migration as recorded in the database. */
type MigrationProgress = AppliedMigration & { statements_done: number }

/**
 * Compares the database with the migrations of this code. Throws MigrationRefused when an applied
 * migration differs from this code's file, and the driver's error when the store is unavailable.
 */
export async function relationalSchemaStatus(options: {
  pool: Pick<pg.Pool, 'query'>
  /** Folder of the migrations. Defaults to the folder of this package. */
  directory?: string
}): Promise<SchemaStatus> {
  const migrations = await readMigrations(options.directory ?? relationalMigrationsDirectory)
  return compareSchema(migrations, await readProgress(options.pool))
}

/** Reads the recorded migrations, oldest first; an empty list before the first run. */
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
