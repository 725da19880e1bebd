import {
  accessRoutes,
  authorizer,
  bootstrap,
  mintGivenSecrets,
  openAccess,
} from '../../../src/capabilities/access/index.ts'
import { releasePolicyRoutes } from '../../../src/capabilities/certification/index.ts'
import { channelRoutes, incidentRoutes } from '../../../src/capabilities/incidents/index.ts'
import { retentionRoutes } from '../../../src/capabilities/lifecycle/retention/index.ts'
import { openClickHouseRetentionStore } from '../../../src/capabilities/storage/index.ts'
import { newId } from '../../../src/kernel/ids.ts'
import { systemClock } from '../../../src/kernel/time.ts'
import { createHttpServer } from '../../../src/platform/http/index.ts'
import { openMailer } from '../../../src/platform/mail/index.ts'
import { openOutbound } from '../../../src/platform/outbound/index.ts'
import {
  type AccessTables,
  type CertificationTables,
  type DetectionTables,
  type IncidentTables,
  type JobTables,
  openIdempotencyStore,
  openRelational,
  type Relational,
  type RetentionTables,
  type TaskTables,
} from '../../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../../src/platform/telemetry/index.ts'
import { quickPasswords, sharedStrength } from '../access-app.ts'
import { allTenants } from '../all-tenants.ts'
import { migratedClickHouse } from '../clickhouse.ts'
import { testPostgres } from '../postgres.ts'

const secret_key = 'a secret of at least 32 characters'

type Tables = AccessTables &
  RetentionTables &
  JobTables &
  TaskTables &
  DetectionTables &
  IncidentTables &
  CertificationTables

/** The part of the product that resources declare, over HTTP, on its own database. */
export type OperatedService = AsyncDisposable & {
  url: string
  operator_key: string
  admin: { email: string; password: string }
  db: Relational<Tables>['db']
  /** Creates a project and returns its id; `name` is the id by default. */
  project(name?: string): Promise<string>
  /** Sends a request as the administrator or with a key, in a project. */
  call(method: string, path: string, about?: ServiceCall): Promise<ServiceReply>
}

type ServiceCall = { project_id?: string; key?: string; body?: unknown; etag?: string }
/** A parsed body; tests read it without narrowing. */
type Json = ReturnType<typeof JSON.parse>
type ServiceReply = { status: number; body: Json; etag: string | null }

/** Starts it on the PostgreSQL and the embedded ClickHouse that test files share. */
export async function startOperatedService(): Promise<OperatedService> {
  await using parts = new AsyncDisposableStack()
  const logger = createLogger({ role: 'test', level: 'silent' })
  const relational = openRelational<Tables>({
    scope: allTenants,
    ...{ url: await testPostgres(), logger, pool_max: 16 },
    connect_timeout_ms: 5_000,
    statement_timeout_ms: 10_000,
  })
  parts.defer(() => relational.close())
  const columnar = await migratedClickHouse()
  parts.defer(() => columnar.close())
  const { db } = relational
  const measureRange = () => Promise.reject(new Error('the operator previews no rules'))
  const metrics = createMetrics()
  const mailer = openMailer({ smtp_url: undefined, from: undefined, logger, metrics })
  const outbound = openOutbound({ allowed: [] })
  const given = mintGivenSecrets()
  const admin_email = 'admin@example.com'
  await bootstrap({ db, clock: systemClock, passwords: quickPasswords, admin_email, ...given })
  const access = openAccess({
    ...{ db, clock: systemClock, logger, passwords: quickPasswords },
    strength: sharedStrength,
    secret_key,
  })
  parts.defer(() => access.close())
  const retention = openClickHouseRetentionStore({ columnar })
  const deps = { db, clock: systemClock, retention, hour: 3, archives_configured: true }
  const server = await createHttpServer({
    routes: [
      ...accessRoutes(access),
      ...retentionRoutes(deps),
      ...releasePolicyRoutes(deps),
      ...incidentRoutes({
        db,
        clock: systemClock,
        measureRange,
        examples: async () => [],
      }),
      ...channelRoutes({ ...{ db, clock: systemClock, secret_key, mailer }, outbound }),
    ],
    authorize: authorizer(access),
    idempotency: openIdempotencyStore(db),
    ...{ logger, metrics, clock: systemClock },
    body_bytes_max: 1_000_000,
    header_bytes_max: 16_384,
    rate_per_minute_max: 0,
    request_timeout_ms: 20_000,
    keep_alive_ms: 5_000,
    check_replies: true,
  })
  parts.defer(() => server.close())
  const url = `http://127.0.0.1:${await server.listen({ host: '127.0.0.1', port: 0 })}`
  const admin = { email: admin_email, password: given.admin_password }
  const token = await signIn(url, admin)
  const { id: organization_id } = await db
    .selectFrom('organizations')
    .select('id')
    .executeTakeFirstOrThrow()
  const all = parts.move()
  return {
    ...{ url, admin, db, operator_key: given.operator_key },
    project: async (name) => {
      const id = newId()
      const values = { id, organization_id, name: name ?? id }
      await db.insertInto('projects').values(values).execute()
      return id
    },
    call: (method, path, about = {}) => call(url, method, path, { token, ...about }),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

async function signIn(url: string, { email, password }: { email: string; password: string }) {
  const body = { grant_type: 'password', username: email, password }
  const reply = await call(url, 'POST', '/api/v1/auth/token', { body })
  return String(reply.body.access_token)
}

async function call(
  url: string,
  method: string,
  path: string,
  { token, key, project_id, body, etag }: ServiceCall & { token?: string },
): Promise<ServiceReply> {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(key !== undefined ? { 'x-api-key': key } : token && { authorization: `Bearer ${token}` }),
      ...(project_id !== undefined && { 'x-project-id': project_id }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(etag !== undefined && { 'if-match': etag }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  return {
    status: answer.status,
    body: text === '' ? undefined : JSON.parse(text),
    etag: answer.headers.get('etag'),
  }
}
