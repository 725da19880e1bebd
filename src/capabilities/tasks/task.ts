import { defineRoute, type Route } from '../../platform/http/index.ts'
import type { TaskDeps } from './task-deps.ts'
import { taskNamed } from './task-lookup.ts'
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
