import type { Route } from '../../platform/http/index.ts'
import { endTaskRoute } from './complete.ts'
import type { TaskDeps } from './task.ts'

/** PUT /api/v1/tasks/{task_id}/fail: fails a running task. */
export function failTask(deps: TaskDeps): Route {
  return endTaskRoute(deps, 'failed', {
    url: '/api/v1/tasks/{task_id}/fail',
    id: 'failTask',
    summary: 'Fails a running task',
  })
}
