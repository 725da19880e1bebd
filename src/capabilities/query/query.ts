import { defineRoute, type Route } from '../../platform/http/index.ts'
import { querySchema } from './language/schemas.ts'
import { pageReply } from './run/answer-parts.ts'
import { answerQuery } from './run/answer-query.ts'
import type { RunDeps } from './run/run-query.ts'

/** POST /api/v2/observability/query: a page of records, by any of their fields. */
export function runQueryRoute(deps: RunDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/query',
    id: 'runQuery',
    summary: 'Ask for records by their fields',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: ['query:run', 'traces:read'] },
    body: querySchema,
    reply: pageReply,
    errors: ['invalid_cursor', 'query_too_expensive', 'rate_limited', 'store_unavailable'],
    handle: ({ body, caller: { project_id }, signal }) =>
      answerQuery(deps, { ...body, project_id, signal }),
  })
}
