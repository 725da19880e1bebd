import type { Clock } from '../../../kernel/time.ts'
import type { Blobs } from '../../../platform/blobs/index.ts'
import type { ArchiveTables, JobTables, Kysely } from '../../../platform/relational/index.ts'
import { runInProject } from '../../../platform/tenancy/index.ts'
import type { Chore } from '../../jobs/index.ts'
import { asArchiveFailure } from './failures.ts'
import { archivePrefix } from './manifest.ts'
import type { RestoredStore } from './restore/restored-store.ts'
import { endSlice, slicesToEnd } from './restore/store.ts'
import { forgetFiles } from './store.ts'

/** Interval of the search for slices to drop. */
const slices_every_ms = 60_000
/** Slices of one search; others wait for the next. */
const slices_max = 50

/** Creates the chore that drops slices that expired, were deleted or belong to a failed restore. */
export function endSlicesChore(deps: {
  db: Kysely<ArchiveTables & JobTables>
  restored: Pick<RestoredStore, 'dropSlice'>
  clock: Clock
  every_ms?: number
}): Chore {
  const { db, restored, clock } = deps
  return {
    name: 'end slices',
    every_ms: deps.every_ms ?? slices_every_ms,
    reason: 'ended slices of all projects',
    run: async (signal) => {
      const now = new Date(clock.now_ms())
      for (const slice of await slicesToEnd(db, { now, limit: slices_max })) {
        signal.throwIfAborted()
        const { id: slice_id, project_id } = slice
        await restored.dropSlice(slice_id)
        await runInProject(project_id, () => endSlice(db, { slice_id, project_id }, now))
      }
    },
  }
}

/** Interval of the search for ended runs. */
const runs_every_ms = 10 * 60_000
/** Runs of one search; others wait for the next. */
const runs_max = 20

/**
 * Creates the chore that removes the file records of ended runs: the manifest of a successful run
 * has them, and the files of a failed run are deleted.
 */
export function tidyArchivesChore(deps: {
  db: Kysely<ArchiveTables & JobTables>
  blobs: Blobs | undefined
  every_ms?: number
}): Chore {
  const { db, blobs } = deps
  return {
    name: 'tidy archives',
    every_ms: deps.every_ms ?? runs_every_ms,
    reason: 'ended runs of all projects',
    run: async (signal) => {
      if (blobs === undefined) return
      for (const { id, project_id, state } of await endedRuns(db)) {
        signal.throwIfAborted()
        if (state === 'failed') {
          await asArchiveFailure(deleteAll(blobs, archivePrefix(project_id, id), signal))
        }
        await runInProject(project_id, () => forgetFiles(db, { job_id: id, ordinal: 0 }))
      }
    },
  }
}

function endedRuns(db: Kysely<ArchiveTables & JobTables>) {
  return db
    .selectFrom('archive_files as file')
    .innerJoin('job_runs as job', 'job.id', 'file.job_id')
    .select(['job.id', 'job.project_id', 'job.state'])
    .distinct()
    .where('job.state', 'in', ['succeeded', 'failed'])
    .limit(runs_max)
    .execute()
}

async function deleteAll(blobs: Blobs, prefix: string, signal: AbortSignal): Promise<void> {
  await blobs.discardUnfinished(prefix, { signal })
  for await (const { name } of blobs.list(prefix, { signal })) await blobs.delete(name, { signal })
}
