import { z } from 'zod'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { loadTree, windowOf } from '../load-tree.ts'
import { type TraceDeps, tracePath } from '../trace-path.ts'
import { answerExplorer, explorerErrors, explorerReply } from './answer-explorer.ts'
import { checkExplorerQuery, explorerQuery } from './explorer-query.ts'

/**
 * GET /api/v2/observability/traces/{trace_id}/explorer: returns a trace as a tree, page by page, or
 * as columns of all its nodes. Pages stay consistent while a trace grows: a cursor names a node, and
 * `grown` reports changes.
 */
export function exploreTrace(deps: TraceDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/traces/{trace_id}/explorer',
    id: 'exploreTrace',
    summary: 'Trace as a tree, with times, sums and anomalies',
    audit: 'content',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: ['query:run', 'traces:read'] },
    params: tracePath,
    query: explorerQuery,
    reply: explorerReply('Trace', {
      trace_id: z.guid().describe('W3C trace id, as a UUID.'),
    }),
    errors: ['trace_not_found', ...explorerErrors],
    handle: async ({ params: { trace_id }, query, caller: { project_id }, signal }) => {
      checkExplorerQuery(query)
      const loaded = await loadTree(deps, { project_id, trace_id, query, signal })
      const choice = { trace_ids: [trace_id] }
      const source = { project_id, choice, window: windowOf(query), signal }
      return { trace_id, ...(await answerExplorer(deps, loaded, { source, query })) }
    },
  })
}
