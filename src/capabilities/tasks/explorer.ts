import { z } from 'zod'
import { checkWindow } from '../../model/list-query.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import { findingsOfTasks } from '../detection/index.ts'
import type { RunDeps } from '../query/index.ts'
import {
  answerExplorer,
  checkExplorerQuery,
  explorerErrors,
  explorerQuery,
  explorerReply,
  readTree,
  type TreeSource,
  tracePath,
  windowOf,
} from '../traces/index.ts'
import { type TaskDeps, taskNamed, taskPath } from './task.ts'
import { extentOf } from './window/read-rows.ts'

/** Dependencies of the tree of a task. */
export type TaskTreeDeps = TaskDeps & {
  queries: RunDeps
  /** Maximum observations of one tree; by default that of traces. */
  rows_max?: number
}

/**
 * GET /api/v1/tasks/{task_id}/explorer: returns all observations of a task, of all its traces, as
 * one tree, page by page or as columns. The roots of all traces come in order of time.
 */
export function exploreTask(deps: TaskTreeDeps): Route {
  const { db, queries } = deps
  return defineRoute({
    method: 'GET',
    url: '/api/v1/tasks/{task_id}/explorer',
    id: 'exploreTask',
    summary: 'Task as one tree over all its traces',
    audit: 'content',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'tasks:read' },
    params: taskPath,
    query: querySchema,
    reply: explorerReply('Task', { task_id: z.string().describe('The task.') }),
    errors: ['task_not_found', ...explorerErrors],
    handle: async ({ params, query, caller: { project_id }, signal }) => {
      checkWindow(query)
      checkExplorerQuery(query)
      const task = await taskNamed(deps, project_id, params.task_id)
      const { task_id } = task
      const window = { from: extentOf(task).from, ...windowOf(query) }
      const source: TreeSource = { project_id, choice: { task_id }, window, signal }
      const loaded = await readTree(deps, source, query)
      const parts = { queries, findings: (of: FindingsOf) => findingsOfTasks(db, of) }
      return { task_id, ...(await answerExplorer(parts, loaded, { source, query })) }
    },
  })
}

type FindingsOf = Parameters<typeof findingsOfTasks>[1]

const querySchema = explorerQuery.extend({
  trace_id: tracePath.shape.trace_id
    .optional()
    .describe(
      'Trace of `parent` or `open`: needed if several traces have an observation of that id.',
    ),
})
