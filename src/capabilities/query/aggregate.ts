import { defineRoute, type Route } from '../../platform/http/index.ts'
import { aggregateSchema } from './language/schemas.ts'
import { answerAggregate } from './run/answer-aggregate.ts'
import { aggregateReply } from './run/answer-parts.ts'
import type { RunDeps } from './run/run-query.ts'

/** POST /api/v2/observability/query/aggregate: measures of groups of records. */
export function runAggregateRoute(deps: RunDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/query/aggregate',
    id: 'runAggregate',
    summary: 'Count, sum and compare records by groups',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: ['query:run', 'traces:read'] },
    body: aggregateSchema,
    reply: aggregateReply,
    errors: ['query_too_expensive', 'rate_limited', 'store_unavailable'],
    handle: ({ body: aggregate, caller: { project_id }, signal }) =>
      answerAggregate(deps, { aggregate, project_id, signal }),
  })
}
