import { z } from 'zod'
import { record } from '../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import { findingSchema } from '../detection/index.ts'
import { findingsQuery, findingsReply, readFindings, selectFindings } from './findings.ts'
import { type TaskDeps, taskPath } from './task.ts'

/** GET /api/v1/tasks/{task_id}/loops: the loops among a task's findings. */
export function getTaskLoops(deps: TaskDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/tasks/{task_id}/loops',
    id: 'getTaskLoops',
    summary: 'Loops detected in a task',
    audit: 'content',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'tasks:read' },
    params: taskPath,
    query: findingsQuery,
    reply: record('TaskLoopList', { ...findingsReply, loops: z.array(findingSchema) }),
    errors: ['task_not_found', 'store_unavailable'],
    handle: async ({ params, query, caller }) => {
      const { task_id, all, ...detection } = await readFindings(deps, caller, params)
      const loops = selectFindings(all, { ...query, kind: 'loop' })
      return { task_id, loops, total: loops.length, ...detection }
    },
  })
}
