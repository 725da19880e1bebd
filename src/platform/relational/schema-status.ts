import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import {
  type AppliedMigration,
  compareSchema,
  readMigrations,
  type SchemaStatus,
} from '../migrations/index.ts'

/** Where this package keeps its own migrations. */
export const relationalMigrationsDirectory = fileURLToPath(new URL('./migrations', import.meta.url))

/** What the database has noted about one migration. */
export type MigrationProgress = AppliedMigration & { statements_done: number }

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
