import type { Insertable } from 'kysely'
import { insightRoutes } from '../../src/capabilities/feedback/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { type Authorize, createHttpServer, type Route } from '../../src/platform/http/index.ts'
import {
  type AccessTables,
  type DetectionTables,
  type FeedbackTables,
  type IncidentTables,
  type InsightTables,
  openIdempotencyStore,
  openRelational,
  type Relational,
  type TaskTables,
  type VerificationTables,
} from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { allTenants } from './all-tenants.ts'
import { testPostgres } from './postgres.ts'
import { authorize, tokenOf } from './task-api.ts'

/** The tables of the routes. */
export type InsightTestTables = AccessTables &
  TaskTables &
  DetectionTables &
  FeedbackTables &
  InsightTables &
  IncidentTables &
  VerificationTables

/** A parsed body; tests read it without narrowing. */
export type Json = ReturnType<typeof JSON.parse>
type InsightReply = { status: number; body: Json; headers: Json; text: string }

type VotedTask = {
  task_id: string
  user?: string | null
  source?: 'end_user' | 'annotator' | 'rule'
  sentiment?: 'negative' | 'neutral' | 'positive' | null
  /** Time of the vote, ISO 8601; noon of the clock's day by default. */
  at?: string
  tools?: string[]
  labels?: string[]
  task?: Partial<Insertable<TaskTables['tasks']>>
}

/** The routes on a server, over PostgreSQL. A test may set the clock. */
export type InsightApi = AsyncDisposable & {
  db: Relational<InsightTestTables>['db']
  clock: { ms: number }
  newProject(): Promise<string>
  /** Calls as a viewer, below `/api/v1/feedback`, or a whole path from `/api` on. */
  call(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    project_id: string,
    about?: { headers?: Record<string, string>; body?: unknown },
  ): Promise<InsightReply>
  seedTask(project_id: string, task_id: string, given?: VotedTask['task']): Promise<void>
  /** Stores tasks with a vote of a user each, as the routes of feedback do. */
  vote(project_id: string, tasks: readonly VotedTask[]): Promise<void>
}

/** Noon of the tests. */
export const noon_ms = Date.UTC(2026, 10, 23, 12)

type TestDb = Relational<InsightTestTables>['db']

/** Opens the routes; `moreRoutes` returns those of other capabilities. */
export async function openInsightApi(
  moreRoutes: (deps: { db: TestDb; clock: { now_ms(): number } }) => Route[] = () => [],
): Promise<InsightApi> {
  const logger = createLogger({
    role: 'test',
    level: process.env['TEST_LOG'] === undefined ? 'silent' : 'error',
  })
  const relational = openRelational<InsightTestTables>({
    scope: allTenants,
    ...{ url: await testPostgres(), logger, pool_max: 8 },
    connect_timeout_ms: 2_000,
    statement_timeout_ms: 20_000,
  })
  const { db } = relational
  const time = { ms: noon_ms }
  const clock = { now_ms: () => time.ms }
  const server = await createHttpServer({
    routes: [...insightRoutes({ db, clock }), ...moreRoutes({ db, clock })],
    authorize: authorizeByName,
    idempotency: openIdempotencyStore(db),
    ...{ logger, metrics: createMetrics(), clock },
    body_bytes_max: 1_000_000,
    header_bytes_max: 16_384,
    rate_per_minute_max: 0,
    request_timeout_ms: 20_000,
    keep_alive_ms: 1_000,
    check_replies: true,
  })
  const seedTask: InsightApi['seedTask'] = async (project_id, task_id, given) => {
    await db
      .insertInto('tasks')
      .values({ ...newTask(project_id, task_id), ...given })
      .execute()
  }
  return {
    ...{ db, clock: time, seedTask },
    newProject: async () => {
      const [id, organization_id] = [newId(), newId()]
      await db.insertInto('organizations').values({ id: organization_id, name: id }).execute()
      await db.insertInto('projects').values({ id, organization_id, name: id }).execute()
      return id
    },
    call: async (method, path, project_id, { headers, body } = {}) => {
      const reply = await server.inject({
        ...{ method, url: path.startsWith('/api/') ? path : `/api/v1/feedback${path}` },
        headers: headers ?? tokenOf('viewer', project_id),
        ...(body !== undefined && { payload: body as object }),
      })
      const isJson = String(reply.headers['content-type']).includes('json')
      return {
        ...{ status: reply.statusCode, headers: reply.headers, text: reply.payload },
        body:
          isJson && !String(reply.headers['content-type']).includes('ndjson')
            ? reply.json()
            : undefined,
      }
    },
    vote: async (project_id, tasks) => {
      const rows = tasks.map((one) => toRows(project_id, one))
      await db
        .insertInto('tasks')
        .values(rows.map(({ task }) => task))
        .execute()
      await db
        .insertInto('task_detections')
        .values(rows.map(({ detection }) => detection))
        .execute()
      await db
        .insertInto('feedback_tasks')
        .values(rows.map(({ rated }) => rated))
        .execute()
      await db
        .insertInto('feedback')
        .values(rows.map(({ item }) => item))
        .execute()
      for (const { hour } of rows) {
        if (hour.environment === 'looptrace-onboarding') continue
        await db
          .insertInto('feedback_hours')
          .values(hour)
          .onConflict((conflict) =>
            conflict
              .columns(['project_id', 'source', 'dimension', 'hour', 'environment', 'value'])
              .doUpdateSet(({ eb, ref }) => ({
                negative: eb('feedback_hours.negative', '+', ref('excluded.negative')),
                neutral: eb('feedback_hours.neutral', '+', ref('excluded.neutral')),
                positive: eb('feedback_hours.positive', '+', ref('excluded.positive')),
              })),
          )
          .execute()
      }
    },
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await relational.close()
    },
  }
}

/** Headers of a person with a name and a role. */
export function personOf(name: string, role: 'viewer' | 'editor', project_id: string) {
  return { ...tokenOf(role, project_id), authorization: `Bearer ${role} ${name}` }
}

/** Like `authorize`, with the name of the person as the id of the caller. */
const authorizeByName: Authorize = async (route, credentials) => {
  const [, role, name] = /^Bearer (\w+) (\w+)$/.exec(credentials.authorization ?? '') ?? []
  if (name === undefined) return authorize(route, credentials)
  const caller = await authorize(route, { ...credentials, authorization: `Bearer ${role}` })
  return { ...caller, id: name }
}

function newTask(project_id: string, task_id: string) {
  const started_at = new Date(noon_ms - 60_000).toISOString()
  return {
    project_id,
    task_id,
    name: '',
    implicit: false,
    started_at,
    last_activity_at: started_at,
  }
}

function toRows(project_id: string, given: VotedTask) {
  const { task_id, user = null, source = 'end_user', sentiment = 'negative' } = given
  const { at = new Date(noon_ms).toISOString(), labels = [], tools = [] } = given
  const task = { ...newTask(project_id, task_id), user_id: user, ...given.task }
  const key = { project_id, task_id }
  const is = (one: string) => (source === 'end_user' && sentiment === one ? 1 : 0)
  const sums = { negative: is('negative'), neutral: is('neutral'), positive: is('positive') }
  const count = (one: string) => (sentiment === one ? 1 : 0)
  const { name: task_name, environment = null, release = null, models = [] } = task
  const cluster = user === null ? `task:${task_id}` : `user:${user}`
  return {
    task,
    detection: { ...key, tools, not_checked: '[]' },
    rated: {
      ...{
        ...key,
        ...sums,
        task_ref: task_id,
        created_at: at,
        items: 1,
        cluster,
        first_at: at,
        last_at: at,
      },
      ...{ task_name, environment, release, models, task_started_at: task.started_at },
    },
    item: {
      ...{ ...key, feedback_id: newId(), source, subject: cluster, user_id: user, labels },
      ...{ state: 'attached' as const, sentiment, counts: sentiment !== null, at, version: 1 },
      ...{ metadata: '{}', by_browser: false, created_at: at, created_by: 'key:1' },
      ...{ updated_at: at, updated_by: 'key:1', body_digest: Buffer.alloc(32) },
    },
    hour: {
      ...{ project_id, source, dimension: 'all' as const, value: '' },
      environment: environment ?? '',
      hour: `${at.slice(0, 13)}:00:00.000Z`,
      ...{ negative: count('negative'), neutral: count('neutral'), positive: count('positive') },
    },
  }
}
