import { isoFromNs } from '../../../kernel/time.ts'
import { sql } from '../../../platform/relational/index.ts'
import type { RetentionSlice, RetentionTarget, UserErasure } from '../../storage/index.ts'
import type { DetectionDb } from '../ports.ts'
import { markKnownDue } from './tasks-store.ts'

/** Maximum tasks per transaction. */
const tasks_max = 500

/**
 * Opens the retention of findings, which quote content, as do verdicts and context memories. The
 * database deletes findings with their task. Deleting observations deletes the findings that
 * started in the slice and the quotes of the task's other findings; erasing content deletes the
 * quotes. A running analysis then writes nothing, because the task's `epoch` changes.
 */
export function openFindingsRetention({ db }: { db: DetectionDb }): RetentionTarget {
  return {
    store: 'postgres',
    kinds: ['observations'],
    deleteRows: async (slice, signal) => {
      if (slice.kind !== 'observations') return
      await deleteFindings(db, slice)
      await expireQuotes(db, slice, signal)
    },
    maskContent: async (slice, signal) => {
      if (slice.kind === 'observations') await expireQuotes(db, slice, signal)
    },
    eraseUser: (erasure) => forgetUser(db, erasure),
  }
}

async function deleteFindings(db: DetectionDb, slice: RetentionSlice): Promise<void> {
  const { project_id, from, to, held_trace_ids } = slice
  await sql`
    delete from findings using tasks
    where findings.project_id = ${project_id}
      and (tasks.project_id, tasks.task_id) = (findings.project_id, findings.task_id)
      and findings.started_at >= ${isoFromNs(from)} and findings.started_at < ${isoFromNs(to)}
      and not (findings.trace_ids && ${[...held_trace_ids]}::uuid[])
      and ${filterEnvironments(slice)}
  `.execute(db)
}

/**
 * Deletes the quotes of tasks with calls in the slice, and of tasks whose memory contains
 * statements of such a task.
 */
async function expireQuotes(
  db: DetectionDb,
  slice: RetentionSlice,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    signal?.throwIfAborted()
    const behind: string = after
    after = await db.transaction().execute(async (trx) => {
      const ids = await findQuotingTasks(trx, slice, behind)
      await expire(trx, slice, ids)
      return ids.length < tasks_max ? undefined : ids.at(-1)
    })
  }
}

/** Returns tasks in order of their ids, locked. */
async function findQuotingTasks(
  trx: DetectionDb,
  slice: RetentionSlice,
  after: string,
): Promise<string[]> {
  const { project_id } = slice
  const { rows } = await sql<{ task_id: string }>`
    select tasks.task_id from tasks
    join task_detections using (project_id, task_id)
    where tasks.project_id = ${project_id} and tasks.task_id > ${after}
      and ((${filterSlice(slice)}) or exists (
        select from jsonb_array_elements(task_detections.ledger -> 'entries') as entry
        left join tasks as told
          on told.project_id = ${project_id} and told.task_id = entry ->> 'task_id'
        where entry ->> 'task_id' <> tasks.task_id
          and (told.task_id is null or told.last_activity_at < ${isoFromNs(slice.to)})))
    order by tasks.task_id limit ${tasks_max} for no key update of tasks
  `.execute(trx)
  return rows.map(({ task_id }) => task_id)
}

function filterSlice(slice: RetentionSlice) {
  return sql`tasks.started_at < ${isoFromNs(slice.to)}
    and tasks.last_activity_at >= ${isoFromNs(slice.from)} and ${filterEnvironments(slice)}`
}

function filterEnvironments({ environments }: RetentionSlice) {
  return environments === undefined
    ? sql`true`
    : sql`coalesce(tasks.environment, '') = any(${[...environments]})`
}

async function expire(
  trx: DetectionDb,
  { project_id, held_trace_ids }: Pick<RetentionSlice, 'project_id' | 'held_trace_ids'>,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return
  const which = sql`project_id = ${project_id} and task_id = any(${[...ids]})`
  await sql`update tasks set verdict = ${expiredVerdict()} where ${which} and verdict is not null`.execute(
    trx,
  )
  await sql`
    update task_detections set
      ledger = null, judged = null, epoch = gen_random_uuid(), revision = revision + 1
    where ${which}
  `.execute(trx)
  await sql`
    update findings set evidence = '{"expired": true}', summary = ${expiredSummary}
    where ${which} and not (trace_ids && ${[...held_trace_ids]}::uuid[])
  `.execute(trx)
}

function expiredVerdict() {
  return sql`jsonb_set(
    case when verdict ->> 'root_cause' is null then verdict
      else jsonb_set(verdict, '{root_cause,evidence}', '{}') end,
    '{summary}', to_jsonb(${expiredSummary}::text))`
}

/** Verification runs whose texts are deleted, and the tasks of their traces. */
type ExpiredRuns = {
  project_id: string
  task_ids: readonly string[]
  run_ids: readonly string[]
}

/**
 * Deletes the quotes of the findings that verification runs reported. Such a finding may quote an
 * earlier task of the conversation. Call it at the end of a transaction.
 */
export async function expireClaimFindings(
  trx: DetectionDb,
  { project_id, task_ids, run_ids }: ExpiredRuns,
): Promise<void> {
  if (task_ids.length === 0) return
  const { rows } = await sql<{ task_id: string }>`
    with expired as (
      update findings set evidence = '{"expired": true}', summary = ${expiredSummary}
      where project_id = ${project_id} and task_id = any(${[...task_ids]})
        and evidence ->> 'run_id' = any(${[...run_ids]})
      returning task_id
    )
    update tasks set verdict = ${expiredVerdict()}
    where project_id = ${project_id} and verdict is not null
      and task_id in (select task_id from expired)
    returning task_id`.execute(trx)
  await markKnownDue(
    trx,
    rows.map(({ task_id }) => ({ project_id, task_id })),
  )
}

const expiredSummary = 'The evidence is no longer stored.'

/**
 * Deletes the findings of tasks the user took part in, and of tasks whose memory contains
 * statements of a deleted task. Those tasks are analysed again, without the user's content.
 */
async function forgetUser(
  db: DetectionDb,
  { project_id, user_id, held_trace_ids }: UserErasure,
): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const behind: string = after
    after = await db.transaction().execute(async (trx) => {
      const { rows } = await sql<{ task_id: string }>`
        select tasks.task_id from tasks
        join task_detections using (project_id, task_id)
        where tasks.project_id = ${project_id} and tasks.task_id > ${behind}
          and (tasks.user_id = ${user_id} or task_detections.user_ids @> ${[user_id]}
            or exists (
              select from jsonb_array_elements(task_detections.ledger -> 'entries') as entry
              where not exists (select from tasks as told
                where told.project_id = ${project_id} and told.task_id = entry ->> 'task_id')))
        order by tasks.task_id limit ${tasks_max} for no key update of tasks
      `.execute(trx)
      const ids = rows.map(({ task_id }) => task_id)
      await forget(trx, { project_id, user_id, held_trace_ids }, ids)
      return ids.length < tasks_max ? undefined : ids.at(-1)
    })
  }
}

async function forget(
  trx: DetectionDb,
  { project_id, user_id, held_trace_ids }: Omit<UserErasure, 'trace_ids'>,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return
  const which = sql`project_id = ${project_id} and task_id = any(${[...ids]})`
  await sql`
    update tasks set verdict = null, worst_severity = 0, wasted_tokens = 0, wasted_cost_usd = 0
    where ${which}
  `.execute(trx)
  await sql`
    update task_detections set
      ledger = null, judged = null, epoch = gen_random_uuid(), revision = revision + 1,
      user_ids = array_remove(user_ids, ${user_id}), touches = touches + 1, due_at = now()
    where ${which}
  `.execute(trx)
  await sql`
    delete from findings
    where ${which} and not (trace_ids && ${[...held_trace_ids]}::uuid[])
  `.execute(trx)
}
