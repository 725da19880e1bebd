import { traceIdFrom } from '../../kernel/ids.ts'
import { problem } from '../../kernel/problem.ts'
import type { Clock } from '../../kernel/time.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import type { ContextJudge, DetectionDb } from '../detection/index.ts'
import type { ObservationStore } from '../storage/index.ts'
import { findTask, type TaskRow } from './store.ts'
import { taskFrom, taskPath, taskSchema } from './task-record.ts'

/** GET /api/v1/tasks/{task_id}: one task, with the sums over its calls. */
export function getTask(deps: TaskDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/tasks/{task_id}',
    id: 'getTask',
    summary: 'One task: state, times, calls, tokens, cost',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'tasks:read' },
    params: taskPath,
    reply: taskSchema,
    errors: ['task_not_found'],
    handle: async ({ params, caller }) => {
      const row = await taskNamed(deps, caller.project_id, params.task_id)
      return taskFrom(row, { now_ms: deps.clock.now_ms(), ...deps.settings })
    },
  })
}

/** Dependencies of the routes of tasks and conversations. */
export type TaskDeps = {
  db: DetectionDb
  store: ObservationStore
  clock: Clock
  settings: TaskSettings
  /** A model that judges context when a client forces a detection. */
  judge?: ContextJudge | undefined
}

export type TaskSettings = {
  /** Time without a call after which a running task counts as stalled. */
  stalled_after_ms: number
  /**
   * How long complete and fail wait for a task that the worker has not written yet. Default 2,000,
   * the time within which every call is to be readable.
   */
  arrival_wait_ms?: number
}

/**
 * Returns the project's task by the id in a path: the client's own string or, for an implicit task,
 * the trace id in either spelling. Throws `task_not_found`, also for a task of another project.
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

/** Like `taskNamed`, but returns undefined for an unknown task. */
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
