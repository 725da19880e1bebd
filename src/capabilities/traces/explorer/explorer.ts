import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { loadTree, readFields, toReadFields } from '../load-tree.ts'
import { type TraceDeps, tracePath } from '../trace-path.ts'
import { answerPage, explorerQuery } from './answer-page.ts'
import { nodeSchema } from './node-reply.ts'
import { summariseTrace, summarySchema } from './trace-summary.ts'

/**
 * GET /api/v2/observability/traces/{trace_id}/explorer: returns a trace as a tree, page by page.
 * Pages stay consistent while a trace grows: a cursor names a node, and `grown` reports changes.
 */
export function exploreTrace(deps: TraceDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/traces/{trace_id}/explorer',
    id: 'exploreTrace',
    summary: 'Trace as a tree, with times, sums and anomalies',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: ['query:run', 'traces:read'] },
    params: tracePath,
    query: explorerQuery,
    reply: replySchema,
    errors: [
      'trace_not_found',
      'observation_not_found',
      'invalid_cursor',
      'query_too_expensive',
      'rate_limited',
      'store_unavailable',
    ],
    handle: async ({ params: { trace_id }, query, caller: { project_id }, signal }) => {
      const loaded = await loadTree(deps, { project_id, trace_id, query, signal })
      const context = { queries: deps.queries, project_id, trace_id, signal }
      const page = await answerPage(loaded, query, context)
      return { trace_id, ...toReadFields(loaded), summary: summariseTrace(loaded.tree), ...page }
    },
  })
}

const replySchema = record('TraceExplorerPage', {
  trace_id: z.guid().describe('W3C trace id, as a UUID.'),
  ...readFields,
  summary: summarySchema,
  grown: z
    .boolean()
    .nullable()
    .describe('Whether the trace changed since the first page; null without a cursor.'),
  parent_id: z.string().nullable().describe('Parent of the listed nodes; null for the roots.'),
  total: z.int().nonnegative().describe('Siblings in the list, or observations found.'),
  nodes: z
    .array(nodeSchema)
    .describe('Nodes, parents before children; with a filter, ordered by start.'),
  next_cursor: z.string().nullable().describe('Cursor of the next page; null on the last page.'),
})
