import { defineRoute, type Route } from '../../platform/http/index.ts'
import { endBody, endTaskOnRequest } from './end-task.ts'
import type { TaskDeps } from './task-deps.ts'
import { taskPath, taskSchema } from './task-record.ts'

/** PUT /api/v1/tasks/{task_id}/fail: a running task is failed; `end-task.ts` has the rules. */
export function failTask(deps: TaskDeps): Route {
  return defineRoute({
    method: 'PUT',
    url: '/api/v1/tasks/{task_id}/fail',
    id: 'failTask',
    summary: 'Fails a running task',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'editor', key: 'tasks:write' },
    params: taskPath,
    body: endBody,
    reply: taskSchema,
    errors: ['task_not_found', 'task_state_conflict'],
    handle: ({ params, body, caller, signal }) =>
      endTaskOnRequest(deps, { task_id: params.task_id, state: 'failed', body, caller, signal }),
  })
}
