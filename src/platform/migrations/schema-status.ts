import { type Migration, MigrationRefused } from './migration-files.ts'

/** The schema of a database compared with the migrations of this code. */
export type SchemaStatus = {
  /** Number of the last migration up to which all are fully applied; 0 when none is. */
  current: number
  /** Number of the last migration of this code. */
  latest: number
  /** Names of this code's migrations that are not fully applied, in order. */
  pending: readonly string[]
  /** Names of migrations in the database that this code does not have. */
  newer: readonly string[]
}

/** A migration as recorded in a store. `finished`: all of its statements are applied. */
export type AppliedMigration = {
  version: number
  name: string
  checksum: string
  finished: boolean
}

/**
 * Throws MigrationRefused unless the database is exactly at this code's schema, for `migrate
 * check`. A running server accepts a newer schema, because migrations run before the roll-out of
 * the code that needs them.
 */
export function assertSchemaCurrent(status: SchemaStatus): void {
  refuseNewer(status)
  if (status.pending.length === 0) return
  throw new MigrationRefused(
    `the schema is at ${status.current} of ${status.latest}: run migrate for ${status.pending.join(', ')}`,
  )
}

/** Throws MigrationRefused when the database is newer than this code. */
export function refuseNewer(status: SchemaStatus): void {
  if (status.newer.length === 0) return
  throw new MigrationRefused(
    `the schema has ${status.newer.join(', ')}, this code ends at ${status.latest}: use a newer version`,
  )
}

/**
 * Compares this code's migrations with the migrations recorded in a store. Throws MigrationRefused
 * when an applied migration differs from this code's file.
 */
export function compareSchema(
  migrations: readonly Migration[],
  progress: readonly AppliedMigration[],
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

function refuseChanged(row: AppliedMigration, file: Migration | undefined): void {
  if (file === undefined || file.checksum === row.checksum) return
  throw new MigrationRefused(
    `migration ${file.name}: checksum ${file.checksum.slice(0, 12)}, but ` +
      `${row.checksum.slice(0, 12)} is applied: undo the change and write a new migration`,
  )
}
