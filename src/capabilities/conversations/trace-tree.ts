import { z } from 'zod'
import {
  checkWindow,
  cursorParameter,
  instantParameter,
  integerParameter,
} from '../../model/list-query.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import type { RunDeps } from '../query/index.ts'
import { type TaskDeps, tasksOfConversation } from '../tasks/index.ts'
import { buildTree, readTraceRows } from '../traces/index.ts'
import { conversationFrom, conversationNamed, conversationPath } from './conversation-record.ts'
import { pageOfTraces, windowOf } from './trace-tree-page.ts'
import { toTasks, traceTreeSchema } from './trace-tree-shape.ts'

/** Most observations of all traces of a page; a page with larger traces has fewer of them. */
const pageObservations_max = 20_000
/** Most tasks whose records are shown, the earliest first. */
const tasks_max = 1000

/**
 * GET /api/v1/conversations/{conversation_id}/trace-tree: its tasks, their traces, and the traces'
 * observations, one page of traces at a time. An observation whose parent is in another trace of
 * the page is shown below that parent; parents that were recorded late are used like any other.
 */
export function getTraceTree(deps: TaskDeps & { queries: RunDeps }): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/conversations/{conversation_id}/trace-tree',
    id: 'getConversationTraceTree',
    summary: 'A conversation as a tree: tasks, traces, observations, with sums',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'tasks:read' },
    params: conversationPath,
    query: querySchema,
    reply: traceTreeSchema,
    errors: [
      'conversation_not_found',
      'invalid_cursor',
      'query_too_expensive',
      'rate_limited',
      'store_unavailable',
    ],
    handle: async ({ params, query, caller: { project_id }, signal }) => {
      const row = await conversationNamed(deps, project_id, params.conversation_id)
      const { conversation_id } = row
      const window = windowOf(row, query)
      checkWindow(window)
      const asked = { project_id, conversation_id, window, ...query, signal }
      const page = await pageOfTraces(deps.queries, { ...asked, rows_max: pageObservations_max })
      const trace_ids = page.traces.map(({ trace_id }) => trace_id)
      const reading = { project_id, window, trace_ids, rows_max: pageObservations_max, signal }
      const nothing = { rows: [], more: false, ...page }
      const [read, { tasks }] = await Promise.all([
        trace_ids.length === 0 ? nothing : readTraceRows(deps.queries, reading),
        tasksOfConversation(deps, project_id, conversation_id, tasks_max),
      ])
      const shape = { depth: query.depth, observations_max: query.observations }
      return {
        conversation: conversationFrom(row),
        tasks: toTasks(buildTree(read.rows), { ...page, ...shape, tasks }),
        total: page.total,
        ...(page.is_exact ? {} : { total_is_exact: false as const }),
        truncated: read.more,
        next_cursor: page.next_cursor,
        served_by: read.served_by,
        fallback_reason: read.fallback_reason,
      }
    },
  })
}

const querySchema = z.strictObject({
  from: instantParameter('Only observations that started at or after this instant.'),
  to: instantParameter('Only observations that started before this instant.'),
  depth: integerParameter({
    minimum: 1,
    maximum: 100,
    default: 3,
    description: 'Levels of each trace that are shown, 1 to 100.',
  }),
  observations: integerParameter({
    minimum: 0,
    maximum: 200,
    default: 50,
    description: 'Observations of each trace that are shown, 0 to 200, those near its top first.',
  }),
  limit: integerParameter({
    minimum: 1,
    maximum: 100,
    default: 20,
    description: 'Traces of a page, 1 to 100.',
  }),
  cursor: cursorParameter,
})
