import { fileURLToPath } from 'node:url'
import {
  type AppliedMigration,
  compareSchema,
  readMigrations,
  type SchemaStatus,
} from '../migrations/index.ts'
import type { Columnar } from './contract.ts'
import { ColumnarError } from './contract.ts'

/** Where this package keeps its own migrations. */
export const columnarMigrationsDirectory: string = fileURLToPath(
  new URL('./migrations', import.meta.url),
)

/**
 * Compares the server with this code. Rejects with MigrationRefused when an applied file was edited
 * since, and with ColumnarUnavailable.
 */
export async function columnarSchemaStatus({
  columnar,
  directory = columnarMigrationsDirectory,
}: {
  columnar: Columnar
  directory?: string
}): Promise<SchemaStatus> {
  const migrations = await readMigrations(directory)
  return compareSchema(migrations, await readApplied(columnar))
}

const unknownTable = 60
const unknownDatabase = 81

/** What the server's own note says; nothing when there is no note yet. */
export async function readApplied(columnar: Columnar): Promise<AppliedMigration[]> {
  try {
    const notes = await columnar.query<Omit<AppliedMigration, 'finished'>>(
      'SELECT DISTINCT version, name, checksum FROM schema_migrations ORDER BY version LIMIT 10000',
    )
    // ClickHouse notes a migration when all of it is applied.
    return notes.map((note) => ({ ...note, finished: true }))
  } catch (error) {
    const codes = [unknownTable, unknownDatabase]
    if (error instanceof ColumnarError && codes.includes(error.code)) return []
    throw error
  }
}
