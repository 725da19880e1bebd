import type { Clock } from '../../../../kernel/time.ts'
import { type Job, type JobHandler, JobRefused, type JobValue } from '../../../jobs/index.ts'
import { censusBuckets_max, type RecordKind, type RetentionStore } from '../../../storage/index.ts'
import { firstKeptDay } from '../policy/rules.ts'
import { findRetention } from '../policy/store.ts'
import type { RetentionDb } from '../retention-deps.ts'
import { requestArchive } from '../runs/archives.ts'
import { windowOf } from '../runs/slices.ts'
import { daysToArchive } from './days-store.ts'

/** The kind of the jobs that have days archived when a schedule comes. */
export const archiveScheduleKind = 'archive_schedule'

export type ArchiveScheduleOptions = {
  db: RetentionDb
  store: Pick<RetentionStore, 'census'>
  clock: Clock
  /** Days that one time has archived; those beyond are for the next ones. */
  days_max?: number
}

/** As many archives as a run of retention asks for. */
const archives_max = 31
/** Times that a job looks for further days; each look tells so many buckets of each kind. */
const looks_max = 100

const kinds: readonly RecordKind[] = ['observations', 'traces', 'events', 'links', 'correlations']

/**
 * Asks for an archive of each day that is old enough under the policy and that no verified archive
 * has, oldest first. A day that is being archived is left alone.
 */
export function archiveScheduleHandler(options: ArchiveScheduleOptions): JobHandler {
  return {
    kind: archiveScheduleKind,
    run: (job, { signal }) => requestDays(options, job, signal),
  }
}

async function requestDays(
  { db, store, clock, days_max = archives_max }: ArchiveScheduleOptions,
  job: Job,
  signal: AbortSignal,
): Promise<JobValue> {
  const { id: run_id, project_id } = job
  const due_ms = Date.parse(String(job.params['due_at']))
  if (Number.isNaN(due_ms)) throw new JobRefused('due_at: expected an instant')
  const archive = (await findRetention(db, project_id))?.archive
  if (!archive?.enabled) return { archives_requested: 0, is_partial: false }
  const { after_days } = archive
  const before_day = firstKeptDay(due_ms, after_days)
  const reason = `The schedule of the retention policy archives days older than ${after_days} days.`
  let requested = 0
  let from_day: number | undefined
  for (let look = 0; look < looks_max; look += 1) {
    signal.throwIfAborted()
    const { days, next_day } = await daysWithRows(store, { project_id, before_day, from_day })
    for (const day of await daysToArchive(db, { project_id, days, run_id })) {
      if (requested >= days_max) return { archives_requested: requested, is_partial: true }
      await requestArchive(db, { project_id, day, run_id, clock, reason })
      requested += 1
    }
    if (next_day === undefined) return { archives_requested: requested, is_partial: false }
    from_day = next_day
  }
  return { archives_requested: requested, is_partial: true }
}

/** Days with rows of any kind, oldest first; `next_day` when there may be more from there on. */
async function daysWithRows(
  store: Pick<RetentionStore, 'census'>,
  asked: { project_id: string; before_day: number; from_day: number | undefined },
): Promise<{ days: number[]; next_day: number | undefined }> {
  const { project_id, before_day, from_day } = asked
  const days = new Set<number>()
  let told_to = Number.POSITIVE_INFINITY
  for (const kind of kinds) {
    const buckets = await store.census({
      ...{ project_id, kind, before: windowOf(before_day).from },
      ...(from_day !== undefined && { from: windowOf(from_day).from }),
      with_content: false,
      environments: [],
    })
    for (const { day } of buckets) days.add(day)
    const last = buckets.at(-1)
    if (buckets.length >= censusBuckets_max && last) told_to = Math.min(told_to, last.day)
  }
  return {
    days: [...days].filter((day) => day <= told_to).toSorted((left, right) => left - right),
    next_day: Number.isFinite(told_to) ? told_to + 1 : undefined,
  }
}
