import {
  type DetectionTables,
  type Kysely,
  sql,
  type TaskTables,
} from '../../../platform/relational/index.ts'
import type { DetectionDb } from '../ports.ts'
import type { TaskKey } from './due-tasks.ts'

type Db = Kysely<DetectionTables & TaskTables>

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
  db: Db,
  project_id: string,
  task_ids: readonly string[],
): Promise<TaskFacts[]> {
  return selectFacts(db, project_id)
    .where(sql<boolean>`task_id = any(${[...task_ids]})`)
    .execute()
}

/** Returns the most recently active tasks of a project. */
export function findLatestTasks(db: Db, project_id: string, limit: number): Promise<TaskFacts[]> {
  return selectFacts(db, project_id)
    .orderBy('last_activity_at', 'desc')
    .orderBy('task_id', 'desc')
    .limit(limit)
    .execute()
}

function selectFacts(db: Db, project_id: string) {
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
export async function lockTask(trx: Db, { project_id, task_id }: TaskKey): Promise<boolean> {
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
