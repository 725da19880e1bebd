import { createHash } from 'node:crypto'
import {
  type CertifyDeps,
  certificationChores,
  certificationHandler,
  certificationRoutes,
  openSigningKey,
  releasePolicyRoutes,
} from '../../src/capabilities/certification/index.ts'
import type { Jobs } from '../../src/capabilities/jobs/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { createHttpServer } from '../../src/platform/http/index.ts'
import {
  type AccessTables,
  type CertificationTables,
  type DetectionTables,
  type JobTables,
  openIdempotencyStore,
  openRelational,
  type Relational,
  type TaskTables,
} from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { allTenants } from './all-tenants.ts'
import { eventually } from './eventually.ts'
import { startWorker } from './job-workers.ts'
import { testPostgres } from './postgres.ts'
import { authorize, tokenOf } from './task-api.ts'

type Tables = AccessTables & CertificationTables & TaskTables & DetectionTables & JobTables

/** A parsed body; tests read it without narrowing. */
export type Json = ReturnType<typeof JSON.parse>
type Method = 'GET' | 'PUT' | 'POST' | 'DELETE'
type Call = { headers?: Record<string, string>; body?: unknown }
type CertificationReply = { status: number; body: Json; text: string }

/** Tasks of users: each user has `tasks` of them, and `failing` of those failed. */
export type SeededTasks = {
  users: number
  tasks: number
  failing?: number
  release?: string
  environment?: string | null
  /** Start of the tasks; an hour ago by default. */
  started_at?: Date
  user?: (user: number) => string | null
  name?: string
  state?: 'running'
  trust_score?: number
  /** Whether detection has analysed them. */
  is_analysed?: boolean
  /** Whether they have no call with tokens, as tasks that somebody made up. */
  is_empty?: boolean
  /** Names the tasks, so that two seeds differ. */
  prefix?: string
}

/** The routes of certifications on a server over PostgreSQL, and workers that do them. */
export type CertificationApi = AsyncDisposable & {
  url: string
  db: Relational<Tables>['db']
  deps: CertifyDeps
  /** Time of the server and its workers, moved by tests. */
  clock: { now_ms: () => number; ahead_ms: number }
  /** Items of the ledger of every project. */
  ledger: { accepted: number; stored: number; lost: number; pending: number }
  newProject(): Promise<string>
  /** Calls as an admin, below `/api/v1/reliability/phase10`. */
  call(method: Method, path: string, project_id: string, about?: Call): Promise<CertificationReply>
  putPolicy(project_id: string, rules: object, id?: string): Promise<void>
  seedTasks(project_id: string, tasks: SeededTasks): Promise<void>
  /** Starts a worker; the end of the API stops it. */
  startWorker(change?: Partial<CertifyDeps>): Jobs
  /** Certifies the release 1.0.0 of `agent` in `staging`, and waits for the end. */
  certify(project_id: string, body?: object): Promise<Json>
}

/** An absolute gate on the success of tasks. */
export const successGate = { metric: 'task_success_rate', kind: 'absolute', threshold: 0.8 }

/** Opens the routes. */
export async function openCertificationApi(): Promise<CertificationApi> {
  const logger = createLogger({ role: 'test', level: 'silent' })
  const url = await testPostgres()
  const relational = openRelational<Tables>({
    scope: allTenants,
    ...{ url, logger, pool_max: 8 },
    connect_timeout_ms: 2_000,
    statement_timeout_ms: 10_000,
  })
  const { db } = relational
  const clock = { ahead_ms: 0, now_ms: (): number => Date.now() + clock.ahead_ms }
  const ledger = { accepted: 1_000, stored: 1_000, lost: 0, pending: 0 }
  const deps: CertifyDeps = {
    ...{ db, clock, tasks_max: 20_000 },
    signing: openSigningKey({ db, clock, secret_key: secret, certification_key: undefined }),
    readLedger: async () => ({ ...ledger }),
    readFeedback: async () => new Map(),
  }
  const server = await createHttpServer({
    routes: [
      ...releasePolicyRoutes({ db, clock }),
      ...certificationRoutes({ db, clock, wait_ms_max: 20_000 }),
    ],
    authorize,
    idempotency: openIdempotencyStore(db),
    ...{ logger, metrics: createMetrics(), clock },
    body_bytes_max: 1_000_000,
    header_bytes_max: 16_384,
    rate_per_minute_max: 0,
    request_timeout_ms: 30_000,
    keep_alive_ms: 1_000,
    check_replies: true,
  })
  const workers: Jobs[] = []
  const call: CertificationApi['call'] = async (method, path, project_id, about = {}) => {
    const { headers, body } = about
    const reply = await server.inject({
      ...{ method, url: path.startsWith('/.well') ? path : `/api/v1/reliability/phase10${path}` },
      headers: headers ?? tokenOf('admin', project_id),
      ...(body !== undefined && { payload: body as object }),
    })
    const { statusCode: status, body: text } = reply
    return { status, text, body: text === '' ? undefined : reply.json() }
  }
  return {
    ...{ url, db, deps, clock, ledger, call },
    newProject: () => newProject(db),
    putPolicy: async (project_id, rules, id = 'default') => {
      const { status, text } = await call('PUT', `/release-policies/${id}`, project_id, {
        body: rules,
      })
      if (status !== 200 && status !== 201) throw new Error(text)
    },
    seedTasks: (project_id, tasks) => seedTasks(db, project_id, tasks),
    startWorker: (change = {}) => {
      const changed = { ...deps, ...change }
      const jobs = startWorker(db as never, [certificationHandler(changed)], {
        chores: certificationChores(changed).map((chore) => ({ ...chore, every_ms: 100 })),
      })
      workers.push(jobs)
      return jobs
    },
    certify: async (project_id, body = {}) => {
      const started = await call('POST', '/release-certification', project_id, {
        body: { ...releaseBody, ...body },
      })
      if (started.status !== 202) throw new Error(started.text)
      const path = `/release-certification/${started.body.certification_id}`
      return eventually('the end of the certification', async () => {
        const { body: read } = await call('GET', path, project_id)
        return read.result !== 'pending' && read
      })
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(workers.map((jobs) => jobs.stop()))
      await server.close()
      await relational.close()
    },
  }
}

/** The secret of the test installation. */
export const secret = 'a secret of at least 32 characters'

/** A request for the release 1.0.0 of `agent`. */
export const releaseBody = {
  release: { name: 'agent', version: '1.0.0' },
  environment: 'staging',
}

/** A number of tokens that no other task has. */
function tokensOf(task_id: string): number {
  return 1 + Number.parseInt(createHash('sha256').update(task_id).digest('hex').slice(0, 12), 16)
}

/** The verdict of detection on a task without findings. */
const calmVerdict = {
  findings: { info: 0, low: 0, medium: 0, high: 0, critical: 0 },
  ...{ recovered: 0, root_cause: null, summary: 'No findings.' },
  detected_at: '2026-01-01T00:00:00.000Z',
}

async function newProject(db: Relational<Tables>['db']): Promise<string> {
  const [id, organization_id] = [newId(), newId()]
  await db.insertInto('organizations').values({ id: organization_id, name: id }).execute()
  await db.insertInto('projects').values({ id, organization_id, name: id }).execute()
  return id
}

async function seedTasks(
  db: Relational<Tables>['db'],
  project_id: string,
  about: SeededTasks,
): Promise<void> {
  const { users, tasks, failing = 0, release = '1.0.0', environment = 'staging' } = about
  const { user = (at) => `user-${at}`, name = 'refund', prefix = '', trust_score = null } = about
  const started_at = about.started_at ?? new Date(Date.now() - 3_600_000)
  const verdict = about.is_analysed === true ? JSON.stringify(calmVerdict) : null
  const rows = Array.from({ length: users }, (_, at) =>
    Array.from({ length: tasks }, (__, task) => ({
      ...{ project_id, task_id: `${prefix}${at}-${task}`, name, implicit: false },
      ...{ user_id: user(at), release, environment, started_at, last_activity_at: started_at },
      ...{ duration_ms: 1_000 + at * tasks + task, cost_usd: '0.01', trust_score, verdict },
      ...(about.is_empty === true
        ? {}
        : { calls: 1, total_tokens: tokensOf(`${prefix}${at}-${task}`) }),
      state: about.state ?? (task < failing ? ('failed' as const) : ('completed' as const)),
    })),
  ).flat()
  for (let at = 0; at < rows.length; at += 1_000) {
    await db
      .insertInto('tasks')
      .values(rows.slice(at, at + 1_000))
      .execute()
  }
}

/** Returns the SHA-256 of the payload of a statement, in hexadecimal. */
export function payloadDigest({ payload }: { payload: string }): string {
  return createHash('sha256').update(Buffer.from(payload, 'base64')).digest('hex')
}
