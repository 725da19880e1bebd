import {
  type FeedbackTables,
  type Kysely,
  noteChanges,
  type Selectable,
  type TaskTables,
} from '../../platform/relational/index.ts'
import { markDue } from '../detection/index.ts'

/** States of a task. */
export const taskStates = ['running', 'completed', 'failed'] as const
export type TaskState = (typeof taskStates)[number]

/** A stored task, with the client's own id of its conversation, and its votes of end users. */
export type TaskRow = Selectable<TaskTables['tasks']> & {
  conversation_external_id: string | null
  /** Null without feedback, as the next two. */
  feedback_positive: number | null
  feedback_negative: number | null
  feedback_last_at: string | null
}

/**
 * Returns the task with the first of these ids that exists, or undefined. Throws
 * `store_unavailable`.
 */
export async function findTask(
  db: Kysely<TaskTables>,
  projectId: string,
  taskIds: readonly string[],
): Promise<TaskRow | undefined> {
  const rows = await tasksWithConversations(db)
    .where('tasks.project_id', '=', projectId)
    .where('tasks.task_id', 'in', taskIds)
    .execute()
  return taskIds.map((id) => rows.find((row) => row.task_id === id)).find((row) => row)
}

export type TaskEventRow = Selectable<TaskTables['task_events']>

/** Returns a task's events, oldest first, at most `limit`. Throws `store_unavailable`. */
export async function findTaskEvents(
  db: Kysely<TaskTables>,
  projectId: string,
  taskId: string,
  limit: number,
): Promise<TaskEventRow[]> {
  return db
    .selectFrom('task_events')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('task_id', '=', taskId)
    .orderBy('at')
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** The end of a task, with the event to write for it. */
export type TaskEnd = {
  event_id: string
  state: Exclude<TaskState, 'running'>
  at: string
  actor: { kind: string; id: string }
  note: string | null
}

/**
 * Ends a running task and writes the event, in one transaction that locks the task's row, so that
 * of two requests at once the second sees the first one's state. Returns false, and changes
 * nothing, when the task was not running. Throws `store_unavailable`.
 */
export async function endTask(
  db: Kysely<TaskTables>,
  projectId: string,
  taskId: string,
  end: TaskEnd,
): Promise<boolean> {
  const { state, at, actor, note } = end
  return db.transaction().execute(async (trx) => {
    const changed = await trx
      .updateTable('tasks')
      .set({ state, ended_at: at, ended_by: `${actor.kind}:${actor.id}`, end_note: note })
      .set({ updated_at: at })
      .where('project_id', '=', projectId)
      .where('task_id', '=', taskId)
      .where('state', '=', 'running')
      .where('implicit', '=', false)
      .executeTakeFirst()
    if (changed.numUpdatedRows === 0n) return false
    await trx
      .insertInto('task_events')
      .values({
        id: end.event_id,
        project_id: projectId,
        task_id: taskId,
        kind: state,
        at,
        actor_kind: actor.kind,
        actor_id: actor.id,
        note,
      })
      .execute()
    // Detection also uses the end: the task failed, or was completed too early.
    await markDue(trx, [{ project_id: projectId, task_id: taskId }])
    await noteChanges(trx, [{ project_id: projectId, kind: 'task', id: taskId }])
    return true
  })
}

/** Selects tasks with the client's own ids of their conversations, and their votes of end users. */
export function tasksWithConversations(db: Kysely<TaskTables>) {
  return db
    .withTables<Pick<FeedbackTables, 'feedback_tasks'>>()
    .selectFrom('tasks')
    .leftJoin('conversations', (join) =>
      join
        .onRef('conversations.project_id', '=', 'tasks.project_id')
        .onRef('conversations.conversation_id', '=', 'tasks.conversation_id'),
    )
    .leftJoin('feedback_tasks', (join) =>
      join
        .onRef('feedback_tasks.project_id', '=', 'tasks.project_id')
        .onRef('feedback_tasks.task_id', '=', 'tasks.task_id'),
    )
    .selectAll('tasks')
    .select('conversations.external_id as conversation_external_id')
    .select('feedback_tasks.positive as feedback_positive')
    .select('feedback_tasks.negative as feedback_negative')
    .select('feedback_tasks.last_at as feedback_last_at')
}
