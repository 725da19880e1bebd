import {
  type ArchiveTables,
  type Kysely,
  type RetentionTables,
  type Selectable,
  sql,
} from '../../../platform/relational/index.ts'

/** The database of archives and slices. */
export type ArchiveDb = Kysely<ArchiveTables>
/** The database of restores, which also read the erasures. */
export type RestoreDb = Kysely<ArchiveTables & RetentionTables>
/** The record of a file. */
export type RecordedFile = Selectable<ArchiveTables['archive_files']>
/** The record of a slice. */
export type Slice = Selectable<ArchiveTables['restored_slices']>

/** Records a file that was written and read back; idempotent. */
export async function recordFile(db: ArchiveDb, file: RecordedFile): Promise<void> {
  await db
    .insertInto('archive_files')
    .values({ ...file, position: JSON.stringify(file.position) })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Returns the recorded files of a run, in order. */
export function findFiles(db: ArchiveDb, job_id: string): Promise<RecordedFile[]> {
  return db
    .selectFrom('archive_files')
    .selectAll()
    .where('job_id', '=', job_id)
    .orderBy('ordinal')
    .execute()
}

/** Returns the file that a run recorded last. */
export function lastFile(db: ArchiveDb, job_id: string): Promise<RecordedFile | undefined> {
  return db
    .selectFrom('archive_files')
    .selectAll()
    .where('job_id', '=', job_id)
    .orderBy('ordinal', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Returns the totals of a run's files. */
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

/** Deletes the records of a run's files, from an ordinal on. */
export async function forgetFiles(
  db: ArchiveDb,
  { job_id, ordinal }: Pick<RecordedFile, 'job_id' | 'ordinal'>,
): Promise<void> {
  await db
    .deleteFrom('archive_files')
    .where('job_id', '=', job_id)
    .where('ordinal', '>=', ordinal)
    .execute()
}

/** Counts the rows of a run's files, from an ordinal on. */
export async function countFileRows(
  db: ArchiveDb,
  { job_id, ordinal }: Pick<RecordedFile, 'job_id' | 'ordinal'>,
): Promise<number> {
  const { rows } = await db
    .selectFrom('archive_files')
    .select(({ fn }) => fn.coalesce(fn.sum<string>('row_count'), sql<string>`0`).as('rows'))
    .where('job_id', '=', job_id)
    .where('ordinal', '>=', ordinal)
    .executeTakeFirstOrThrow()
  return Number(rows)
}
