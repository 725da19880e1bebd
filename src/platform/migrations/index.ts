import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'

/** One numbered file of SQL, split into statements. */
export type Migration = {
  version: number
  /** The file's name without `.sql`, such as `0001_schema`. */
  name: string
  /**
   * SHA-256 in hex of the text, with `\n` as line ends on every platform. Lines of comments do not
   * count, so that the description of a table can change after it was applied.
   */
  checksum: string
  statements: readonly MigrationStatement[]
}

/**
 * One step of a migration. If `transactional`, PostgreSQL applies it in one transaction with its
 * progress. ClickHouse has no transactions.
 */
type MigrationStatement = { text: string; transactional: boolean }

/** A schema or a set of files that cannot be migrated. The message says what to do. */
export class MigrationRefused extends Error {
  override readonly name = 'MigrationRefused'
}

/** Reads `NNNN_name.sql` files in order. Throws MigrationRefused for a gap or an invalid name. */
export async function readMigrations(directory: string): Promise<readonly Migration[]> {
  const names = (await readdir(directory)).sort()
  const migrations: Migration[] = []
  for (const file of names) {
    const migration = parseMigration(file, await readFile(`${directory}/${file}`, 'utf8'))
    if (migration.version !== migrations.length + 1) {
      throw new MigrationRefused(
        `migration ${file}: expected number ${migrations.length + 1} here, without gaps or duplicates`,
      )
    }
    migrations.push(migration)
  }
  return migrations
}

/**
 * Splits a file into statements at lines that contain only `-- statement`. Semicolons are no
 * separators: they also occur in function bodies, dollar quotes, strings and comments, and a wrong
 * split would leave a half-applied schema.
 *
 * `-- statement without transaction` starts a statement that PostgreSQL rejects in a transaction,
 * such as `create index concurrently`. It runs again after a kill, so it must be idempotent: create
 * the index `if not exists`, and in the next statement `reindex index concurrently`, because a
 * killed build leaves an invalid index.
 */
export function parseMigration(file: string, source: string): Migration {
  const match = /^(\d{4})_[a-z0-9_]+\.sql$/.exec(file)
  if (match === null) {
    throw new MigrationRefused(`migration ${file}: expected a name like 0001_what_it_adds.sql`)
  }
  const text = source.replaceAll('\r\n', '\n')
  const statements = splitStatements(text)
  if (statements.length === 0)
    throw new MigrationRefused(`migration ${file}: expected at least one statement`)
  return {
    version: Number(match[1]),
    name: file.slice(0, -'.sql'.length),
    checksum: createHash('sha256').update(withoutComments(text)).digest('hex'),
    statements,
  }
}

const separator = /^-- statement( without transaction)?$/

/** Removes the lines of comments except separators. */
function withoutComments(text: string): string {
  const lines = text.split('\n')
  return lines.filter((line) => separator.test(line.trimEnd()) || !/^\s*--/.test(line)).join('\n')
}

function splitStatements(text: string): MigrationStatement[] {
  const statements: { lines: string[]; transactional: boolean }[] = []
  let current = { lines: [] as string[], transactional: true }
  for (const line of text.split('\n')) {
    const match = separator.exec(line.trimEnd())
    if (match === null) {
      current.lines.push(line)
      continue
    }
    statements.push(current)
    current = { lines: [], transactional: match[1] === undefined }
  }
  statements.push(current)
  return statements
    .filter(({ lines }) => lines.some((line) => !/^\s*(--.*)?$/.test(line)))
    .map(({ lines, transactional }) => ({ text: lines.join('\n').trim(), transactional }))
}

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
 * when an applied migration differs from this code's file or has another name.
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
  if (file.name !== row.name) {
    throw new MigrationRefused(
      `the schema has migration ${row.name}, this code has ${file.name} in its place: no migration leads from that unreleased schema to this one. Start with empty databases and an empty data folder, or keep the commit that made the schema`,
    )
  }
  throw new MigrationRefused(
    `migration ${file.name}: checksum ${file.checksum.slice(0, 12)}, but ` +
      `${row.checksum.slice(0, 12)} is applied: undo the change and write a new migration`,
  )
}
