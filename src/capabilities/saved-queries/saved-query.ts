import { z } from 'zod'
import { problem } from '../../kernel/problem.ts'
import {
  Answer,
  type Caller,
  defineRoute,
  ifMatchHeader,
  type RequestHeaders,
  type Route,
} from '../../platform/http/index.ts'
import { nameTaken } from './saved-queries.ts'
import type { SavedQueryDeps } from './saved-query-deps.ts'
import { savedQueryBody, savedQuerySchema, shownSaved } from './saved-query-schema.ts'
import { deleteSaved, replaceSaved, type StoredQuery } from './store.ts'
import { seenBy, visibleQuery } from './visible-query.ts'

const url = '/api/v2/observability/saved-queries/{saved_query_id}'

/** The path's parameters. */
export const savedQueryPath = z.strictObject({
  saved_query_id: z.string().describe('Of the list, or of the answer that created it.'),
})

/** GET /api/v2/observability/saved-queries/{saved_query_id}. */
export function getSavedQuery(deps: SavedQueryDeps): Route {
  return defineRoute({
    method: 'GET',
    url,
    id: 'getSavedQuery',
    summary: 'A saved query',
    etag: true,
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: ['query:run', 'traces:read'] },
    params: savedQueryPath,
    reply: savedQuerySchema,
    errors: ['saved_query_not_found', 'store_unavailable'],
    handle: async ({ params: { saved_query_id }, caller }) =>
      answerOf(await visibleQuery(deps, caller, saved_query_id), deps),
  })
}

/** PUT /api/v2/observability/saved-queries/{saved_query_id}: replaces all that its owner said. */
export function putSavedQuery(deps: SavedQueryDeps): Route {
  return defineRoute({
    method: 'PUT',
    url,
    id: 'putSavedQuery',
    summary: 'Replace a saved query',
    etag: true,
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'editor', key: 'query:run' },
    headers: [ifMatchHeader],
    params: savedQueryPath,
    body: savedQueryBody(deps.clock.now_ms),
    reply: savedQuerySchema,
    errors: [
      'saved_query_not_found',
      'permission_denied',
      'name_taken',
      'precondition_failed',
      'store_unavailable',
    ],
    handle: async ({ params: { saved_query_id }, body, caller, headers }) => {
      const before = await visibleQuery(deps, caller, saved_query_id)
      checkVersion(before, headers)
      if (body.visibility !== before.visibility) checkOwner(before, caller)
      const updated_at = new Date(deps.clock.now_ms()).toISOString()
      const updated_by = seenBy(caller).owner
      const stored = await replaceSaved(deps.db, {
        ...{ ...before, ...body },
        ...{ updated_at, updated_by },
      })
      if (stored === 'taken') throw nameTaken(body.name)
      if (stored === undefined) throw changedMeanwhile()
      return answerOf(stored, deps)
    },
  })
}

/** DELETE /api/v2/observability/saved-queries/{saved_query_id}. */
export function deleteSavedQuery(deps: SavedQueryDeps): Route {
  return defineRoute({
    method: 'DELETE',
    url,
    id: 'deleteSavedQuery',
    summary: 'Forget a saved query',
    status: 204,
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'editor', key: 'query:run' },
    headers: [ifMatchHeader],
    params: savedQueryPath,
    reply: z.undefined(),
    errors: ['saved_query_not_found', 'precondition_failed', 'store_unavailable'],
    handle: async ({ params: { saved_query_id }, caller, headers }) => {
      const before = await visibleQuery(deps, caller, saved_query_id)
      checkVersion(before, headers)
      if (!(await deleteSaved(deps.db, before))) throw changedMeanwhile()
      return undefined
    },
  })
}

function answerOf(stored: StoredQuery, { clock }: SavedQueryDeps) {
  const headers = { etag: `"${stored.version}"` }
  return new Answer(shownSaved(stored, clock.now_ms()), { headers })
}

function checkVersion({ version }: StoredQuery, headers: RequestHeaders): void {
  const header = headers['if-match']
  const if_match = (Array.isArray(header) ? header.join(', ') : header)?.trim()
  if (if_match === undefined || if_match === '*' || if_match === `"${version}"`) return
  throw problem('precondition_failed', {
    detail: `If-Match: got ${if_match.slice(0, 80)}, expected "${version}": read it again`,
    faults: [{ pointer: 'If-Match', detail: 'it is not the ETag of it as it stands' }],
  })
}

function checkOwner({ owner }: StoredQuery, caller: Caller): void {
  if (owner === seenBy(caller).owner) return
  throw problem('permission_denied', { detail: 'visibility: expected its owner to change it' })
}

function changedMeanwhile() {
  return problem('precondition_failed', { detail: 'It was changed just now: read it again' })
}
