import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { loadTree, readFields, toReadFields } from '../load-tree.ts'
import { type TraceDeps, tracePath } from '../trace-path.ts'
import { aggregatePaths, aggregateSchema } from './aggregate-paths.ts'
import { answerPath, pathFields } from './answer-path.ts'
import { type CriticalPathQuery, criticalPathQuery } from './critical-path-query.ts'

/**
 * GET /api/v2/observability/traces/{trace_id}/critical-path: returns the critical path of a trace's
 * longest root, its cost, the slack of other nodes, and the savings of faster calls.
 */
export function getCriticalPath(deps: TraceDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/traces/{trace_id}/critical-path',
    id: 'getCriticalPath',
    summary: 'Critical path of a trace: cost, slack and what-if',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: ['query:run', 'traces:read'] },
    params: tracePath,
    query: criticalPathQuery,
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
      checkWhatIf(query)
      // The window selects the aggregated traces, not the observations of this trace.
      const own = query.aggregate ? { ...query, from: undefined, to: undefined } : query
      const loaded = await loadTree(deps, { project_id, trace_id, query: own, signal })
      const context = { queries: deps.queries, project_id, signal }
      const aggregate = query.aggregate ? await aggregatePaths(loaded.tree, query, context) : null
      return {
        trace_id,
        ...toReadFields(loaded),
        ...answerPath(loaded, query, trace_id),
        aggregate,
      }
    },
  })
}

const replySchema = record('CriticalPath', {
  trace_id: z.guid().describe('W3C trace id, as a UUID.'),
  ...readFields,
  ...pathFields,
  aggregate: aggregateSchema.nullable().describe('Aggregate over traces; null unless requested.'),
})

function checkWhatIf({ what_if, what_if_name }: CriticalPathQuery): void {
  if (what_if === undefined || what_if_name === undefined) return
  throw problem('invalid_request', {
    detail: 'query.what_if_name: expected either what_if or what_if_name',
    faults: [{ pointer: 'query.what_if_name', detail: 'expected either what_if or what_if_name' }],
  })
}
