import { z } from 'zod'
import { problem } from '../../kernel/problem.ts'
import type { Clock } from '../../kernel/time.ts'
import { expected } from '../../model/list-query.ts'
import type { Route } from '../../platform/http/index.ts'
import type { Kysely, SavedQueryTables } from '../../platform/relational/index.ts'
import { type ChangeOf, namedDocumentRoutes } from '../documents/index.ts'
import { requesterOf } from '../jobs/index.ts'
import type { RunDeps } from '../query/index.ts'
import { savedQueryBody, savedQuerySchema, toReply } from './saved-query-schema.ts'
import { isVisible, type StoredQuery, savedTable, selectVisible } from './store.ts'

/** The dependencies of the routes of saved queries. */
export type SavedQueryDeps = {
  db: Kysely<SavedQueryTables>
  clock: Clock
  queries: RunDeps
  /** Maximum saved queries of a project. */
  saved_queries_max: number
}

type SavedQuerySpec = z.output<ReturnType<typeof savedQueryBody>>

/** Routes of saved queries. People and keys see those of the project, and their own. */
export function savedQueryDocuments(deps: SavedQueryDeps): Route[] {
  const { db, clock } = deps
  return namedDocumentRoutes(deps, {
    table: savedTable,
    title: 'saved queries',
    documents_max: deps.saved_queries_max,
    is_owned: false,
    url: '/api/v2/observability/saved-queries',
    item_url: '/api/v2/observability/saved-queries/{saved_query_id}',
    list: {
      id: 'listSavedQueries',
      summary: 'Saved queries, newest first',
      reply: 'SavedQueryList',
      field: 'saved_queries',
      filter: {
        kind: z
          .enum(['query', 'aggregate'], { error: expected('query or aggregate') })
          .optional()
          .describe('Returns only saved queries of this kind.'),
      },
    },
    create: { id: 'createSavedQuery', summary: 'Save a query with parameters' },
    get: { id: 'getSavedQuery', summary: 'Read a saved query' },
    put: { id: 'putSavedQuery', summary: 'Replace a saved query' },
    delete: { id: 'deleteSavedQuery', summary: 'Delete a saved query' },
    reads: { level: 'project', role: 'viewer', key: ['query:run', 'traces:read'] },
    writes: { level: 'project', role: 'editor', key: 'query:run' },
    write_auth: 'jwt_or_key',
    body: savedQueryBody(clock.now_ms),
    reply: savedQuerySchema,
    errors: ['name_taken'],
    put_errors: ['permission_denied'],
    isVisible,
    toColumns: async (_trx, change) => toColumns(change),
    select: (caller, page) =>
      selectVisible(db, { project_id: caller.project_id, owner: requesterOf(caller) }, page),
    toReplies: async (queries) => queries.map((query) => toReply(query, clock.now_ms())),
  })
}

/** Names are unique among the queries of the project, and among the private ones of an owner. */
function toColumns({ spec, before, by }: ChangeOf<StoredQuery, SavedQuerySpec>) {
  const { name, visibility } = spec
  const owner = before?.owner ?? by
  if (owner !== by && visibility !== before?.visibility) {
    throw problem('permission_denied', { detail: 'visibility: only the owner can change it' })
  }
  const unique = visibility === 'project' ? { name, visibility } : { name, visibility, owner }
  return { columns: { ...spec, owner }, unique }
}
