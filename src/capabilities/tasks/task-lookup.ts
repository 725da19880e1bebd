import { traceIdFrom } from '../../kernel/ids.ts'
import { problem } from '../../kernel/problem.ts'
import { findTask, type TaskRow } from './store.ts'
import type { TaskDeps } from './task-deps.ts'

/**
 * The project's task a client means by a path: its own string, or, for an implicit task, the trace
 * id in either spelling. Throws `task_not_found`, also for a task of another project.
 */
export async function taskNamed(
  { db }: Pick<TaskDeps, 'db'>,
  projectId: string,
  taskId: string,
): Promise<TaskRow> {
  const row = await taskIfAny({ db }, projectId, taskId)
  if (row === undefined) throw taskNotFound(taskId)
  return row
}

/** Like `taskNamed`, but answers undefined when there is none. */
export async function taskIfAny(
  { db }: Pick<TaskDeps, 'db'>,
  projectId: string,
  taskId: string,
): Promise<TaskRow | undefined> {
  const traceId = traceIdFrom(taskId)
  const row = await findTask(db, projectId, traceId ? [taskId, traceId] : [taskId])
  return row === undefined || row.task_id === taskId || row.implicit ? row : undefined
}

export function taskNotFound(taskId: string) {
  return problem('task_not_found', {
    detail: `task_id: got "${taskId}", which is no task of this project`,
  })
}
