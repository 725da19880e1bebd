import { releasePolicyRoutes } from '../../src/capabilities/certification/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { createHttpServer } from '../../src/platform/http/index.ts'
import {
  type AccessTables,
  type CertificationTables,
  openIdempotencyStore,
  openRelational,
  type Relational,
} from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { allTenants } from './all-tenants.ts'
import { testPostgres } from './postgres.ts'
import { authorize, tokenOf } from './task-api.ts'

type Tables = AccessTables & CertificationTables

/** A parsed body; tests read it without narrowing. */
type Json = ReturnType<typeof JSON.parse>
type Method = 'GET' | 'PUT' | 'POST' | 'DELETE'
type Call = { headers?: Record<string, string>; body?: unknown; if_match?: string }

/** The routes of release policies and eval runs on a server, over PostgreSQL. */
export type ReleasePolicyApi = AsyncDisposable & {
  db: Relational<Tables>['db']
  /** Creates a project with an organization of its own. */
  newProject(): Promise<string>
  /** Calls as an admin of the project, below `/api/v1/reliability/phase10`. */
  call(
    method: Method,
    path: string,
    project_id: string,
    about?: Call,
  ): Promise<{ status: number; body: Json; etag: unknown }>
}

/** Opens the routes. */
export async function openReleasePolicyApi(): Promise<ReleasePolicyApi> {
  const logger = createLogger({ role: 'test', level: 'silent' })
  const relational = openRelational<Tables>({
    scope: allTenants,
    ...{ url: await testPostgres(), logger, pool_max: 8 },
    connect_timeout_ms: 2_000,
    statement_timeout_ms: 10_000,
  })
  const { db } = relational
  const clock = { now_ms: () => Date.now() }
  const server = await createHttpServer({
    routes: releasePolicyRoutes({ db, clock }),
    authorize,
    idempotency: openIdempotencyStore(db),
    ...{ logger, metrics: createMetrics(), clock },
    body_bytes_max: 1_000_000,
    header_bytes_max: 16_384,
    rate_per_minute_max: 0,
    request_timeout_ms: 20_000,
    keep_alive_ms: 1_000,
    check_replies: true,
  })
  return {
    db,
    newProject: async () => {
      const [id, organization_id] = [newId(), newId()]
      await db.insertInto('organizations').values({ id: organization_id, name: id }).execute()
      await db.insertInto('projects').values({ id, organization_id, name: id }).execute()
      return id
    },
    call: async (method, path, project_id, { headers, body, if_match } = {}) => {
      const reply = await server.inject({
        ...{ method, url: `/api/v1/reliability/phase10${path}` },
        headers: {
          ...tokenOf('admin', project_id),
          ...headers,
          ...(if_match !== undefined && { 'if-match': if_match }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && {
          payload: Buffer.isBuffer(body) ? body : JSON.stringify(body),
        }),
      })
      const parsed = reply.payload === '' ? undefined : reply.json()
      return { status: reply.statusCode, body: parsed, etag: reply.headers['etag'] }
    },
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await relational.close()
    },
  }
}
