import { type Migration, MigrationRefused } from './migration-files.ts'

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

/** A migration that a store has noted; `finished` once all of its statements are applied. */
export type AppliedMigration = {
  version: number
  name: string
  checksum: string
  finished: boolean
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

/**
 * Compares this code's migrations with what a store has noted. Throws MigrationRefused when an
 * applied one is not the one this code has.
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
