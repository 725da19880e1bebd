import { traceIdFrom } from '../../../kernel/ids.ts'
import { type Selectable, sql, type TaskTables } from '../../../platform/relational/index.ts'
import { findJoinedTask } from '../../tasks/index.ts'
import type { FeedbackDb } from '../ports.ts'
import { countAllVotes, type FeedbackTaskRow } from '../votes/settle-votes.ts'

/** The fields of a task that its feedback copies. */
type SeenTask = Pick<
  Selectable<TaskTables['tasks']>,
  | 'task_id'
  | 'name'
  | 'environment'
  | 'release'
  | 'models'
  | 'user_id'
  | 'conversation_id'
  | 'implicit'
  | 'started_at'
>

type TaskKey = { project_id: string; task_id: string }

/** Maximum models of a task for which its votes are counted. */
const models_max = 20

/**
 * Finds a task of the project by its id: the client's own string or, for an implicit task, the
 * trace id of one of its calls in either spelling. Browser keys name a trace by its UUID, so a UUID also finds a task
 * whose own id is another spelling of it. Returns undefined for a task that was not seen yet.
 */
export async function findSeenTask(
  db: FeedbackDb,
  { project_id, task_id }: TaskKey,
): Promise<SeenTask | undefined> {
  const trace_id = traceIdFrom(task_id) ?? task_id
  const spellings = task_id === trace_id ? spellingsOf(trace_id) : [task_id, trace_id]
  const found = await tasksNamed(db, project_id, spellings)
  const own = found.find(
    (row) => row.task_id !== trace_id || row.implicit || row.task_id === task_id,
  )
  if (found.length > 0 || traceIdFrom(trace_id) === undefined) return own
  const joined = await findJoinedTask(db, project_id, trace_id)
  return joined === undefined ? undefined : (await tasksNamed(db, project_id, [joined]))[0]
}

/** Returns the tasks of a project with these ids, in the order of the ids. */
async function tasksNamed(
  db: FeedbackDb,
  project_id: string,
  task_ids: readonly string[],
): Promise<SeenTask[]> {
  const rows = await db
    .selectFrom('tasks')
    .select(['task_id', 'name', 'environment', 'release', 'models', 'user_id'])
    .select(['conversation_id', 'implicit', 'started_at'])
    .where('project_id', '=', project_id)
    .where('task_id', 'in', task_ids)
    .execute()
  return task_ids.flatMap((id) => rows.filter((row) => row.task_id === id))
}

/** Returns the spellings of a trace id that clients use as ids of tasks. */
function spellingsOf(trace_id: string): string[] {
  if (traceIdFrom(trace_id) === undefined) return [trace_id]
  const hex = trace_id.replaceAll('-', '')
  return [trace_id, hex, trace_id.toUpperCase(), hex.toUpperCase()]
}

/** A task that gets an item. */
type TaskToLock = TaskKey & {
  /** End user of the item. */
  user_id: string | null
  /** ISO 8601: the time of the item. */
  at: string
  now_ms: number
  /** Time for which items wait for a task that was not seen. */
  pending_ms: number
}

/**
 * Locks the row of a task with feedback until the transaction ends. Creates a missing row. Attaches
 * waiting items if the task has been seen.
 */
export async function lockFeedbackTask(trx: FeedbackDb, one: TaskToLock): Promise<FeedbackTaskRow> {
  const { project_id, at, now_ms, user_id } = one
  const seen = await findSeenTask(trx, one)
  const row = await trx
    .insertInto('feedback_tasks')
    .values({
      project_id,
      task_id: seen?.task_id ?? one.task_id,
      first_at: at,
      last_at: at,
      created_at: iso(now_ms),
      ...(seen === undefined
        ? { look_at: iso(now_ms), expires_at: iso(now_ms + one.pending_ms) }
        : copiedFrom(seen, user_id)),
    })
    .onConflict((conflict) =>
      // Changes nothing, and locks the row.
      conflict.columns(['project_id', 'task_id']).doUpdateSet({ items: sql`feedback_tasks.items` }),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
  return row.attached || seen === undefined ? row : attachTask(trx, row, seen, user_id)
}

/** Locks the row of a task with feedback; undefined without feedback. */
export function findFeedbackTask(
  trx: FeedbackDb,
  { project_id, task_id }: TaskKey,
): Promise<FeedbackTaskRow | undefined> {
  return trx
    .selectFrom('feedback_tasks')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('task_id', '=', task_id)
    .forUpdate()
    .executeTakeFirst()
}

/**
 * Attaches the waiting items of a locked row to the task, and counts their votes. Items that name
 * an implicit task by the other spelling of its trace id move to the row of the task. Returns the
 * row of the task.
 */
export async function attachTask(
  trx: FeedbackDb,
  waiting: FeedbackTaskRow,
  seen: SeenTask,
  user_id: string | null,
): Promise<FeedbackTaskRow> {
  const { project_id, task_id, first_at, last_at, created_at } = waiting
  if (task_id !== seen.task_id) {
    await trx
      .insertInto('feedback_tasks')
      .values({ project_id, task_id: seen.task_id, first_at, last_at, created_at })
      .onConflict((conflict) => conflict.columns(['project_id', 'task_id']).doNothing())
      .execute()
    await moveItems(trx, waiting, seen.task_id)
  }
  const row = await trx
    .updateTable('feedback_tasks')
    .set({ ...copiedFrom(seen, user_id), look_at: null, expires_at: null })
    .where('project_id', '=', project_id)
    .where('task_id', '=', seen.task_id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await trx
    .updateTable('feedback')
    .set({ state: 'attached' })
    .where('project_id', '=', project_id)
    .where('task_id', '=', seen.task_id)
    .where('state', '=', 'pending')
    .execute()
  await countAllVotes(trx, row)
  return row
}

function copiedFrom(seen: SeenTask, user_id: string | null) {
  return {
    task_ref: seen.task_id,
    task_name: seen.name,
    environment: seen.environment,
    release: seen.release,
    models: seen.models.slice(0, models_max),
    cluster: clusterOf(seen, user_id),
    task_started_at: seen.started_at,
  }
}

/** Moves waiting items to another row, except items whose id exists in that row. */
async function moveItems(trx: FeedbackDb, from: FeedbackTaskRow, to: string): Promise<void> {
  const { project_id, task_id } = from
  await sql`
    with moved as (
      update feedback as item set task_id = ${to}
      where project_id = ${project_id} and task_id = ${task_id}
        and not exists (select from feedback as known
          where known.project_id = ${project_id} and known.task_id = ${to}
            and known.feedback_id = item.feedback_id)
      returning 1
    )
    update feedback_tasks set items = items + (select count(*) from moved)
    where project_id = ${project_id} and task_id = ${to}
  `.execute(trx)
  await trx
    .deleteFrom('feedback_tasks')
    .where('project_id', '=', project_id)
    .where('task_id', '=', task_id)
    .execute()
}

/** Returns the cluster of a task: the user, conversation or task whose votes are correlated. */
function clusterOf(
  { task_id, conversation_id, user_id: owner }: SeenTask,
  voter: string | null,
): string {
  const user_id = owner ?? voter
  if (user_id !== null) return `user:${user_id}`
  return conversation_id === null ? `task:${task_id}` : `conversation:${conversation_id}`
}

function iso(time_ms: number): string {
  return new Date(time_ms).toISOString()
}
