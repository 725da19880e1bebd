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
import { savedQueryBody, savedQuerySchema, toReply } from './saved-query-schema.ts'
import { deleteSaved, replaceSaved, type StoredQuery } from './store.ts'
import { findVisibleQuery, type SavedQueryDeps, toViewer } from './visible-query.ts'

const url = '/api/v2/observability/saved-queries/{saved_query_id}'

/** The path's parameters. */
export const savedQueryPath = z.strictObject({
  saved_query_id: z.string().describe('Id of the saved query.'),
})

/** GET /api/v2/observability/saved-queries/{saved_query_id}: returns a saved query. */
export function getSavedQuery(deps: SavedQueryDeps): Route {
  return defineRoute({
    method: 'GET',
    url,
    id: 'getSavedQuery',
    summary: 'Read a saved query',
    etag: true,
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: ['query:run', 'traces:read'] },
    params: savedQueryPath,
    reply: savedQuerySchema,
    errors: ['saved_query_not_found', 'store_unavailable'],
    handle: async ({ params: { saved_query_id }, caller }) =>
      toAnswer(await findVisibleQuery(deps, caller, saved_query_id), deps),
  })
}

/** PUT /api/v2/observability/saved-queries/{saved_query_id}: replaces a saved query. */
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
      const before = await findVisibleQuery(deps, caller, saved_query_id)
      checkVersion(before, headers)
      if (body.visibility !== before.visibility) checkOwner(before, caller)
      const updated_at = new Date(deps.clock.now_ms()).toISOString()
      const updated_by = toViewer(caller).owner
      const stored = await replaceSaved(deps.db, {
        ...{ ...before, ...body },
        ...{ updated_at, updated_by },
      })
      if (stored === 'taken') throw nameTaken(body.name)
      if (stored === undefined) throw changedConcurrently()
      return toAnswer(stored, deps)
    },
  })
}

/** DELETE /api/v2/observability/saved-queries/{saved_query_id}: deletes a saved query. */
export function deleteSavedQuery(deps: SavedQueryDeps): Route {
  return defineRoute({
    method: 'DELETE',
    url,
    id: 'deleteSavedQuery',
    summary: 'Delete a saved query',
    status: 204,
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'editor', key: 'query:run' },
    headers: [ifMatchHeader],
    params: savedQueryPath,
    reply: z.undefined(),
    errors: ['saved_query_not_found', 'precondition_failed', 'store_unavailable'],
    handle: async ({ params: { saved_query_id }, caller, headers }) => {
      const before = await findVisibleQuery(deps, caller, saved_query_id)
      checkVersion(before, headers)
      if (!(await deleteSaved(deps.db, before))) throw changedConcurrently()
      return undefined
    },
  })
}

function toAnswer(stored: StoredQuery, { clock }: SavedQueryDeps) {
  const headers = { etag: `"${stored.version}"` }
  return new Answer(toReply(stored, clock.now_ms()), { headers })
}

function checkVersion({ version }: StoredQuery, headers: RequestHeaders): void {
  const header = headers['if-match']
  const if_match = (Array.isArray(header) ? header.join(', ') : header)?.trim()
  if (if_match === undefined || if_match === '*' || if_match === `"${version}"`) return
  throw problem('precondition_failed', {
    detail: `If-Match: got ${if_match.slice(0, 80)}, expected "${version}". Read the saved query again.`,
    faults: [{ pointer: 'If-Match', detail: 'not the current ETag of the saved query' }],
  })
}

function checkOwner({ owner }: StoredQuery, caller: Caller): void {
  if (owner === toViewer(caller).owner) return
  throw problem('permission_denied', { detail: 'visibility: only the owner can change it' })
}

function changedConcurrently() {
  return problem('precondition_failed', {
    detail: 'The saved query was changed meanwhile. Read it again.',
  })
}
