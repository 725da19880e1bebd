import { z } from 'zod'
import { isUuid, newId } from '../../kernel/ids.ts'
import { decodeCursor, encodeCursor, pageInfo, totalExactMax } from '../../kernel/pages.ts'
import { problem } from '../../kernel/problem.ts'
import { cursorParameter, expected, limitParameter } from '../../model/list-query.ts'
import { record } from '../../model/named-schemas.ts'
import { Answer, defineRoute, type Route } from '../../platform/http/index.ts'
import type { SavedQueryDeps } from './saved-query-deps.ts'
import { savedQueryBody, savedQuerySchema, shownSaved } from './saved-query-schema.ts'
import { countSaved, insertSaved, selectSaved } from './store.ts'
import { seenBy } from './visible-query.ts'

const url = '/api/v2/observability/saved-queries'

/** POST /api/v2/observability/saved-queries: keeps a query. */
export function createSavedQuery(deps: SavedQueryDeps): Route {
  const { db, clock, saved_queries_max } = deps
  return defineRoute({
    method: 'POST',
    url,
    id: 'createSavedQuery',
    summary: 'Keep a query, with places for values',
    etag: true,
    status: 201,
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'editor', key: 'query:run' },
    body: savedQueryBody(clock.now_ms),
    reply: savedQuerySchema,
    errors: ['name_taken', 'limit_reached', 'store_unavailable'],
    idempotent: true,
    handle: async ({ body, caller }) => {
      const now_ms = clock.now_ms()
      const now = new Date(now_ms).toISOString()
      const { owner, project_id } = seenBy(caller)
      const stored = await insertSaved(
        db,
        {
          ...body,
          ...{ id: newId(), project_id, owner, version: 1 },
          ...{ created_at: now, updated_at: now, updated_by: owner },
        },
        { projectMax: saved_queries_max },
      )
      if (stored === 'taken') throw nameTaken(body.name)
      if (stored === 'full') {
        const detail = `The project has ${saved_queries_max} saved queries: delete some`
        throw problem('limit_reached', { detail })
      }
      return new Answer(shownSaved(stored, now_ms), { headers: { etag: `"${stored.version}"` } })
    },
  })
}

/** `name_taken`, with the name. */
export function nameTaken(name: string) {
  const detail = `name: got ${JSON.stringify(name.slice(0, 80))}, which another saved query has`
  return problem('name_taken', { detail, faults: [{ pointer: '/name', detail: 'it is taken' }] })
}

/** GET /api/v2/observability/saved-queries: the project's, and one's own private ones. */
export function listSavedQueries({ db, clock }: SavedQueryDeps): Route {
  return defineRoute({
    method: 'GET',
    url,
    id: 'listSavedQueries',
    summary: 'Saved queries, newest first',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: ['query:run', 'traces:read'] },
    query: listQuery,
    reply: listReply,
    errors: ['invalid_cursor', 'store_unavailable'],
    handle: async ({ query: { limit, cursor, kind }, caller }) => {
      const seen = seenBy(caller)
      const list = `saved queries ${kind ?? ''}`
      const before = cursor === undefined ? {} : { before: idIn(list, cursor) }
      const [rows, total] = await Promise.all([
        selectSaved(db, { ...seen, ...before, kind, limit: limit + 1 }),
        countSaved(db, { ...seen, kind, limit: totalExactMax + 1 }),
      ])
      const page = rows.slice(0, limit)
      const last = rows.length > limit ? page.at(-1) : undefined
      const next = last === undefined ? null : encodeCursor(list, [last.id])
      const now_ms = clock.now_ms()
      return {
        saved_queries: page.map((stored) => shownSaved(stored, now_ms)),
        ...pageInfo(total, next),
      }
    },
  })
}

const listQuery = z.strictObject({
  kind: z
    .enum(['query', 'aggregate'], { error: expected('query or aggregate') })
    .optional()
    .describe('Only those of this kind.'),
  limit: limitParameter,
  cursor: cursorParameter,
})

const listReply = record('SavedQueryList', {
  saved_queries: z.array(savedQuerySchema),
  total: z.int(),
  total_is_exact: z.literal(false).optional(),
  next_cursor: z.string().nullable(),
})

function idIn(list: string, cursor: string): string {
  const [id] = decodeCursor(list, cursor, 1)
  if (typeof id === 'string' && isUuid(id)) return id
  throw problem('invalid_cursor', { detail: 'cursor: expected a next_cursor of this list' })
}
