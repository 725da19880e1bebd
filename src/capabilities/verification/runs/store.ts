import { newId } from '../../../kernel/ids.ts'
import { problem } from '../../../kernel/problem.ts'
import type { Clock } from '../../../kernel/time.ts'
import {
  countUpTo,
  noteChanges,
  type Selectable,
  sql,
  type VerificationTables,
} from '../../../platform/relational/index.ts'
import { enqueueJob, type JobDb } from '../../jobs/index.ts'
import type { RunsDb } from '../contract.ts'

/** A stored run; instants are ISO 8601. `id` is a UUIDv7, so runs sort by creation. */
export type Run = Selectable<VerificationTables['verification_runs']>

/** Kind of the jobs that do runs. Their `params` are `{ run_id }`. */
export const verificationJob = 'verification'

/** Maximum pending runs of a project. */
export const maxQueuedRuns = 1_000

/** A trace of a project. `trace_id` is the stored form, a UUID. */
export type TraceKey = { project_id: string; trace_id: string }

/** A request for a run. */
export type RunRequest = TraceKey &
  Pick<Run, 'task_id' | 'user_id' | 'environment' | 'trace_start' | 'trigger' | 'verifiers'> & {
    /** `user:<id>`, `policy` or as of a job. */
    requested_by: string
  }

/**
 * Stores a pending run with its job. Returns the pending run of the trace when there is one:
 * `is_new` is false then, and nothing is started. Throws `verification_queue_full`,
 * `store_unavailable`.
 */
export async function startRun(
  { db, clock }: { db: RunsDb; clock: Clock },
  request: RunRequest,
): Promise<{ run: Run; is_new: boolean }> {
  // The pending run may end between the insert and the search.
  for (let attempt = 0; attempt < attempts_max; attempt += 1) {
    const run = await insertRun({ db, clock }, request)
    if (run !== undefined) return { run, is_new: true }
    const pending = await findPending(db, request)
    if (pending !== undefined) return { run: pending, is_new: false }
  }
  throw problem('overloaded', {
    detail: `trace_id: runs of ${request.trace_id} start and end right now. Retry the request`,
    retry_after_s: 1,
  })
}

const attempts_max = 5

function insertRun(
  { db, clock }: { db: RunsDb; clock: Clock },
  { verifiers, ...request }: RunRequest,
): Promise<Run | undefined> {
  const { project_id } = request
  return db.transaction().execute(async (trx) => {
    const id = newId()
    const created_at = new Date(clock.now_ms())
    const inserted = await trx
      .insertInto('verification_runs')
      .values({
        ...request,
        id,
        created_at,
        state: 'pending',
        verifiers: JSON.stringify(verifiers),
      })
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
      .executeTakeFirst()
    if (inserted === undefined) return undefined
    await assertQueueHasRoom(trx, project_id)
    const params = { run_id: id }
    const { requested_by } = request
    const job = { project_id, kind: verificationJob, params, requested_by, clock }
    const { id: job_id } = await enqueueJob(trx as JobDb, job)
    const run = await trx
      .updateTable('verification_runs')
      .set({ job_id })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
    if (run.task_id !== null) await refreshTasksTrust(trx, project_id, [run.task_id])
    return run
  })
}

/** Throws when the project has more pending runs than allowed, this one included. */
async function assertQueueHasRoom(trx: RunsDb, project_id: string): Promise<void> {
  const pending = trx
    .selectFrom('verification_runs')
    .select('id')
    .where('project_id', '=', project_id)
    .where('state', '=', 'pending')
  if ((await countUpTo(trx, pending, maxQueuedRuns + 1)) <= maxQueuedRuns) return
  throw problem('verification_queue_full', {
    detail: `The project has ${maxQueuedRuns} pending verifications. Wait for some to end.`,
    retry_after_s: 10,
  })
}

function selectRuns(db: RunsDb, { project_id, trace_id }: TraceKey) {
  return db
    .selectFrom('verification_runs')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('trace_id', '=', trace_id)
}

function findPending(db: RunsDb, trace: TraceKey): Promise<Run | undefined> {
  return selectRuns(db, trace).where('state', '=', 'pending').executeTakeFirst()
}

/** Returns the newest run of a trace that was not cancelled. */
export function latestRun(db: RunsDb, trace: TraceKey): Promise<Run | undefined> {
  return selectRuns(db, trace)
    .where('state', '<>', 'cancelled')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Returns the newest run of a trace that ended as verified: the result of the trace. */
export function latestVerified(db: RunsDb, trace: TraceKey): Promise<Run | undefined> {
  return selectRuns(db, trace)
    .where('state', '=', 'verified')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** A run of a project. */
export type RunKey = { project_id: string; run_id: string }

/** Returns a run in any state; `run_id` must be a UUID. */
export function findRun(db: RunsDb, { project_id, run_id }: RunKey): Promise<Run | undefined> {
  return db
    .selectFrom('verification_runs')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('id', '=', run_id)
    .executeTakeFirst()
}

/** Runs of a trace or of the traces of a task. */
export type RunFilter = { project_id: string } & ({ trace_id: string } | { task_id: string })

/** Returns runs in any state, newest first. */
export function listRuns(
  db: RunsDb,
  filter: RunFilter,
  /** `after`: only runs created before the one with this id. */
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<Run[]> {
  return filterRuns(db, filter)
    .selectAll()
    .$if(after !== undefined, (query) => query.where('id', '<', after ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** Counts runs up to `limit`. */
export async function countRuns(db: RunsDb, filter: RunFilter, limit: number): Promise<number> {
  const rows = await filterRuns(db, filter).select('id').limit(limit).execute()
  return rows.length
}

function filterRuns(db: RunsDb, filter: RunFilter) {
  const query = db.selectFrom('verification_runs').where('project_id', '=', filter.project_id)
  return 'trace_id' in filter
    ? query.where('trace_id', '=', filter.trace_id)
    : query.where('task_id', '=', filter.task_id)
}

/**
 * Cancels a pending run: its worker stops within a second and writes nothing. Returns undefined
 * when the run does not exist or has ended.
 */
export function cancelRun(
  { db, clock }: { db: RunsDb; clock: Clock },
  { project_id, run_id }: RunKey,
  by: string,
): Promise<Run | undefined> {
  return db.transaction().execute(async (trx) => {
    const run = await trx
      .updateTable('verification_runs')
      .set({
        state: 'cancelled',
        ended_at: new Date(clock.now_ms()),
        error: JSON.stringify({ code: 'cancelled', message: `Cancelled by ${by}.` }),
      })
      .where('project_id', '=', project_id)
      .where('id', '=', run_id)
      .where('state', '=', 'pending')
      .returningAll()
      .executeTakeFirst()
    if (run === undefined) return undefined
    await trx
      .updateTable('job_runs')
      .set({ state: 'failed', error: `Cancelled by ${by}.`, ended_at: sql`now()` })
      .set({ lease_owner: null, lease_until: null })
      .where('id', '=', run.job_id ?? '')
      .where('state', 'in', ['queued', 'running'])
      .execute()
    if (run.task_id !== null) await refreshTasksTrust(trx, project_id, [run.task_id])
    return run
  })
}

/**
 * Computes the trust columns of tasks again from their runs: the score of the newest answer that
 * was verified, and the state of the newest run of the newest answer. Locks the tasks in the order
 * of their ids.
 */
export async function refreshTasksTrust(
  trx: RunsDb,
  project_id: string,
  task_ids: readonly string[],
): Promise<void> {
  if (task_ids.length === 0) return
  const runs = sql`verification_runs
    where project_id = ${project_id} and task_id = given.task_id and state <> 'cancelled'`
  await sql`
    with given as (
      select task_id from tasks
      where project_id = ${project_id} and task_id = any(${[...new Set(task_ids)]})
      order by task_id for no key update
    )
    update tasks set
      trust_score = verified.trust_score,
      trust_coverage = (verified.trust ->> 'coverage')::float8,
      verified_at = verified.ended_at,
      verification_state = newest.state
    from given
    left join lateral (
      select state from ${runs} order by trace_start desc, id desc limit 1) as newest on true
    left join lateral (
      select trust_score, trust, ended_at from ${runs} and state = 'verified'
      order by trace_start desc, id desc limit 1) as verified on true
    where tasks.project_id = ${project_id} and tasks.task_id = given.task_id
  `.execute(trx)
  await noteChanges(
    trx,
    task_ids.map((id) => ({ project_id, kind: 'task', id })),
  )
}
