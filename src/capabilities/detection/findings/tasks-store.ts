import { type Kysely, prepared, sql, type TaskTables } from '../../../platform/relational/index.ts'
import type { DetectionDb } from '../ports.ts'

/** Fields of a task's record that detection needs. */
export type TaskFacts = TaskKey & {
  conversation_id: string | null
  started_at: string
  state: 'running' | 'completed' | 'failed'
  /**
   * True for a task that is a single trace: its state is that of its last call and does not show
   * its end.
   */
  implicit: boolean
  calls: number
}

/** Returns these tasks of a project. */
export function findTasks(
  db: DetectionDb,
  project_id: string,
  task_ids: readonly string[],
): Promise<TaskFacts[]> {
  return selectFacts(db, project_id)
    .where(sql<boolean>`task_id = any(${[...task_ids]})`)
    .execute()
}

/** Returns the most recently active tasks of a project. */
export function findLatestTasks(
  db: DetectionDb,
  project_id: string,
  limit: number,
): Promise<TaskFacts[]> {
  return selectFacts(db, project_id)
    .orderBy('last_activity_at', 'desc')
    .orderBy('task_id', 'desc')
    .limit(limit)
    .execute()
}

function selectFacts(db: DetectionDb, project_id: string) {
  return db
    .selectFrom('tasks')
    .select([
      'project_id',
      'task_id',
      'conversation_id',
      'started_at',
      'state',
      'implicit',
      'calls',
    ])
    .where('project_id', '=', project_id)
}

/** Locks the task until the transaction ends; false if it was deleted. */
export async function lockTask(
  trx: DetectionDb,
  { project_id, task_id }: TaskKey,
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from tasks where project_id = ${project_id} and task_id = ${task_id}
    for no key update
  `.execute(trx)
  return rows.length > 0
}

/**
 * Returns the context memory of the latest earlier task of the conversation that has one; it
 * includes the statements of the tasks before.
 */
export async function findEarlierMemory(
  db: DetectionDb,
  { project_id, task_id, conversation_id, started_at }: TaskFacts,
): Promise<unknown> {
  if (conversation_id === null) return
  const row = await db
    .selectFrom('tasks')
    .innerJoin('task_detections', (join) =>
      join
        .onRef('task_detections.project_id', '=', 'tasks.project_id')
        .onRef('task_detections.task_id', '=', 'tasks.task_id'),
    )
    .select('task_detections.ledger')
    .where('tasks.project_id', '=', project_id)
    .where('tasks.conversation_id', '=', conversation_id)
    .where(sql<boolean>`(tasks.started_at, tasks.task_id) < (${started_at}, ${task_id})`)
    .where('task_detections.ledger', 'is not', null)
    .orderBy('tasks.started_at', 'desc')
    .orderBy('tasks.task_id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.ledger ?? undefined
}

/** Returns later tasks of the conversation, nearest first. */
export async function findLaterTasks(
  db: DetectionDb,
  { project_id, task_id, conversation_id, started_at }: TaskFacts,
  limit: number,
): Promise<TaskKey[]> {
  if (conversation_id === null) return []
  return db
    .selectFrom('tasks')
    .select(['project_id', 'task_id'])
    .where('project_id', '=', project_id)
    .where('conversation_id', '=', conversation_id)
    .where(sql<boolean>`(started_at, task_id) > (${started_at}, ${task_id})`)
    .orderBy('started_at')
    .orderBy('task_id')
    .limit(limit)
    .execute()
}

/** Stored ids of a task. */
export type TaskKey = { project_id: string; task_id: string }

/** State of a task's detection as read, to detect changes before writing. */
export type TaskSnapshot = TaskKey & {
  /** Null for an unclaimed task, which is written unless another process wrote in the meantime. */
  claim: string | null
  epoch: string
  /** Digits. */
  revision: string
  touches: string
}

/** A claimed due task. */
export type ClaimedTask = TaskSnapshot & {
  claim: string
  /** ISO 8601. */
  due_at: string
  failures: number
}

/**
 * Marks tasks as due. The transaction must hold locks on their rows, so that they cannot be
 * deleted. A resting task is due after its rest. Locks in key order.
 */
export async function markDue(trx: Kysely<TaskTables>, tasks: readonly TaskKey[]): Promise<void> {
  if (tasks.length === 0) return
  await sql`
    insert into task_detections (project_id, task_id, touches, due_at)
    select project_id, task_id, 1, now() from ${keysTable(tasks)} order by project_id, task_id
    on conflict (project_id, task_id) do update set ${markColumns}
  `.execute(prepared(trx, 'mark_due'))
}

/** Marks those of these tasks that have been analysed before. Locks in key order. */
export async function markKnownDue(db: DetectionDb, tasks: readonly TaskKey[]): Promise<void> {
  if (tasks.length === 0) return
  await sql`
    with held as (
      select project_id, task_id from task_detections join ${keysTable(tasks)}
        using (project_id, task_id)
      order by project_id, task_id for update of task_detections
    )
    update task_detections set ${markColumns} from held
    where (task_detections.project_id, task_detections.task_id) = (held.project_id, held.task_id)
  `.execute(prepared(db, 'mark_known_due'))
}

/**
 * Claims the tasks that have been due longest, in turn from all projects, so that a busy project
 * cannot starve others. Walks from project to project by index: the cost depends on the number of
 * projects, not of tasks.
 */
export async function claimDue(
  db: DetectionDb,
  { claim, lease_ms, limit }: { claim: string; lease_ms: number; limit: number },
): Promise<ClaimedTask[]> {
  const { rows } = await sql<ClaimedTask>`
    with recursive projects as (
      (select project_id from task_detections where due_at is not null
        order by project_id limit 1)
      union all
      select (select project_id from task_detections
        where due_at is not null and project_id > projects.project_id
        order by project_id limit 1)
      from projects where projects.project_id is not null
    ), waiting as (
      select oldest.* from projects cross join lateral (
        select project_id, task_id, due_at, row_number() over (order by due_at) as turn
        from task_detections
        where project_id = projects.project_id
          and due_at <= now() and (claimed_until is null or claimed_until < now())
        order by due_at limit ${limit}
      ) as oldest
      order by turn, due_at limit ${limit}
    ), due as (
      select project_id, task_id from task_detections join waiting using (project_id, task_id)
      where claimed_until is null or claimed_until < now()
      for update of task_detections skip locked
    )
    update task_detections as task
    set claim = ${claim}, claimed_until = now() + ${lease_ms} * interval '1 ms'
    from due where (task.project_id, task.task_id) = (due.project_id, due.task_id)
    returning task.project_id, task.task_id, task.claim, task.epoch, task.revision::text,
      task.touches::text, task.due_at, task.failures
  `.execute(db)
  return rows
}

/** Releases unfinished claims, so that another worker can continue at once. */
export async function releaseClaims(
  db: DetectionDb,
  claimed: readonly ClaimedTask[],
): Promise<void> {
  await sql`
    update task_detections as task set claim = null, claimed_until = null
    from ${keysTable(claimed)}
    where (task.project_id, task.task_id) = (given.project_id, given.task_id)
      and task.claim = ${claimed[0]?.claim ?? null}::uuid
  `.execute(db)
}

/**
 * Releases a task whose analysis failed: it is due again after a delay, or not until it changes.
 */
export async function postpone(
  db: DetectionDb,
  { project_id, task_id, claim }: ClaimedTask,
  { delay_ms, failed }: { delay_ms: number | null; failed: boolean },
): Promise<void> {
  await sql`
    update task_detections set
      claim = null, claimed_until = null, failures = failures + ${failed ? 1 : 0},
      due_at = now() + ${delay_ms} * interval '1 ms'
    where project_id = ${project_id} and task_id = ${task_id} and claim = ${claim}
  `.execute(db)
}

/** Counts due tasks up to `limit`, and the age of the oldest. */
export async function countDue(
  db: DetectionDb,
  limit: number,
): Promise<{ tasks: number; oldest_ms: number }> {
  const { rows } = await sql<{ tasks: number; oldest_ms: number }>`
    select count(*)::int as tasks,
      coalesce(greatest(0, extract(epoch from now() - min(due_at)) * 1000), 0)::float8 as oldest_ms
    from (select due_at from task_detections where due_at <= now() order by due_at limit ${limit})
      as due
  `.execute(db)
  return rows[0] ?? { tasks: 0, oldest_ms: 0 }
}

const markColumns = sql.raw(`touches = task_detections.touches + 1, failures = 0,
  due_at = coalesce(task_detections.due_at, greatest(now(), task_detections.rests_until))`)

function keysTable(tasks: readonly TaskKey[]) {
  const keys = tasks.map(({ project_id, task_id }) => ({ project_id, task_id }))
  return sql`json_to_recordset(${JSON.stringify(keys)}::json) as given (
    project_id uuid, task_id text
  )`
}
