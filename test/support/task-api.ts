import { randomUUID } from 'node:crypto'
import type { InsertObject } from 'kysely'
import { conversationRoutes } from '../../src/capabilities/conversations/index.ts'
import type { ObservationStore } from '../../src/capabilities/storage/index.ts'
import { type TaskSettings, taskRoutes } from '../../src/capabilities/tasks/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { problem } from '../../src/kernel/problem.ts'
import { projectRoles } from '../../src/kernel/scopes.ts'
import {
  type Authorize,
  admitsOperator,
  type Caller,
  createHttpServer,
  type HttpServer,
  keyScopesOf,
  type RouteScope,
} from '../../src/platform/http/index.ts'
import {
  type DetectionTables,
  openRelational,
  type Relational,
  type TaskTables,
} from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { allTenants } from './all-tenants.ts'

/** The routes' current time by default. */
export const now_ms = Date.UTC(2026, 5, 1, 12)

/** `now` plus `seconds`, as ISO 8601. */
export function instant(seconds: number): string {
  return new Date(now_ms + seconds * 1000).toISOString()
}

export type Reply = { status: number; body: Record<string, unknown>; headers: object }
type CallOptions = {
  /** Headers; a key of the project with every scope by default. */
  headers?: Record<string, string>
  payload?: unknown
}

/** The routes of tasks and conversations on a server, over a database. */
export type TaskApi = AsyncDisposable & {
  db: Relational<TaskTables>['db']
  project_id: string
  get(url: string, options?: CallOptions): Promise<Reply>
  put(url: string, options?: CallOptions): Promise<Reply>
  seedTask(given: Partial<NewTask> & { task_id: string }): Promise<void>
  seedConversation(given?: SeedConversation): Promise<string>
}
type NewTask = InsertObject<TaskTables, 'tasks'>
type SeedConversation = Partial<InsertObject<TaskTables, 'conversations'>> & {
  conversation_id?: string
}

export async function openTaskApi(options: {
  url: string
  store?: ObservationStore
  settings?: TaskSettings
}): Promise<TaskApi> {
  const relational = openRelational<TaskTables & DetectionTables>({
    scope: allTenants,
    url: options.url,
    pool_max: 8,
    connect_timeout_ms: 2000,
    statement_timeout_ms: 10_000,
    logger: createLogger({ role: 'test', level: 'silent' }),
  })
  const { db } = relational
  const project_id = randomUUID()
  const server = await serve({
    db,
    store: options.store ?? storeOutOfTest,
    clock: { now_ms: () => now_ms },
    settings: { arrival_wait_ms: 0, ...options.settings },
  })
  const call =
    (method: 'GET' | 'PUT') =>
    (url: string, about: CallOptions = {}) =>
      callServer(server, { method, url, headers: keyOf(project_id), ...about })
  return {
    db,
    project_id,
    get: call('GET'),
    put: call('PUT'),
    seedTask: async (given) => {
      await db
        .insertInto('tasks')
        .values({ ...newTask(project_id), ...given })
        .execute()
    },
    seedConversation: async (given = {}) => {
      const row = { ...newConversation(project_id), ...given }
      await db.insertInto('conversations').values(row).execute()
      return row.conversation_id
    },
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await relational.close()
    },
  }
}

/** Headers with a key of this project that has these scopes. */
export function keyOf(project_id: string, scopes = 'tasks:read tasks:write') {
  return { 'x-api-key': `lt_${project_id} ${scopes}` }
}

/** Headers with a token of a person who has this role in every project. */
export function tokenOf(role: string, project_id?: string): Record<string, string> {
  return {
    authorization: `Bearer ${role}`,
    ...(project_id !== undefined && { 'x-project-id': project_id }),
  }
}

/** Headers of a cluster's operator for this project. */
export function operatorOf(project_id: string): Record<string, string> {
  return { 'x-api-key': 'lt_op_1', 'x-project-id': project_id }
}

/** Grants what the credentials themselves claim; the real authorizer has its own tests. */
export const authorize: Authorize = async (
  { auth, scope },
  { api_key, authorization, project },
) => {
  if (scope.level !== 'project') throw new Error('expected a route of a project')
  if (api_key?.startsWith('lt_op_')) return operatorIn(scope, project)
  if (api_key !== undefined && auth !== 'jwt') {
    const [project_id = '', ...scopes] = api_key.slice(3).split(' ')
    if (!api_key.startsWith('lt_')) throw problem('credentials_invalid')
    if (!keyScopesOf(scope.key).some((key) => scopes.includes(key)))
      throw problem('permission_denied')
    return { kind: 'key', id: 'key-1', project_id }
  }
  if (authorization === undefined) throw problem('credentials_missing')
  const role = projectRoles.findIndex((name) => authorization === `Bearer ${name}`)
  if (role === -1) throw problem('credentials_invalid')
  if (role < projectRoles.indexOf(scope.role)) throw problem('permission_denied')
  if (project === undefined) throw problem('project_required')
  return { kind: 'user', id: 'user-1', project_id: project }
}

function operatorIn(scope: RouteScope, project_id: string | undefined): Caller {
  if (!admitsOperator(scope)) throw problem('permission_denied')
  if (project_id === undefined) throw problem('project_required')
  return { kind: 'operator', id: 'operator-1', project_id }
}

function serve(deps: Parameters<typeof taskRoutes>[0]): Promise<HttpServer> {
  return createHttpServer({
    routes: [...taskRoutes(deps), ...conversationRoutes(deps)],
    authorize,
    idempotency: {
      claim: async () => ({ state: 'new' }),
      keep: async () => undefined,
      release: async () => undefined,
    },
    logger: createLogger({ role: 'test', level: 'silent' }),
    metrics: createMetrics(),
    clock: deps.clock,
    body_bytes_max: 100_000,
    header_bytes_max: 16_384,
    rate_per_minute_max: 0,
    request_timeout_ms: 5000,
    keep_alive_ms: 1000,
    check_replies: true,
  })
}

async function callServer(
  server: HttpServer,
  { method, url, headers, payload }: CallOptions & { method: 'GET' | 'PUT'; url: string },
): Promise<Reply> {
  const reply = await server.inject({
    method,
    url,
    headers: headers ?? {},
    ...(payload !== undefined && { payload: payload as object }),
  })
  return { status: reply.statusCode, body: reply.json(), headers: reply.headers }
}

/** For tests that read no observations; a call fails the test. */
const storeOutOfTest = new Proxy({} as ObservationStore, {
  get: (_target, method) => {
    throw new Error(`${String(method)} was asked of a store that the test does not have`)
  },
})

function newTask(project_id: string) {
  return {
    project_id,
    name: '',
    implicit: false,
    started_at: instant(-60),
    last_activity_at: instant(-30),
    duration_ms: 30_000,
  }
}

function newConversation(project_id: string) {
  return {
    project_id,
    conversation_id: newId(),
    started_at: instant(-60),
    last_activity_at: instant(-30),
  }
}
