import { z } from 'zod'
import { newId } from '../../kernel/ids.ts'
import { totalExactMax } from '../../kernel/pages.ts'
import { problem } from '../../kernel/problem.ts'
import { idAfter, idPage, idPageQuery } from '../../model/id-pages.ts'
import { expected } from '../../model/list-query.ts'
import { record } from '../../model/named-schemas.ts'
import { Answer, defineRoute, type Route } from '../../platform/http/index.ts'
import { savedQueryBody, savedQuerySchema, toReply } from './saved-query-schema.ts'
import { countSaved, insertSaved, selectSaved } from './store.ts'
import { type SavedQueryDeps, toViewer } from './visible-query.ts'

const url = '/api/v2/observability/saved-queries'

/** POST /api/v2/observability/saved-queries: saves a query. */
export function createSavedQuery(deps: SavedQueryDeps): Route {
  const { db, clock, saved_queries_max } = deps
  return defineRoute({
    method: 'POST',
    url,
    id: 'createSavedQuery',
    summary: 'Save a query with parameters',
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
      const { owner, project_id } = toViewer(caller)
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
        const detail = `The project has ${saved_queries_max} saved queries, the maximum. Delete some first.`
        throw problem('limit_reached', { detail })
      }
      return new Answer(toReply(stored, now_ms), { headers: { etag: `"${stored.version}"` } })
    },
  })
}

/** Returns `name_taken` for a name. */
export function nameTaken(name: string) {
  const detail = `name: got ${JSON.stringify(name.slice(0, 80))}, the name of another saved query`
  return problem('name_taken', { detail, faults: [{ pointer: '/name', detail: 'already in use' }] })
}

/** GET /api/v2/observability/saved-queries: lists the project's queries and the caller's own. */
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
      const viewer = toViewer(caller)
      const list = `saved queries ${kind ?? ''}`
      const before = idAfter(list, cursor)
      const [rows, counted] = await Promise.all([
        selectSaved(db, { ...viewer, before, kind, limit: limit + 1 }),
        countSaved(db, { ...viewer, kind, limit: totalExactMax + 1 }),
      ])
      const page = idPage({ rows, counted }, { list, limit, idOf: ({ id }) => id })
      const now_ms = clock.now_ms()
      return {
        saved_queries: page.items.map((stored) => toReply(stored, now_ms)),
        ...page.info,
      }
    },
  })
}

const listQuery = z.strictObject({
  kind: z
    .enum(['query', 'aggregate'], { error: expected('query or aggregate') })
    .optional()
    .describe('Returns only saved queries of this kind.'),
  ...idPageQuery,
})

const listReply = record('SavedQueryList', {
  saved_queries: z.array(savedQuerySchema),
  total: z.int(),
  total_is_exact: z.literal(false).optional(),
  next_cursor: z.string().nullable(),
})
