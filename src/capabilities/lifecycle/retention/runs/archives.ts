import type { Clock } from '../../../../kernel/time.ts'
import { enqueueJob, findJobs, type Job } from '../../../jobs/index.ts'
import type { RetentionDb } from '../contract.ts'
import { day_ms } from '../retention-policy/rules.ts'

/** State of the archives of a day. */
export type ArchiveState =
  /** An archive run includes rows of the day, which must not change until it ends. */
  | { state: 'running' }
  /** No verified archive contains the whole day. */
  | { state: 'missing' }
  /** A verified archive contains the rows that were stored before this instant. */
  | { state: 'archived'; stored_before_ms: number }

/** The archive runs of a project that concern retention. */
export type Archives = { active: readonly Job[]; succeeded: readonly Job[] }

/** Most archives read. Days whose archive is older are archived again. */
const archives_max = 1_000
/** Longest time between a row's `ingested_at` and its visibility. */
const lag_ms = 10 * 60_000

/** Kind of archive runs. */
const kind = 'archive'

export async function readArchives(db: RetentionDb, project_id: string): Promise<Archives> {
  const [active, succeeded] = await Promise.all([
    findJobs(db, { project_id, kind, states: ['queued', 'running'], limit: archives_max }),
    findJobs(db, { project_id, kind, states: ['succeeded'], limit: archives_max }),
  ])
  return { active, succeeded }
}

/**
 * Returns the state of a day (counted from 1970 in UTC), by the newest archive of the whole day.
 */
export function archiveOf({ active, succeeded }: Archives, day: number): ArchiveState {
  const [from_ms, to_ms] = [day * day_ms, (day + 1) * day_ms]
  if (active.some((job) => overlaps(job, from_ms, to_ms))) return { state: 'running' }
  const made = succeeded.filter((job) => covers(job, from_ms, to_ms)).map(storedBefore)
  if (made.length === 0) return { state: 'missing' }
  return { state: 'archived', stored_before_ms: Math.max(...made) }
}

/** Returns `stored_before` of an archive; without it, a time safely before its creation. */
function storedBefore({ result, created_at }: Job): number {
  const stored_before_ms = Date.parse(String(result?.['stored_before']))
  return Number.isNaN(stored_before_ms) ? Date.parse(created_at) - lag_ms : stored_before_ms
}

function windowOf({ params }: Job): { from_ms: number; to_ms: number } {
  return { from_ms: Date.parse(String(params['from'])), to_ms: Date.parse(String(params['to'])) }
}

/** Whether a run may touch the window; a run with an unreadable window may touch any day. */
function overlaps(job: Job, from_ms: number, to_ms: number): boolean {
  const window = windowOf(job)
  return !(window.to_ms <= from_ms || window.from_ms >= to_ms)
}

/** Parameters that limit an archive to some rows. */
const narrowing = ['where', 'kinds']

function covers(job: Job, from_ms: number, to_ms: number): boolean {
  const window = windowOf(job)
  const is_whole = narrowing.every((name) => (job.params[name] ?? undefined) === undefined)
  const verified = job.result?.['verified'] === true
  return verified && is_whole && window.from_ms <= from_ms && window.to_ms >= to_ms
}

/** Most archives that one run requests; further days are left for the next runs. */
const requests_max = 31

/**
 * The days that a run found without an archive. The run requests archives at its end, so that none
 * of them begins while it still deletes.
 */
export class MissingArchives {
  readonly #days = new Set<number>()

  note(day: number, { reason, late_rows }: { reason: string | null; late_rows: number }): void {
    if (reason === 'archive_missing' || late_rows > 0) this.#days.add(day)
  }

  /** The days for which a run requests archives, oldest first. */
  get days(): number[] {
    return [...this.#days].toSorted((left, right) => left - right).slice(0, requests_max)
  }

  /** Requests the archives; returns their number. */
  async request(db: RetentionDb, { job, clock }: { job: Job; clock: Clock }): Promise<number> {
    const { id: run_id, project_id } = job
    const reason = 'Retention deletes the day after it is archived.'
    for (const day of this.days) {
      await requestArchive(db, { project_id, day, run_id, clock, reason })
    }
    return this.days.length
  }
}

/** Requests an archive of a day; idempotent for a run. */
export async function requestArchive(
  db: RetentionDb,
  {
    project_id,
    day,
    run_id,
    clock,
    reason,
  }: { project_id: string; day: number; run_id: string; clock: Clock; reason: string },
): Promise<void> {
  const from = new Date(day * day_ms).toISOString()
  const to = new Date((day + 1) * day_ms).toISOString()
  await enqueueJob(db, {
    project_id,
    kind,
    clock,
    params: { from, to, reason },
    requested_by: `job:${run_id}`,
    once_key: `archive ${from} for ${run_id}`,
  })
}
