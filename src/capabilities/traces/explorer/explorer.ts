import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { loadTree, readFields, readOf } from '../load-tree.ts'
import type { TraceDeps } from '../trace-deps.ts'
import { tracePath } from '../trace-path.ts'
import { answerPage } from './answer-page.ts'
import { explorerQuery } from './explorer-query.ts'
import { nodeSchema } from './node-schema.ts'
import { summaryOf, summarySchema } from './trace-summary.ts'

/**
 * GET /api/v2/observability/traces/{trace_id}/explorer: a trace as a tree, a page at a time. Pages are
 * consistent while a trace grows: a cursor names the node it stands behind, and `grown` tells.
 */
export function exploreTrace(deps: TraceDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/traces/{trace_id}/explorer',
    id: 'exploreTrace',
    summary: 'A trace as a tree, with times, sums and what is odd about it',
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
      const about = { queries: deps.queries, project_id, trace_id, signal }
      const page = await answerPage(loaded, query, about)
      return { trace_id, ...readOf(loaded), summary: summaryOf(loaded.tree), ...page }
    },
  })
}

const replySchema = record('TraceExplorerPage', {
  trace_id: z.guid().describe('The W3C trace id, as a UUID.'),
  ...readFields,
  summary: summarySchema,
  grown: z
    .boolean()
    .nullable()
    .describe(
      'The trace has changed since the walk that the cursor is of began; null without cursor.',
    ),
  parent_id: z.string().nullable().describe('Whose children are listed; null: the roots.'),
  total: z.int().nonnegative().describe('Siblings of the list, or observations that were found.'),
  nodes: z.array(nodeSchema).describe('Parents before their children; with a filter by start.'),
  next_cursor: z.string().nullable().describe('For the rest of the list; null when there is none.'),
})
