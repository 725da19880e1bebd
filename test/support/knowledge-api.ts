import {
  createIndexer,
  type KnowledgeDeps,
  knowledgeBaseRoutes,
} from '../../src/capabilities/verification/knowledge-base/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { createHttpServer } from '../../src/platform/http/index.ts'
import {
  type AccessTables,
  openIdempotencyStore,
  openRelational,
  type Relational,
  type VerificationTables,
} from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { allTenants } from './all-tenants.ts'
import { testPostgres } from './postgres.ts'
import { authorize, tokenOf } from './task-api.ts'

type Tables = VerificationTables & AccessTables
/** A parsed body; tests read it without narrowing. */
export type Json = ReturnType<typeof JSON.parse>
type Reply = { status: number; body: Json; headers: Record<string, unknown>; text: string }
type Method = 'GET' | 'PUT' | 'POST' | 'DELETE'
type Call = { role?: string; body?: unknown; payload?: Buffer | string; headers?: object }

/** The routes of the knowledge base on a server, over PostgreSQL. */
export type KnowledgeApi = AsyncDisposable & {
  db: Relational<Tables>['db']
  /** What the routes work with. A test may change the limits. */
  deps: KnowledgeDeps
  newProject(): Promise<string>
  /** Calls as an editor of the project, below `/api/v1/verification`. */
  call(method: Method, path: string, project_id: string, about?: Call): Promise<Reply>
  /** Adds a document, or fails the test. */
  add(project_id: string, document: object): Promise<Json>
}

export async function openKnowledgeApi(): Promise<KnowledgeApi> {
  const logger = createLogger({ role: 'test', level: 'silent' })
  const relational = openRelational<Tables>({
    scope: allTenants,
    ...{ url: await testPostgres(), logger, pool_max: 8 },
    connect_timeout_ms: 5_000,
    statement_timeout_ms: 60_000,
  })
  const { db } = relational
  const clock = { now_ms: () => Date.now() }
  const limits = {
    ...{ kb_document_chunks_max: 20_000, kb_project_chunks_max: 200_000 },
    ...{ kb_project_bytes_max: 500_000_000, kb_project_facts_max: 10_000 },
  }
  const deps = { db, clock, limits, indexer: createIndexer() }
  const server = await createHttpServer({
    ...{ routes: knowledgeBaseRoutes(deps), authorize, logger, clock },
    idempotency: openIdempotencyStore(db),
    metrics: createMetrics(),
    ...{ body_bytes_max: 1_000_000, header_bytes_max: 16_384, rate_per_minute_max: 0 },
    ...{ request_timeout_ms: 60_000, keep_alive_ms: 1_000, check_replies: true },
  })
  const call: KnowledgeApi['call'] = async (method, path, project_id, about = {}) => {
    const { role = 'editor', body, payload, headers } = about
    const sent = payload ?? (body === undefined ? undefined : JSON.stringify(body))
    const reply = await server.inject({
      method,
      url: `/api/v1/verification/${path}`,
      headers: {
        ...tokenOf(role, project_id),
        ...(sent !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(sent !== undefined && { payload: sent }),
    })
    const text = reply.payload
    const parsed = text === '' ? undefined : reply.json()
    return { status: reply.statusCode, body: parsed, headers: reply.headers, text }
  }
  return {
    ...{ db, deps, call },
    newProject: async () => {
      const [organization_id, id] = [newId(), newId()]
      await db
        .insertInto('organizations')
        .values({ id: organization_id, name: organization_id })
        .execute()
      await db.insertInto('projects').values({ id, organization_id, name: id }).execute()
      return id
    },
    add: async (project_id, document) => {
      const body = { format: 'text', ...document }
      const reply = await call('POST', 'documents', project_id, { body })
      if (reply.status !== 201) throw new Error(`not added: ${reply.text.slice(0, 500)}`)
      return reply.body
    },
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await deps.indexer.close()
      await relational.close()
    },
  }
}
