import type pg from 'pg'
import {
  type Migration,
  MigrationRefused,
  readMigrations,
  relationalMigrationsDirectory,
} from './migration-files.ts'

/** How far a database is, against what this code knows. */
export type SchemaStatus = {
  /** The last migration that is applied in full, without a hole below; 0 for none. */
  current: number
  /** The last migration this code has. */
  latest: number
  /** Names of this code's migrations that are not applied in full, in order. */
  pending: readonly string[]
  /** Names of migrations the database has and this code does not. */
  newer: readonly string[]
}

/** What the database has noted about one migration. */
export type MigrationProgress = {
  version: number
  name: string
  checksum: string
  statements_done: number
  finished: boolean
}

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

/**
 * Throws MigrationRefused unless the database is exactly at this code's schema. That is what
 * `migrate check` asks; a server that runs on may live with a newer one, for migrations go
 * before the roll-out of the code that needs them.
 */
export function assertSchemaCurrent(status: SchemaStatus): void {
  refuseNewer(status)
  if (status.pending.length === 0) return
  throw new MigrationRefused(
    `the schema is at ${status.current} of ${status.latest}: run migrate for ${status.pending.join(', ')}`,
  )
}

/** Throws MigrationRefused when the database is ahead of this code. */
export function refuseNewer(status: SchemaStatus): void {
  if (status.newer.length === 0) return
  throw new MigrationRefused(
    `the schema has ${status.newer.join(', ')}, this code ends at ${status.latest}: run newer code`,
  )
}

/** Compares files and notes; see relationalSchemaStatus. */
export function compareSchema(
  migrations: readonly Migration[],
  progress: readonly MigrationProgress[],
): SchemaStatus {
  for (const row of progress) refuseChanged(row, migrations[row.version - 1])
  const finished = new Set(progress.filter((row) => row.finished).map((row) => row.version))
  const pending = migrations.filter((migration) => !finished.has(migration.version))
  const newer = progress.filter((row) => row.version > migrations.length)
  const hole = pending.find((migration) => progress.some((row) => row.version > migration.version))
  if (hole !== undefined) {
    throw new MigrationRefused(
      `migration ${hole.name} is not applied, but later ones are: number it after them`,
    )
  }
  return {
    current: newer.findLast((row) => row.finished)?.version ?? migrations.length - pending.length,
    latest: migrations.length,
    pending: pending.map((migration) => migration.name),
    newer: newer.map((row) => row.name),
  }
}

function refuseChanged(row: MigrationProgress, file: Migration | undefined): void {
  if (file === undefined || file.checksum === row.checksum) return
  throw new MigrationRefused(
    `migration ${file.name}: checksum ${file.checksum.slice(0, 12)}, but ` +
      `${row.checksum.slice(0, 12)} is applied: undo the change and write a new migration`,
  )
}

/** Reads the notes of the runner, oldest first; none when it never ran here. */
export async function readProgress(
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
