import type { ArchiveTables, JobTables, Kysely } from '../../../../platform/relational/index.ts'
import type { ArchiveDb, Slice } from '../store.ts'

type SliceKey = { slice_id: string; project_id: string }

/** Returns a slice of the project. */
export function findSlice(db: ArchiveDb, key: SliceKey): Promise<Slice | undefined> {
  return db
    .selectFrom('restored_slices')
    .selectAll()
    .where('project_id', '=', key.project_id)
    .where('id', '=', key.slice_id)
    .executeTakeFirst()
}

/** A slice to restore. */
export type NewSlice = Pick<Slice, 'id' | 'project_id' | 'name' | 'archive_run_id' | 'job_id'> &
  Pick<Slice, 'window_from' | 'window_to' | 'created_by'> & {
    kinds: readonly string[]
    created_at: Date
    expires_at: Date
  }

/** Inserts a slice; undefined when the name is taken in the project. */
export function insertSlice(db: ArchiveDb, slice: NewSlice): Promise<Slice | undefined> {
  return db
    .insertInto('restored_slices')
    .values({ ...slice, kinds: JSON.stringify(slice.kinds) })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()
}

/** Makes a slice visible to queries; false when it was deleted meanwhile. */
export async function openSlice(
  db: ArchiveDb,
  { slice_id, project_id, ...sums }: SliceKey & Pick<Slice, 'row_count' | 'bytes' | 'erased_rows'>,
): Promise<boolean> {
  const opened = await db
    .updateTable('restored_slices')
    .set({ ...sums, state: 'ready' })
    .where('project_id', '=', project_id)
    .where('id', '=', slice_id)
    .where('state', 'in', ['restoring', 'ready'])
    .returning('id')
    .executeTakeFirst()
  return opened !== undefined
}

/** Hides a slice from queries; its rows are still to be dropped. */
export function hideSlice(db: ArchiveDb, key: SliceKey): Promise<Slice | undefined> {
  return db
    .updateTable('restored_slices')
    .set({ state: 'ending' })
    .where('project_id', '=', key.project_id)
    .where('id', '=', key.slice_id)
    .where('state', 'in', ['restoring', 'ready', 'ending'])
    .returningAll()
    .executeTakeFirst()
}

/** Marks a slice whose rows were dropped as ended. */
export async function endSlice(db: ArchiveDb, key: SliceKey, ended_at: Date): Promise<void> {
  await db
    .updateTable('restored_slices')
    .set({ state: 'ended', ended_at })
    .where('project_id', '=', key.project_id)
    .where('id', '=', key.slice_id)
    .execute()
}

/**
 * Returns slices of all projects whose rows are to be dropped: expired, deleted, or of a failed
 * restore run. A slice whose run has not ended has to wait, because the run may still insert rows.
 */
export function slicesToEnd(
  db: Kysely<ArchiveTables & JobTables>,
  { now, limit }: { now: Date; limit: number },
): Promise<Slice[]> {
  return db
    .selectFrom('restored_slices as slice')
    .leftJoin('job_runs as job', 'job.id', 'slice.job_id')
    .selectAll('slice')
    .where('slice.state', '!=', 'ended')
    .where((eb) =>
      eb.or([
        eb('slice.state', '=', 'ending'),
        eb('slice.expires_at', '<=', now.toISOString()),
        eb('job.state', '=', 'failed'),
      ]),
    )
    .where((eb) =>
      eb.or([eb('job.state', 'is', null), eb('job.state', 'in', ['succeeded', 'failed'])]),
    )
    .orderBy('slice.expires_at')
    .limit(limit)
    .execute()
}

/** Returns slices of a project that are restoring or ready, newest first. */
export function selectSlices(
  db: ArchiveDb,
  page: { project_id: string; after?: string | undefined; limit: number },
): Promise<Slice[]> {
  const { project_id, after, limit } = page
  return db
    .selectFrom('restored_slices')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('state', 'in', ['restoring', 'ready'])
    .$if(after !== undefined, (query) => query.where('id', '<', after ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** Counts the slices of a project that are restoring or ready. */
export async function countSlices(
  db: ArchiveDb,
  { project_id }: { project_id: string },
): Promise<number> {
  const { slices } = await db
    .selectFrom('restored_slices')
    .select(({ fn }) => fn.countAll<number>().as('slices'))
    .where('project_id', '=', project_id)
    .where('state', 'in', ['restoring', 'ready'])
    .executeTakeFirstOrThrow()
  return Number(slices)
}

/** Returns the ids of the slices of a project that queries see. */
export async function readySlices(
  db: ArchiveDb,
  { project_id, now }: { project_id: string; now: Date },
): Promise<string[]> {
  const slices = await db
    .selectFrom('restored_slices')
    .select('id')
    .where('project_id', '=', project_id)
    .where('state', '=', 'ready')
    .where('expires_at', '>', now.toISOString())
    .orderBy('id')
    .limit(slices_max)
    .execute()
  return slices.map(({ id }) => id)
}

/** Most slices of a project at a time. */
export const slices_max = 100
