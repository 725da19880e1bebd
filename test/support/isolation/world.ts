import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newId } from '../../../src/kernel/ids.ts'
import type { ColumnarServer } from '../../../src/platform/columnar/index.ts'
import { openSqliteQueue } from '../../../src/platform/queue/index.ts'
import {
  type AccessTables,
  type ArchiveTables,
  type AuditTables,
  type IncidentTables,
  type JobTables,
  type OnboardingTables,
  openRelational,
  type Relational,
} from '../../../src/platform/relational/index.ts'
import { createLogger } from '../../../src/platform/telemetry/index.ts'
import { allTenants } from '../all-tenants.ts'
import { migratedClickHouse, testClickHouse } from '../clickhouse.ts'
import { testPostgres } from '../postgres.ts'
import { type Service, startService } from '../service.ts'

type Tables = AccessTables &
  AuditTables &
  IncidentTables &
  OnboardingTables &
  ArchiveTables &
  JobTables

/** A parsed body; tests read it without narrowing. */
export type Json = ReturnType<typeof JSON.parse>
export type Reply = { status: number; text: string; body: Json; headers: Headers }
/** Credentials, and the project of the call. */
export type Who = { token?: string; key?: string; project_id?: string }
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Sent = Who & { body?: unknown; headers?: Record<string, string> }

/** The whole service as one process, on databases that the test reads too. */
export type World = AsyncDisposable & {
  service: Service
  db: Relational<Tables>['db']
  columnar: ColumnarServer
  admin: { email: string; password: string }
  /** The first project, with a dead letter in it. */
  project_id: string
  dead_letter_id: string
  operator_key: string
  /** Calls a route, each time from another address, because some routes count addresses. */
  call(method: Method, path: string, sent?: Sent): Promise<Reply & { request_id: string }>
}

/**
 * Starts role `all` without rate limits, with every refused call in the audit trail. Notifications
 * reach the port of a receiver on loopback. `more` are further settings.
 */
export async function startWorld(
  receiver_port: number,
  more: Record<string, string> = {},
): Promise<World> {
  await using parts = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'looptrace-isolation-'))
  parts.defer(() => rm(directory, { recursive: true, force: true }))
  const [postgres, clickhouse] = [await testPostgres(), await testClickHouse('own')]
  const logger = createLogger({ role: 'test', level: 'silent' })
  const project_id = newId()
  const dead_letter_id = await publishUnreadable(join(directory, 'queue'), project_id)
  const admin = { email: 'victim-owner@example.com', password: 'correct horse battery' }
  const operator_key = `lt_op_${text(8)}_${text(32)}`
  const service = await startService('all', {
    ...{ LOOPTRACE_DATA_DIRECTORY: directory, LOOPTRACE_DEMO: '0' },
    ...{ LOOPTRACE_POSTGRES_URL: postgres, LOOPTRACE_CLICKHOUSE_URL: clickhouse.url },
    LOOPTRACE_CLICKHOUSE_USERNAME: clickhouse.username,
    LOOPTRACE_CLICKHOUSE_PASSWORD: clickhouse.password,
    LOOPTRACE_CLICKHOUSE_DATABASE: clickhouse.database,
    ...{ LOOPTRACE_BOOTSTRAP_EMAIL: admin.email, LOOPTRACE_BOOTSTRAP_PASSWORD: admin.password },
    ...{ LOOPTRACE_BOOTSTRAP_PROJECT_ID: project_id, LOOPTRACE_OPERATOR_KEY: operator_key },
    ...{ LOOPTRACE_HTTP_RATE_PER_MINUTE_MAX: '0', LOOPTRACE_HTTP_TRUSTED_PROXIES: '127.0.0.1' },
    LOOPTRACE_AUDIT_REFUSALS_PER_MINUTE_MAX: '0',
    LOOPTRACE_BLOBS_URL: `file://${join(directory, 'blobs')}`,
    LOOPTRACE_OUTBOUND_ALLOWED: `127.0.0.1/32:${receiver_port}`,
    ...more,
  })
  parts.defer(async () => void (await service.stop()))
  const relational = openRelational<Tables>({
    scope: allTenants,
    ...{ url: postgres, logger, pool_max: 4 },
    ...{ connect_timeout_ms: 5_000, statement_timeout_ms: 20_000 },
  })
  parts.defer(() => relational.close())
  const columnar = await migratedClickHouse(clickhouse)
  parts.defer(() => columnar.close())
  let calls = 0
  const all = parts.move()
  return {
    ...{ service, db: relational.db, columnar, admin, project_id, dead_letter_id, operator_key },
    call: (method, path, sent = {}) => send(`${service.base_url}${path}`, method, sent, ++calls),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

const text = (length: number) => randomBytes(length).toString('hex').slice(0, length)

/** Publishes a message that no version of the service can read, so that it is dead-lettered. */
async function publishUnreadable(folder: string, project_id: string): Promise<string> {
  await mkdir(folder, { recursive: true })
  const logger = createLogger({ role: 'test', level: 'silent' })
  const path = join(folder, 'queue.sqlite')
  const queue = await openSqliteQueue({ path, bytes_max: 1e8, logger })
  const id = newId()
  await queue.publish({ id, subject: `ingest.${project_id}`, data: Buffer.from('unreadable') })
  await queue.close()
  return id
}

async function send(
  url: string,
  method: Method,
  { token, key, project_id, body, headers = {} }: Sent,
  number: number,
): Promise<Reply & { request_id: string }> {
  const request_id = `cell-${number}`
  const answer = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...{ 'x-request-id': request_id },
      'x-forwarded-for': `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(key !== undefined && { 'x-api-key': key }),
      ...(project_id !== undefined && { 'x-project-id': project_id }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const content = await answer.text()
  const isJson = String(answer.headers.get('content-type')).includes('json')
  return {
    ...{ request_id, status: answer.status, headers: answer.headers, text: content },
    body: isJson && content !== '' && !content.includes('}\n{') ? JSON.parse(content) : undefined,
  }
}
