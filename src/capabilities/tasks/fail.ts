import { defineRoute, type Route } from '../../platform/http/index.ts'
import { endBody, endTaskOnRequest } from './complete.ts'
import { type TaskDeps, taskPath, taskSchema } from './task.ts'

/** PUT /api/v1/tasks/{task_id}/fail: fails a running task, see `endTaskOnRequest`. */
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
