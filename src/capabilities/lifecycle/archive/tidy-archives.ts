import type { Blobs } from '../../../platform/blobs/index.ts'
import type { ArchiveTables, JobTables, Kysely } from '../../../platform/relational/index.ts'
import type { Chore } from '../../jobs/index.ts'
import { asArchiveFailure } from './failures.ts'
import { archivePrefix } from './manifest.ts'
import { forgetFiles } from './store.ts'

const every_ms = 10 * 60_000
/** Runs of one look; others wait for the next. */
const runs_max = 20

/**
 * Forgets the noted files of runs that have ended: those of a run that succeeded stand in its
 * manifest, those of one that failed are of no use and are deleted.
 */
export function tidyArchivesChore(deps: {
  db: Kysely<ArchiveTables & JobTables>
  blobs: Blobs | undefined
  every_ms?: number
}): Chore {
  const { db, blobs } = deps
  return {
    name: 'tidy archives',
    every_ms: deps.every_ms ?? every_ms,
    run: async (signal) => {
      if (blobs === undefined) return
      for (const { id, project_id, state } of await endedRuns(db)) {
        signal.throwIfAborted()
        if (state === 'failed') {
          await asArchiveFailure(deleteAll(blobs, archivePrefix(project_id, id), signal))
        }
        await forgetFiles(db, { job_id: id, ordinal: 0 })
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
