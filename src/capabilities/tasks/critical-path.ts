import { checkWindow } from '../../model/list-query.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import { findingsOfTasks } from '../detection/index.ts'
import {
  answerTaskPath,
  checkWhatIf,
  pathErrors,
  readTree,
  taskPathQuery,
  taskPathReply,
  windowOf,
} from '../traces/index.ts'
import type { TaskTreeDeps } from './explorer.ts'
import { taskNamed, taskPath } from './task.ts'
import { extentOf } from './window/read-rows.ts'

/**
 * GET /api/v1/tasks/{task_id}/critical-path: returns the critical path of a task over all its traces:
 * what it waited for from its start to its end, with the part of each finding.
 */
export function getTaskCriticalPath(deps: TaskTreeDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/tasks/{task_id}/critical-path',
    id: 'getTaskCriticalPath',
    summary: 'Critical path of a task over all its traces, with the part of each finding',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'tasks:read' },
    params: taskPath,
    query: taskPathQuery,
    reply: taskPathReply,
    errors: ['task_not_found', ...pathErrors],
    handle: async ({ params, query, caller: { project_id }, signal }) => {
      checkWindow(query)
      checkWhatIf(query)
      const task = await taskNamed(deps, project_id, params.task_id)
      const { task_id } = task
      const window = { from: extentOf(task).from, ...windowOf(query) }
      const loaded = await readTree(
        deps,
        { project_id, choice: { task_id }, window, signal },
        query,
      )
      const findings = await findingsOfTasks(deps.db, { project_id, task_ids: [task_id] })
      const standing = findings.filter(({ state }) => state !== 'withdrawn')
      return answerTaskPath(loaded, standing, { task_id, query })
    },
  })
}
