import { type Selectable, sql } from '../../platform/relational/index.ts'
import type { Job, JobDb } from './contract.ts'
import { later } from './store.ts'

/** Which jobs are claimed, by whom, and for how long. */
export type JobClaim = {
  kinds: readonly string[]
  lease_owner: string
  lease_ms: number
  /** The project whose job was claimed last: those with greater ids are compared first. */
  after?: string | undefined
}

/**
 * Claims a due job: a queued one, or a running one whose lease has expired. Projects take turns, so
 * that one with many queued jobs does not delay the others: a project with fewer running jobs comes
 * first, and equal ones by chance. Within a project, the job that has been due longest comes first.
 * Leases use the clock of the database, which all workers share. The work does not grow with the
 * backlog: of each kind, up to 32 projects are compared, from the one
 * `after` which this process goes on, and the jobs that have been due longest.
 */
export async function claimJob(db: JobDb, claim: JobClaim): Promise<Job | undefined> {
  const claimed = await claimStatement(claim).execute(db)
  return claimed.rows[0]
}

/** The statement of a claim, whose plan a test reads. */
export function claimStatement(claim: JobClaim) {
  return sql<Selectable<Job>>`
    with recursive ${walk(claim)}, due as (
      ${dueOfProjects} union ${dueLongest(claim.kinds)}
    ), ranked as (
      select id, project_id, row_number() over (partition by project_id order by due_at, id) as turn
      from due
    ), chosen as (
      select ranked.id, ranked.turn + (
        select count(*) from job_runs where state = 'running' and kind = any(${[...claim.kinds]})
          and job_runs.project_id = ranked.project_id and lease_until >= now()
      ) as turn
      from ranked where ranked.turn <= ${claimers_max}
      order by 2, random() limit ${claimers_max}
    )
    update job_runs
    set state = 'running', attempt = attempt + 1, lease_owner = ${claim.lease_owner},
      lease_until = ${later(claim.lease_ms)}, started_at = coalesce(started_at, now())
    where id = (
      select job_runs.id from job_runs join chosen using (id)
      where ${isDue} order by chosen.turn limit 1
      for update of job_runs skip locked
    )
    returning *`
}

/** Jobs that are compared, because other workers may be claiming the first ones right now. */
const claimers_max = 32

const isUnended = sql`state in ('queued', 'running')`
const isDue = sql`due_at <= now() and (state = 'queued' or lease_until < now())`

/**
 * Finds projects with jobs of each kind, in the order of their ids: from `after` upwards, and
 * from the first one to it.
 */
function walk({ kinds, after }: JobClaim) {
  const first = '00000000-0000-0000-0000-000000000000'
  const last = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
  const start = after ?? first
  return sql`walk (kind, project_id, high, steps) as (
      select kinds.kind, found.project_id, side.high, 1
      from unnest(${[...kinds]}::text[]) as kinds (kind) cross join (values
        (${start}::uuid, ${last}::uuid), (${first}::uuid, ${start}::uuid)
      ) as side (low, high) cross join lateral (
        select project_id from job_runs where ${isUnended} and job_runs.kind = kinds.kind
          and project_id > side.low and project_id <= side.high
        order by project_id limit 1
      ) as found
      union all
      select walk.kind, found.project_id, walk.high, walk.steps + 1
      from walk cross join lateral (
        select project_id from job_runs where ${isUnended} and job_runs.kind = walk.kind
          and project_id > walk.project_id and project_id <= walk.high
        order by project_id limit 1
      ) as found
      where walk.steps < ${steps_max}
    )`
}

const steps_max = 16

const dueOfProjects = sql`(
  select job.id, walk.project_id, job.due_at from walk cross join lateral (
    select id, due_at from job_runs where ${isUnended} and ${isDue}
      and job_runs.kind = walk.kind and job_runs.project_id = walk.project_id
    order by due_at limit ${claimers_max}
  ) as job
)`

/** The condition on `kind` selects the index `job_runs_due`, also with stale statistics. */
function dueLongest(kinds: readonly string[]) {
  return sql`(
  select job.id, job.project_id, job.due_at
  from unnest(${[...kinds]}::text[]) as kinds (kind) cross join lateral (
    select id, project_id, due_at from job_runs where ${isUnended} and ${isDue}
      and job_runs.kind = kinds.kind and job_runs.kind <> ''
    order by due_at limit ${claimers_max}
  ) as job
)`
}
