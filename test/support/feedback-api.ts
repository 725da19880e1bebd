import { accessRoutes, authorizer, openAccess } from '../../src/capabilities/access/index.ts'
import { openAuditTrail } from '../../src/capabilities/audit/index.ts'
import {
  attachWaiting,
  createBrowserLimits,
  createNetworkTags,
  defaultFeedbackLimits,
  type FeedbackLimits,
  feedbackMeters,
  feedbackRoutes,
} from '../../src/capabilities/feedback/index.ts'
import { createCapturePolicies } from '../../src/capabilities/records/capture/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { type Authorize, createHttpServer } from '../../src/platform/http/index.ts'
import {
  type AccessTables,
  type AuditTables,
  type CaptureTables,
  type DetectionTables,
  type FeedbackTables,
  openIdempotencyStore,
  openRelational,
  type Relational,
  type RetentionTables,
  sql,
  type TaskTables,
} from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { allTenants } from './all-tenants.ts'
import { testPostgres } from './postgres.ts'
import { authorize, keyOf } from './task-api.ts'

type Tables = AccessTables &
  AuditTables &
  CaptureTables &
  DetectionTables &
  FeedbackTables &
  RetentionTables &
  TaskTables
/** A parsed body; tests read it without narrowing. */
export type Json = ReturnType<typeof JSON.parse>
export type Reply = { status: number; body: Json; headers: Record<string, unknown> }
type Method = 'GET' | 'PUT' | 'POST' | 'DELETE' | 'OPTIONS'
type Call = { headers?: Record<string, string>; body?: unknown; from?: string }

/** The routes of feedback on a server, over PostgreSQL. A test may set the clock. */
export type FeedbackApi = AsyncDisposable & {
  db: Relational<Tables>['db']
  clock: { ms: number }
  newProject(): Promise<string>
  newTask(project_id: string, given?: Json): Promise<string>
  /** Calls with a key of the project that has both scopes. */
  call(method: Method, project_id: string, path: string, about?: Call): Promise<Reply>
  /** Posts feedback on a task, as a key. */
  give(project_id: string, task_id: string, body: object, about?: Call): Promise<Reply>
  /** Runs the chore that attaches waiting items. */
  attach(): Promise<number>
  /** Sums of the hourly counts of a project: negative, neutral, positive. */
  counted(project_id: string, dimension?: string): Promise<Json[]>
}

/** Headers of a key with the scopes of feedback. */
export const feedbackKey = (project_id: string) => keyOf(project_id, 'feedback:write tasks:read')

/**
 * Opens the routes. `real_keys`: keys are checked, and the routes of access are served too.
 * `audited`: calls are recorded.
 */
export async function openFeedbackApi(
  options: { limits?: Partial<FeedbackLimits>; real_keys?: boolean; audited?: boolean } = {},
): Promise<FeedbackApi> {
  const logger = createLogger({ role: 'test', level: 'silent' })
  const relational = openRelational<Tables>({
    scope: allTenants,
    ...{ url: await testPostgres(), logger, pool_max: 8 },
    connect_timeout_ms: 5_000,
    statement_timeout_ms: 20_000,
  })
  const { db } = relational
  const time = { ms: Date.UTC(2026, 10, 23, 12) }
  const clock = { now_ms: () => time.ms }
  const metrics = createMetrics()
  const access = openAccess({
    ...{ db, clock, logger },
    secret_key: 'a secret of at least 32 characters',
  })
  const person = newId()
  await db
    .insertInto('users')
    .values({ id: person, email: `${person}@example.com`, display_name: 'p' })
    .execute()
  const real = authorizer(access)
  /** Keys are checked; tokens are believed, and their user exists. */
  const checkKeys: Authorize = async (route, credentials) => {
    if (credentials.api_key !== undefined) return real(route, credentials)
    const caller = await authorize(route, credentials)
    return { ...caller, id: person }
  }
  const server = await createHttpServer({
    routes: [
      ...feedbackRoutes({
        ...{ db, clock, browsers: createBrowserLimits() },
        network_tags: createNetworkTags('a secret of at least 32 characters'),
        policies: createCapturePolicies({ db, clock, metrics, ttl_ms: 0 }),
        limits: { ...defaultFeedbackLimits, ...options.limits },
      }),
      ...(options.real_keys === true ? accessRoutes(access) : []),
    ],
    authorize: options.real_keys === true ? checkKeys : authorize,
    idempotency: openIdempotencyStore(db),
    ...{ logger, metrics, clock },
    ...(options.audited === true && { audit: openAuditTrail(db) }),
    body_bytes_max: 1_000_000,
    header_bytes_max: 16_384,
    rate_per_minute_max: 0,
    request_timeout_ms: 20_000,
    keep_alive_ms: 1_000,
    check_replies: true,
  })
  const meters = feedbackMeters(createMetrics())
  const call: FeedbackApi['call'] = async (method, project_id, path, about = {}) => {
    const { body, headers = feedbackKey(project_id), from } = about
    const reply = await server.inject({
      method,
      url: path.startsWith('/api') ? path : `/api/v1/tasks/${path}`,
      headers,
      ...(from !== undefined && { remoteAddress: from }),
      ...(body !== undefined && { payload: body as object }),
    })
    return {
      ...{ status: reply.statusCode, headers: reply.headers },
      body: reply.payload === '' ? undefined : reply.json(),
    }
  }
  return {
    db,
    clock: time,
    call,
    newProject: async () => {
      const [id, organization_id] = [newId(), newId()]
      await db.insertInto('organizations').values({ id: organization_id, name: id }).execute()
      await db.insertInto('projects').values({ id, organization_id, name: id }).execute()
      return id
    },
    newTask: async (project_id, given = {}) => {
      const at = new Date(time.ms - 60_000).toISOString()
      const task = { task_id: newId(), name: 'pay', implicit: false, models: ['m1'], ...given }
      await db
        .insertInto('tasks')
        .values({ project_id, started_at: at, last_activity_at: at, ...task })
        .execute()
      return task.task_id
    },
    give: (project_id, task_id, body, about = {}) =>
      call('POST', project_id, `${encodeURIComponent(task_id)}/feedback`, { ...about, body }),
    attach: () => attachWaiting({ db, clock, logger, meters }),
    counted: async (project_id, dimension = 'all') => {
      const { rows } = await sql<Json>`
        select source, value, sum(negative)::int as negative, sum(neutral)::int as neutral,
          sum(positive)::int as positive
        from feedback_hours where project_id = ${project_id} and dimension = ${dimension}
        group by source, value
        having sum(negative) <> 0 or sum(neutral) <> 0 or sum(positive) <> 0
        order by source, value`.execute(db)
      return rows.map(({ source, value, negative, neutral, positive }) =>
        [source, value, negative, neutral, positive].join(' '),
      )
    },
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await access.close()
      await relational.close()
    },
  }
}
