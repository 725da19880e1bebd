import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { loadTree, readFields, readOf } from '../load-tree.ts'
import type { TraceDeps } from '../trace-deps.ts'
import { tracePath } from '../trace-path.ts'
import { aggregateOf, aggregateSchema } from './aggregate-paths.ts'
import { answerPath, pathFields } from './answer-path.ts'
import { type CriticalPathQuery, criticalPathQuery } from './critical-path-query.ts'

/**
 * GET /api/v2/observability/traces/{trace_id}/critical-path: what the longest root of a trace waited
 * for, what that cost, how much slack the rest had, and what faster calls would save.
 */
export function getCriticalPath(deps: TraceDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/traces/{trace_id}/critical-path',
    id: 'getCriticalPath',
    summary: 'What a trace waited for: the path, its cost, slack and what-if',
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
      // A trace is found by its id; the window is that of the others it is compared with.
      const own = query.aggregate ? { ...query, from: undefined, to: undefined } : query
      const loaded = await loadTree(deps, { project_id, trace_id, query: own, signal })
      const about = { queries: deps.queries, project_id, signal }
      const aggregate = query.aggregate ? await aggregateOf(loaded.tree, query, about) : null
      return { trace_id, ...readOf(loaded), ...answerPath(loaded, query, trace_id), aggregate }
    },
  })
}

const replySchema = record('CriticalPath', {
  trace_id: z.guid().describe('The W3C trace id, as a UUID.'),
  ...readFields,
  ...pathFields,
  aggregate: aggregateSchema.nullable().describe('null unless it is asked for.'),
})

function checkWhatIf({ what_if, what_if_name }: CriticalPathQuery): void {
  if (what_if === undefined || what_if_name === undefined) return
  throw problem('invalid_request', {
    detail: 'query.what_if_name: expected it without what_if',
    faults: [{ pointer: 'query.what_if_name', detail: 'expected it without what_if' }],
  })
}
