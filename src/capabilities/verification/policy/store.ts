import { scenarioEnvironment } from '../../../model/reserved-environment.ts'
import { sql } from '../../../platform/relational/index.ts'
import { ProjectTable } from '../../documents/index.ts'
import type { RunsDb } from '../contract.ts'
import type { StoredPolicy } from './rules.ts'

/** The table of policies. The rules of an empty policy are the default ones. */
export const policyTable = new ProjectTable<StoredPolicy>('verification_policies', {
  json: ['policy'],
  defaults: { policy: {} },
})

/** Maximum enabled policies of one pass. */
const policies_max = 10_000

/** Returns enabled policies of projects that had activity since an instant. */
export async function selectActivePolicies(db: RunsDb, since: Date): Promise<StoredPolicy[]> {
  const { rows } = await sql<StoredPolicy>`
    select * from verification_policies as policies
    where (policy ->> 'enabled')::boolean and exists (
      select from tasks
      where tasks.project_id = policies.project_id and last_activity_at >= ${since}
    )
    order by project_id limit ${policies_max}`.execute(db)
  return rows
}

/** A task that became quiet, without a run since its last change. */
export type QuietTask = {
  task_id: string
  name: string
  started_at: string
  last_started_at: string | null
  last_activity_at: string
  updated_at: string
}

/** Which quiet tasks of a project to return, ordered by last activity. */
export type QuietTasksQuery = {
  project_id: string
  sample_percent: number
  /** Last activity from this instant. */
  from: Date
  /** Tasks that their client ended are quiet after this time; others after `idle_ms`. */
  ended_ms: number
  idle_ms: number
  /** Least time since the last run of the task. */
  interval_ms: number
  now: Date
  after: Pick<QuietTask, 'last_activity_at' | 'task_id'> | undefined
  limit: number
}

/** A point in [0, 1) that depends on the id of a task alone. */
const taskPoint = sql<number>`
  ('x' || left(encode(sha256(convert_to(task_id, 'UTF8')), 'hex'), 8))::bit(32)::bigint
    / 4294967296.0::float8`

/**
 * Returns quiet tasks of the sample that have no run since their last change, without those of the
 * seeded scenario, which costs no money. A task belongs to the
 * sample when the hash of its id is below the share, so that every worker decides the same.
 */
export async function selectQuietTasks(db: RunsDb, query: QuietTasksQuery): Promise<QuietTask[]> {
  const { project_id, sample_percent, from, now, after, limit } = query
  const before = (ms: number) => new Date(now.getTime() - ms)
  const begin =
    after === undefined
      ? sql`last_activity_at >= ${from}`
      : sql`(last_activity_at, task_id) > (${after.last_activity_at}, ${after.task_id})`
  const { rows } = await sql<QuietTask>`
    select task_id, name, started_at, last_started_at, last_activity_at, updated_at
    from tasks
    where project_id = ${project_id} and ${begin} and last_activity_at <= ${now}
      and environment is distinct from ${scenarioEnvironment}
      and (last_activity_at <= ${before(query.idle_ms)}
        or (not implicit and state <> 'running' and ended_at <= ${before(query.ended_ms)}))
      and ${taskPoint} < ${sample_percent}::float8 / 100
      and not exists (
        select from verification_runs as runs
        where runs.project_id = tasks.project_id and runs.task_id = tasks.task_id
          and (runs.created_at >= tasks.updated_at
            or runs.created_at > ${before(query.interval_ms)}::timestamptz and ${query.interval_ms} > 0))
    order by last_activity_at, task_id limit ${limit}`.execute(db)
  return rows
}

/** Cost of the runs of a policy on a day, and the number of pending ones. */
export type PolicySpend = { nano_dollars: bigint; pending: number }

/** Older traces are not verified by policies, so their runs are not read. */
const oldest_days = 7

/** Returns what the runs of a project's policy have cost since the start of a day. */
export async function readPolicySpend(
  db: RunsDb,
  project_id: string,
  day: Date,
): Promise<PolicySpend> {
  const { rows } = await sql<{ nano_dollars: string; pending: number }>`
    select coalesce(sum(cost_nano_dollars), 0)::text as nano_dollars,
      (count(*) filter (where state = 'pending'))::int as pending
    from verification_runs
    where project_id = ${project_id} and trigger = 'policy' and created_at >= ${day}
      and trace_start >= ${day}::timestamptz - ${oldest_days} * interval '1 day'`.execute(db)
  const [row] = rows
  return { nano_dollars: BigInt(row?.nano_dollars ?? 0), pending: row?.pending ?? 0 }
}

/** Returns the observation with the answer of the newest run of a trace that read one. */
export async function findVerifiedAnswer(
  db: RunsDb,
  { project_id, trace_id }: { project_id: string; trace_id: string },
): Promise<string | null> {
  const run = await db
    .selectFrom('verification_runs')
    .select('answer_observation_id')
    .where('project_id', '=', project_id)
    .where('trace_id', '=', trace_id)
    .where('answer_observation_id', 'is not', null)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return run?.answer_observation_id ?? null
}

/** Runs work under the lock of a project's policy; undefined if another worker has the lock. */
export function withPolicyLock<Result>(
  db: RunsDb,
  project_id: string,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  const lock = `looptrace.verification_policy ${project_id}`
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ locked: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended(${lock}, 0)) as locked`.execute(trx)
    return rows[0]?.locked === true ? work() : undefined
  })
}
