import type { Clock } from '../../../../kernel/time.ts'
import { enqueueJob, findJobs, type Job } from '../../../jobs/index.ts'
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

/** Archives that one run asks for; the days beyond are for the next ones. */
const requests_max = 31

/**
 * The days that a run found without an archive. It asks for archives at its end, so that no archive
 * of its own begins while it still deletes.
 */
export class MissingArchives {
  readonly #days = new Set<number>()

  note(day: number, { reason, late_rows }: { reason: string | null; late_rows: number }): void {
    if (reason === 'archive_missing' || late_rows > 0) this.#days.add(day)
  }

  /** The days of which a run asks for archives, oldest first. */
  get days(): number[] {
    return [...this.#days].toSorted((left, right) => left - right).slice(0, requests_max)
  }

  /** Asks for the archives; resolves with how many. */
  async request(db: RetentionDb, { job, clock }: { job: Job; clock: Clock }): Promise<number> {
    const { id: run_id, project_id } = job
    const reason = 'Retention deletes the day once it is archived.'
    for (const day of this.days) {
      await requestArchive(db, { project_id, day, run_id, clock, reason })
    }
    return this.days.length
  }
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
