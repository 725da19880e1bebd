import { type Selectable, sql } from '../../platform/relational/index.ts'
import type { Job, JobDb, JobRequest, JobValue } from './contract.ts'

/** Writes a job; undefined when one with its key is there already. */
export function insertJob(
  db: JobDb,
  id: string,
  { clock, params, ...request }: JobRequest,
): Promise<Job | undefined> {
  const now = new Date(clock.now_ms())
  return db
    .insertInto('job_runs')
    .values({ id, ...request, params: jsonOf(params), created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()
}

/** The job that an equal key belongs to: that of `once_key` first. */
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

/** Which jobs, and how many. */
export type JobFilter = {
  project_id: string
  kind: string
  states?: readonly Job['state'][]
  /** Jobs that were made before the one of this id. */
  before?: string
  limit: number
}

/** Newest first. */
export function selectJobs(db: JobDb, filter: JobFilter): Promise<Job[]> {
  const { project_id, kind, states, before, limit } = filter
  return db
    .selectFrom('job_runs')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('kind', '=', kind)
    .$if(states !== undefined, (query) => query.where('state', 'in', [...(states ?? [])]))
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** Counts up to `limit`; more than that reads as `limit`. */
export async function countJobs(
  db: JobDb,
  { project_id, kind, limit }: Pick<JobFilter, 'project_id' | 'kind' | 'limit'>,
): Promise<number> {
  const counted = await sql<{ jobs: number }>`
    select count(*) as jobs from (
      select 1 from job_runs where project_id = ${project_id} and kind = ${kind} limit ${limit}
    ) as counted`.execute(db)
  return counted.rows[0]?.jobs ?? 0
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

/** Ends a queued or running job, also one that a worker holds; undefined when it has ended before. */
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

/** Deletes the records of a project's runs of a kind that have ended, but for the newest ones. */
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

/** A holding of a job: what is written with it counts only while it is still the holder's. */
export type Lease = { id: string; lease_owner: string }

/**
 * Takes the job that has been due longest: one that nobody began, or one whose holder did not say
 * in time that it still works on it. The clock of leases is the database's, one for all workers.
 */
export async function claimJob(
  db: JobDb,
  claim: { kinds: readonly string[]; lease_owner: string; lease_ms: number },
): Promise<Job | undefined> {
  const claimed = await sql<Selectable<Job>>`
    update job_runs
    set state = 'running', attempt = attempt + 1, lease_owner = ${claim.lease_owner},
      lease_until = ${later(claim.lease_ms)}, started_at = coalesce(started_at, now())
    where id = (
      select id from job_runs
      where state in ('queued', 'running') and due_at <= now()
        and (state = 'queued' or lease_until < now())
        and kind = any(${[...claim.kinds]})
      order by due_at, id limit 1
      for update skip locked
    )
    returning *`.execute(db)
  return claimed.rows[0]
}

/** False when the job is somebody else's by now. */
export function extendLease(db: JobDb, lease: Lease, lease_ms: number): Promise<boolean> {
  return held(db, lease, sql`lease_until = ${later(lease_ms)}`)
}

/** Notes how far the job is; false when it is somebody else's by now. */
export function noteProgress(db: JobDb, lease: Lease, progress: JobValue): Promise<boolean> {
  return held(db, lease, sql`progress = ${jsonOf(progress)}::jsonb`)
}

/** Ends the job; false when it is somebody else's by now. */
export function endJob(
  db: JobDb,
  lease: Lease,
  end: { result: JobValue } | { error: string },
): Promise<boolean> {
  const ended = sql`ended_at = now(), lease_owner = null, lease_until = null`
  return 'result' in end
    ? held(
        db,
        lease,
        sql`state = 'succeeded', result = ${jsonOf(end.result)}::jsonb,
        error = null, ${ended}`,
      )
    : held(db, lease, sql`state = 'failed', error = ${storable(end.error)}, ${ended}`)
}

/** Gives the job back, to be begun again after the delay; one that is not counted was no attempt. */
export function giveBack(
  db: JobDb,
  lease: Lease,
  { delay_ms, counted, error }: { delay_ms: number; counted: boolean; error: string | null },
): Promise<boolean> {
  return held(
    db,
    lease,
    sql`state = 'queued', lease_owner = null, lease_until = null, due_at = ${later(delay_ms)},
      attempt = attempt - ${counted ? 0 : 1}, error = ${error === null ? null : storable(error)}`,
  )
}

/** Deletes records of runs that ended so long ago, but those of some kinds; resolves with how many. */
export async function deleteEndedJobs(
  db: JobDb,
  about: { kept_days: number; but_kinds: readonly string[]; limit: number },
): Promise<number> {
  const deleted = await sql`
    delete from job_runs where id in (
      select id from job_runs
      where ended_at < now() - ${about.kept_days} * interval '1 day'
        and not (kind = any(${[...about.but_kinds]}))
      limit ${about.limit})`.execute(db)
  return Number(deleted.numAffectedRows ?? 0)
}

async function held(db: JobDb, lease: Lease, change: ReturnType<typeof sql>): Promise<boolean> {
  const { id, lease_owner } = lease
  const written = await sql`
    update job_runs set ${change}
    where id = ${id} and lease_owner = ${lease_owner} and state = 'running'`.execute(db)
  return Number(written.numAffectedRows ?? 0) === 1
}

function later(ms: number) {
  return sql`now() + ${ms} * interval '1 millisecond'`
}

/** jsonb and text can't hold U+0000, which a client's id in a detail may have. */
function jsonOf(value: JobValue): string {
  return JSON.stringify(value).replaceAll('\\u0000', '\\ufffd')
}

function storable(text: string): string {
  return text.replaceAll('\u0000', '\ufffd').slice(0, error_chars_max)
}

const error_chars_max = 2_000
