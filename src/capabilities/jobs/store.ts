import { countUpTo, sql, storableJson, storableText } from '../../platform/relational/index.ts'
import type { Job, JobDb, JobRequest, JobValue } from './contract.ts'

/** Inserts a job; returns undefined when its key is taken. */
export function insertJob(
  db: JobDb,
  id: string,
  { clock, params, ...request }: JobRequest,
): Promise<Job | undefined> {
  const now = new Date(clock.now_ms())
  return db
    .insertInto('job_runs')
    .values({ id, ...request, params: storableJson(params), created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()
}

/**
 * Returns the job with the same `once_key`, or else the unended one with the same `exclusive_key`.
 */
export function findByKeys(db: JobDb, request: JobRequest): Promise<Job | undefined> {
  const { project_id, once_key = null, exclusive_key = null } = request
  return db
    .selectFrom('job_runs')
    .selectAll()
    .where('project_id', '=', project_id)
    .where((eb) =>
      eb.or([
        eb('once_key', '=', once_key),
        eb('exclusive_key', '=', exclusive_key).and('state', 'in', ['queued', 'running']),
      ]),
    )
    .orderBy(sql`once_key is not distinct from ${once_key}`, 'desc')
    .executeTakeFirst()
}

/** A filter of jobs, with a limit. */
export type JobFilter = {
  project_id: string
  kind: string
  states?: readonly Job['state'][]
  /** Only jobs created before the one with this id. */
  after?: string | undefined
  limit: number
}

/** Returns jobs, newest first. */
export function selectJobs(db: JobDb, filter: JobFilter): Promise<Job[]> {
  const { project_id, kind, states, after, limit } = filter
  return db
    .selectFrom('job_runs')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('kind', '=', kind)
    .$if(states !== undefined, (query) => query.where('state', 'in', [...(states ?? [])]))
    .$if(after !== undefined, (query) => query.where('id', '<', after ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** Counts jobs up to `limit`. */
export function countJobs(
  db: JobDb,
  { project_id, kind, limit }: Pick<JobFilter, 'project_id' | 'kind' | 'limit'>,
): Promise<number> {
  const jobs = db.selectFrom('job_runs').select('id').where('project_id', '=', project_id)
  return countUpTo(db, jobs.where('kind', '=', kind), limit)
}

export function findJob(
  db: JobDb,
  { project_id, kind, or_kind = kind, id }: JobKey,
): Promise<Job | undefined> {
  return db
    .selectFrom('job_runs')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('kind', 'in', [kind, or_kind])
    .where('id', '=', id)
    .executeTakeFirst()
}

type JobKey = Pick<Job, 'project_id' | 'kind' | 'id'> & { or_kind?: string }

/** Fails a queued or running job, even one with a lease; undefined when it had ended already. */
export function endUnended(
  db: JobDb,
  { project_id, kind, id }: Pick<JobKey, 'project_id' | 'kind' | 'id'>,
  error: string,
): Promise<Job | undefined> {
  return db
    .updateTable('job_runs')
    .set({ state: 'failed', error, ended_at: sql`now()`, lease_owner: null, lease_until: null })
    .where('project_id', '=', project_id)
    .where('kind', '=', kind)
    .where('id', '=', id)
    .where('state', 'in', ['queued', 'running'])
    .returningAll()
    .executeTakeFirst()
}

/** Deletes the ended runs of a project and kind, except the newest `kept` runs. */
export async function deleteEarlierJobs(
  db: JobDb,
  { project_id, kind, kept }: Pick<Job, 'project_id' | 'kind'> & { kept: number },
): Promise<void> {
  await sql`
    delete from job_runs where id in (
      select id from job_runs
      where project_id = ${project_id} and kind = ${kind}
      order by id desc offset ${kept})
    and state in ('succeeded', 'failed')`.execute(db)
}

/** A lease on a job. Writes with a lease take effect only while it is held. */
export type Lease = { id: string; lease_owner: string }

/** Extends a lease; false when it is lost. */
export function extendLease(db: JobDb, lease: Lease, lease_ms: number): Promise<boolean> {
  return updateHeld(db, lease, sql`lease_until = ${later(lease_ms)}`)
}

/** Stores the progress of a job; false when the lease is lost. */
export function noteProgress(db: JobDb, lease: Lease, progress: JobValue): Promise<boolean> {
  return updateHeld(db, lease, sql`progress = ${storableJson(progress)}::jsonb`)
}

/** Ends a job; false when the lease is lost. */
export function endJob(
  db: JobDb,
  lease: Lease,
  end: { result: JobValue } | { error: string },
): Promise<boolean> {
  const ended = sql`ended_at = now(), lease_owner = null, lease_until = null`
  return 'result' in end
    ? updateHeld(
        db,
        lease,
        sql`state = 'succeeded', result = ${storableJson(end.result)}::jsonb,
        error = null, ${ended}`,
      )
    : updateHeld(db, lease, sql`state = 'failed', error = ${storableError(end.error)}, ${ended}`)
}

/**
 * Queues the job again after a delay; false when the lease is lost. `counted` counts the attempt.
 */
export function giveBack(
  db: JobDb,
  lease: Lease,
  { delay_ms, counted, error }: { delay_ms: number; counted: boolean; error: string | null },
): Promise<boolean> {
  return updateHeld(
    db,
    lease,
    sql`state = 'queued', lease_owner = null, lease_until = null, due_at = ${later(delay_ms)},
      attempt = attempt - ${counted ? 0 : 1}, error = ${error === null ? null : storableError(error)}`,
  )
}

/** Deletes runs that ended more than `kept_days` ago, except some kinds; returns their number. */
export async function deleteEndedJobs(
  db: JobDb,
  cleanup: { kept_days: number; but_kinds: readonly string[]; limit: number },
): Promise<number> {
  const deleted = await sql`
    delete from job_runs where id in (
      select id from job_runs
      where ended_at < now() - ${cleanup.kept_days} * interval '1 day'
        and not (kind = any(${[...cleanup.but_kinds]}))
      limit ${cleanup.limit})`.execute(db)
  return Number(deleted.numAffectedRows ?? 0)
}

/** Updates a job while its lease is held; false when it is lost. */
async function updateHeld(
  db: JobDb,
  lease: Lease,
  change: ReturnType<typeof sql>,
): Promise<boolean> {
  const { id, lease_owner } = lease
  const written = await sql`
    update job_runs set ${change}
    where id = ${id} and lease_owner = ${lease_owner} and state = 'running'`.execute(db)
  return Number(written.numAffectedRows ?? 0) === 1
}

/** A time of the database from now on. */
export function later(ms: number) {
  return sql`now() + ${ms} * interval '1 millisecond'`
}

function storableError(text: string): string {
  return storableText(text).slice(0, error_chars_max)
}

const error_chars_max = 2_000
