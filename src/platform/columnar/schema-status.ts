import type { Columnar } from './contract.ts'
import { ColumnarError } from './contract.ts'
import {
  type ColumnarMigration,
  ColumnarMigrationRefused,
  columnarMigrationsDirectory,
  readColumnarMigrations,
} from './migration-files.ts'

/** How far the server's schema is, against the migrations of this code. */
export type ColumnarSchemaStatus = {
  /** The last migration that is applied in full, without a hole below; 0 for none. */
  current: number
  /** The last migration this code has. */
  latest: number
  /** Names of this code's migrations that are not applied in full, in order. */
  pending: readonly string[]
  /** Names of migrations the server has and this code does not. */
  newer: readonly string[]
}

export type AppliedMigration = { version: number; name: string; checksum: string }

/**
 * Compares the server with this code. Rejects with ColumnarMigrationRefused when an applied file
 * was edited since, and with ColumnarUnavailable.
 */
export async function columnarSchemaStatus({
  columnar,
  directory = columnarMigrationsDirectory,
}: {
  columnar: Columnar
  directory?: string
}): Promise<ColumnarSchemaStatus> {
  const migrations = await readColumnarMigrations(directory)
  return compareColumnarSchema(migrations, await readApplied(columnar))
}

const unknownTable = 60
const unknownDatabase = 81

/** What the server's own note says; nothing when there is no note yet. */
export async function readApplied(columnar: Columnar): Promise<AppliedMigration[]> {
  try {
    return await columnar.query<AppliedMigration>(
      'SELECT DISTINCT version, name, checksum FROM schema_migrations ORDER BY version LIMIT 10000',
    )
  } catch (error) {
    const codes = [unknownTable, unknownDatabase]
    if (error instanceof ColumnarError && codes.includes(error.code)) return []
    throw error
  }
}

/** Compares files and notes; see columnarSchemaStatus. */
export function compareColumnarSchema(
  migrations: readonly ColumnarMigration[],
  applied: readonly AppliedMigration[],
): ColumnarSchemaStatus {
  for (const note of applied) refuseEdited(note, migrations[note.version - 1])
  const done = new Set(applied.map((note) => note.version))
  const pending = migrations.filter((migration) => !done.has(migration.version))
  const newer = applied.filter((note) => note.version > migrations.length)
  const highest = Math.max(0, ...done)
  return {
    current: pending[0] === undefined ? highest : pending[0].version - 1,
    latest: migrations.length,
    pending: pending.map((migration) => migration.name),
    newer: newer.map((note) => note.name),
  }
}

function refuseEdited(note: AppliedMigration, migration: ColumnarMigration | undefined): void {
  if (migration === undefined || migration.checksum === note.checksum) return
  throw new ColumnarMigrationRefused(
    `${migration.name} was edited after it was applied: checksum ${migration.checksum.slice(0, 12)}, but ${note.checksum.slice(0, 12)} is applied`,
  )
}
