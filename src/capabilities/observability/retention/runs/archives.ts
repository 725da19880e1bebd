import type { Clock } from '../../../../kernel/time.ts'
import { enqueueJob, findJobs, type Job } from '../../jobs/index.ts'
import { day_ms } from '../policy/rules.ts'
import type { RetentionDb } from '../retention-deps.ts'

/** What archives mean for a day's rows. */
export type ArchiveState =
  /** An archive is being made of some of them: nothing may change meanwhile. */
  | { state: 'running' }
  /** No verified archive has the whole day. */
  | { state: 'missing' }
  /** Rows that were stored before this instant are in a verified archive. */
  | { state: 'archived'; stored_before_ms: number }

/** The archives of a project that retention has to know of. */
export type Archives = { active: readonly Job[]; succeeded: readonly Job[] }

/** Archives looked at; older ones of a day are not missed, since a newer one is made then. */
const archives_max = 1_000
/** Rows may be seen this long after the instant that they say they were stored at. */
const lag_ms = 10 * 60_000

/** The kind of the jobs that make archives. */
const kind = 'archive'

export async function readArchives(db: RetentionDb, project_id: string): Promise<Archives> {
  const [active, succeeded] = await Promise.all([
    findJobs(db, { project_id, kind, states: ['queued', 'running'], limit: archives_max }),
    findJobs(db, { project_id, kind, states: ['succeeded'], limit: archives_max }),
  ])
  return { active, succeeded }
}

/** How a day (counted from 1970 in UTC) stands; the newest archive that has all of it counts. */
export function archiveOf({ active, succeeded }: Archives, day: number): ArchiveState {
  const [from_ms, to_ms] = [day * day_ms, (day + 1) * day_ms]
  if (active.some((job) => overlaps(job, from_ms, to_ms))) return { state: 'running' }
  const made = succeeded.filter((job) => covers(job, from_ms, to_ms)).map(storedBefore)
  if (made.length === 0) return { state: 'missing' }
  return { state: 'archived', stored_before_ms: Math.max(...made) }
}

/** What the archive says that it has; one that does not say has what lay there long before it. */
function storedBefore({ result, created_at }: Job): number {
  const said = Date.parse(String(result?.['stored_before']))
  return Number.isNaN(said) ? Date.parse(created_at) - lag_ms : said
}

function windowOf({ params }: Job): { from_ms: number; to_ms: number } {
  return { from_ms: Date.parse(String(params['from'])), to_ms: Date.parse(String(params['to'])) }
}

/** What can't be read may be about any day. */
function overlaps(job: Job, from_ms: number, to_ms: number): boolean {
  const window = windowOf(job)
  return !(window.to_ms <= from_ms || window.from_ms >= to_ms)
}

/** Parameters that make an archive one of some rows only. */
const narrowing = ['where', 'kinds']

function covers(job: Job, from_ms: number, to_ms: number): boolean {
  const window = windowOf(job)
  const is_whole = narrowing.every((name) => (job.params[name] ?? undefined) === undefined)
  const verified = job.result?.['verified'] === true
  return verified && is_whole && window.from_ms <= from_ms && window.to_ms >= to_ms
}

/** Has a day archived; a run that is begun again asks for no second one. */
export async function requestArchive(
  db: RetentionDb,
  about: { project_id: string; day: number; run_id: string; clock: Clock; reason: string },
): Promise<void> {
  const { project_id, day, run_id, clock, reason } = about
  const from = new Date(day * day_ms).toISOString()
  const to = new Date((day + 1) * day_ms).toISOString()
  await enqueueJob(db, {
    ...{ project_id, kind, clock },
    params: { from, to, reason },
    requested_by: `job:${run_id}`,
    once_key: `archive ${from} for ${run_id}`,
  })
}
