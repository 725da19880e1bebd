import {
  type ArchiveTables,
  type Kysely,
  type RetentionTables,
  type Selectable,
  sql,
} from '../../../platform/relational/index.ts'

/** Where archives and slices are noted. */
export type ArchiveDb = Kysely<ArchiveTables>
/** Where restores read what was erased, too. */
export type RestoreDb = Kysely<ArchiveTables & RetentionTables>
/** A file as it is noted. */
export type NotedFile = Selectable<ArchiveTables['archive_files']>
/** A slice as it is noted. */
export type Slice = Selectable<ArchiveTables['restored_slices']>

/** Notes a file that is written and read back; again is fine. */
export async function noteFile(db: ArchiveDb, file: NotedFile): Promise<void> {
  await db
    .insertInto('archive_files')
    .values({ ...file, position: JSON.stringify(file.position) })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** The files of a run, in their order. */
export function notedFiles(db: ArchiveDb, job_id: string): Promise<NotedFile[]> {
  return db
    .selectFrom('archive_files')
    .selectAll()
    .where('job_id', '=', job_id)
    .orderBy('ordinal')
    .execute()
}

/** The file that a run noted last. */
export function lastFile(db: ArchiveDb, job_id: string): Promise<NotedFile | undefined> {
  return db
    .selectFrom('archive_files')
    .selectAll()
    .where('job_id', '=', job_id)
    .orderBy('ordinal', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** What the files of a run hold, all together. */
export async function filesTotal(db: ArchiveDb, job_id: string) {
  const total = await db
    .selectFrom('archive_files')
    .select(({ fn }) => [
      sql<number>`count(*)`.as('files'),
      fn.coalesce(fn.sum<string>('row_count'), sql<string>`0`).as('rows'),
      fn.coalesce(fn.sum<string>('bytes'), sql<string>`0`).as('bytes'),
    ])
    .where('job_id', '=', job_id)
    .executeTakeFirstOrThrow()
  return { files: Number(total.files), rows: Number(total.rows), bytes: Number(total.bytes) }
}

/** Forgets the files of a run from one on: they are written again. */
export async function forgetFiles(
  db: ArchiveDb,
  { job_id, ordinal }: Pick<NotedFile, 'job_id' | 'ordinal'>,
): Promise<void> {
  await db
    .deleteFrom('archive_files')
    .where('job_id', '=', job_id)
    .where('ordinal', '>=', ordinal)
    .execute()
}

/** Rows of the files of a run from one on. */
export async function rowsFrom(
  db: ArchiveDb,
  { job_id, ordinal }: Pick<NotedFile, 'job_id' | 'ordinal'>,
): Promise<number> {
  const { rows } = await db
    .selectFrom('archive_files')
    .select(({ fn }) => fn.coalesce(fn.sum<string>('row_count'), sql<string>`0`).as('rows'))
    .where('job_id', '=', job_id)
    .where('ordinal', '>=', ordinal)
    .executeTakeFirstOrThrow()
  return Number(rows)
}
