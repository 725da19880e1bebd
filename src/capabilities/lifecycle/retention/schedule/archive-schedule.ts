import { Problem } from '../../../../kernel/problem.ts'
import type { Clock } from '../../../../kernel/time.ts'
import { runInProject } from '../../../../platform/tenancy/index.ts'
import {
  type Chore,
  enqueueJob,
  type Job,
  type JobHandler,
  JobRefused,
  type JobValue,
} from '../../../jobs/index.ts'
import { maxCensusBuckets, type RecordKind, type RetentionStore } from '../../../storage/index.ts'
import type { RetentionDb } from '../contract.ts'
import { day_ms, firstKeptDay } from '../retention-policy/rules.ts'
import { retentionTable } from '../retention-policy/store.ts'
import { requestArchive } from '../runs/archives.ts'
import { windowOf } from '../runs/slices.ts'
import { lastTick, nextTick } from './slots.ts'
import { type DueArchive, daysToArchive, dueArchives, moveArchive } from './store.ts'

/** Kind of the jobs that request scheduled archives. */
const archiveScheduleKind = 'archive_schedule'

export type ArchiveScheduleOptions = {
  db: RetentionDb
  store: Pick<RetentionStore, 'census'>
  clock: Clock
  /** Most days archived at one scheduled time; further days are left for the next times. */
  days_max?: number
}

/** Default number of days, the same as for a run of retention. */
const archives_max = 31

/** Most searches of a job for further days; each covers a limited number of buckets of a kind. */
const searches_max = 100

const kinds: readonly RecordKind[] = ['observations', 'traces', 'events', 'links', 'correlations']

/**
 * Creates the handler that requests an archive of each day that is old enough under the policy and
 * has no verified archive, oldest first. Days that are being archived are skipped.
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
  const archive = (await retentionTable.read(db, project_id)).archive
  if (!archive?.enabled) return { archives_requested: 0, is_partial: false }
  const { after_days } = archive
  const before_day = firstKeptDay(due_ms, after_days)
  const reason = `The schedule of the retention policy archives days older than ${after_days} days.`
  let requested = 0
  let from_day: number | undefined
  for (let search = 0; search < searches_max; search += 1) {
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

/** Returns days with rows of any kind, oldest first, and the `next_day` to search from, if any. */
async function daysWithRows(
  store: Pick<RetentionStore, 'census'>,
  {
    project_id,
    before_day,
    from_day,
  }: { project_id: string; before_day: number; from_day: number | undefined },
): Promise<{ days: number[]; next_day: number | undefined }> {
  const days = new Set<number>()
  let complete_to_day = Number.POSITIVE_INFINITY
  for (const kind of kinds) {
    const buckets = await store.census({
      project_id,
      kind,
      before: windowOf(before_day).from,
      ...(from_day !== undefined && { from: windowOf(from_day).from }),
      with_content: false,
      environments: [],
    })
    for (const { day } of buckets) days.add(day)
    const last = buckets.at(-1)
    if (buckets.length >= maxCensusBuckets && last)
      complete_to_day = Math.min(complete_to_day, last.day)
  }
  return {
    days: [...days].filter((day) => day <= complete_to_day).toSorted((left, right) => left - right),
    next_day: Number.isFinite(complete_to_day) ? complete_to_day + 1 : undefined,
  }
}

const every_ms = 60_000

const projects_max = 500

/**
 * Creates the chore that queues a job when the time of a policy's schedule has come. All workers do
 * so; the key of the job names the time, so only one job is created. Of times that were missed
 * while no worker ran, only the last is made up for, unless it is older than the records of runs.
 */
export function archiveScheduleChore(options: ChoreOptions): Chore {
  return {
    name: 'scheduled archives',
    every_ms,
    reason: 'due schedules of all projects',
    run: async (signal) => {
      const { db, clock } = options
      const now = new Date(clock.now_ms())
      for (let after: string | undefined, is_last = false; !is_last; ) {
        const due = await dueArchives(db, { now, after, limit: projects_max }).execute()
        for (const archive of due) {
          signal.throwIfAborted()
          await runInProject(archive.project_id, () => startDue(options, archive, now.getTime()))
        }
        after = due.at(-1)?.project_id
        is_last = due.length < projects_max
      }
    },
  }
}

type ChoreOptions = { db: RetentionDb; clock: Clock; job_runs_days: number }

/** Queues the job of the last time of a schedule, and stores the next one when it is queued. */
async function startDue(
  { db, clock, job_runs_days }: ChoreOptions,
  archive: DueArchive,
  now_ms: number,
): Promise<void> {
  const { project_id, schedule, since } = archive
  const tick_ms = lastTick(schedule ?? '', now_ms) ?? 0
  const begin_ms = Math.max(Date.parse(since ?? ''), now_ms - job_runs_days * day_ms)
  if (tick_ms > begin_ms && !(await enqueueTick(db, { project_id, tick_ms, clock }))) return
  await moveArchive(db, archive, nextTick(schedule ?? '', now_ms))
}

/** Queues the job of a time; false while the job of an earlier time is under way. */
async function enqueueTick(
  db: RetentionDb,
  { project_id, tick_ms, clock }: { project_id: string; tick_ms: number; clock: Clock },
): Promise<boolean> {
  const due_at = new Date(tick_ms).toISOString()
  try {
    await enqueueJob(db, {
      project_id,
      kind: archiveScheduleKind,
      params: { due_at },
      clock,
      requested_by: 'schedule',
      exclusive_key: archiveScheduleKind,
      once_key: `${archiveScheduleKind} ${due_at}`,
    })
    return true
  } catch (error) {
    if (error instanceof Problem && error.code === 'job_running') return false
    throw error
  }
}
