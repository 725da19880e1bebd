import type { Job, JobHandler } from '../../src/capabilities/jobs/index.ts'
import {
  dryRunHandler,
  type ErasureJobOptions,
  erasureHandler,
  type RetentionDb,
  retentionHandler,
  retentionRoutes,
} from '../../src/capabilities/lifecycle/retention/index.ts'
import {
  openClickHouseRecordStore,
  openClickHouseRetentionStore,
  openClickHouseStore,
  type RecordStore,
  type RetentionStore,
  type RetentionTarget,
} from '../../src/capabilities/storage/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import type {
  CorrelationDraft,
  EventDraft,
  LinkDraft,
  TraceDraft,
} from '../../src/model/ingest-records.ts'
import type { Observation } from '../../src/model/observation.ts'
import type { ColumnarServer } from '../../src/platform/columnar/index.ts'
import { createHttpServer } from '../../src/platform/http/index.ts'
import {
  type AccessTables,
  type JobTables,
  openRelational,
  type RetentionTables,
  type TaskTables,
} from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { allTenants } from './all-tenants.ts'
import { migratedClickHouse, testClickHouse } from './clickhouse.ts'
import type { TestDatabase } from './clickhouse-broker.ts'
import { jobIn, startWorker } from './job-workers.ts'
import { observationOf } from './observations.ts'
import { testPostgres } from './postgres.ts'
import { correlationOf, eventOf, linkOf, rowsOf, traceOf } from './records.ts'
import { authorize, keyOf } from './task-api.ts'

/** The current time for runs of tests. */
export const retentionNowMs = Date.UTC(2026, 10, 21, 12)
const day_ms = 86_400_000

/** Noon of the day `days` ago, in nanoseconds since 1970, plus `seconds`. */
export function daysAgo(days: number, seconds = 0): bigint {
  return BigInt(retentionNowMs - days * day_ms + seconds * 1_000) * 1_000_000n
}

/** The UTC day `days` ago. */
export function dateAgo(days: number): string {
  return new Date(retentionNowMs - days * day_ms).toISOString().slice(0, 10)
}

type Reply = {
  status: number
  body: Record<string, unknown>
  etag: string | undefined
  location?: string
}
type Call = { headers?: Record<string, string>; body?: unknown }
type Method = 'GET' | 'PUT' | 'POST' | 'DELETE'

/** Records of a test; omitted fields have defaults. */
type Seed = {
  observations?: Partial<Observation>[]
  traces?: Partial<TraceDraft>[]
  events?: Partial<EventDraft>[]
  links?: Partial<LinkDraft>[]
  correlations?: Partial<CorrelationDraft>[]
}

type DryRunWay = { method: Method; path: string; body?: unknown }
type DryRunRecord = Record<string, unknown> & {
  result: Record<string, unknown>
  buckets: Record<string, unknown>[]
}

/** The routes of retention on a server, over both stores, and workers for its jobs. */
export type RetentionApi = AsyncDisposable & {
  routes: ReturnType<typeof retentionRoutes>
  db: RetentionDb
  columnar: ColumnarServer
  records: RecordStore
  store: RetentionStore
  postgres_url: string
  clickhouse: TestDatabase
  newProject(): Promise<string>
  call(method: Method, path: string, project_id: string, about?: Call): Promise<Reply>
  seed(project_id: string, seed: Seed): Promise<void>
  handler(store?: RetentionStore, targets?: readonly RetentionTarget[]): JobHandler
  erasureHandler(more?: Partial<ErasureJobOptions>): JobHandler
  /** Lets a worker run the job, and returns its final state. */
  done(job_id: string, handler?: JobHandler): Promise<Job>
  /** Enqueues a run, lets a worker run it, and returns its record with all buckets. */
  run(project_id: string, handler?: JobHandler): Promise<Record<string, unknown>>
  /** Lets a worker do a dry run, requested by POST by default, and returns its record. */
  dryRun(project_id: string, way?: DryRunWay): Promise<DryRunRecord>
  /** Returns the rows of a SELECT. */
  ask<Row>(sql: string, params?: Record<string, string>): Promise<Row[]>
  /** Rows that reads see, by kind. */
  rows(project_id: string): Promise<Record<string, number>>
}

const base = '/api/v2/observability'
const byPost: DryRunWay = { method: 'POST', path: '/retention/run?dry_run=true' }
const logger = createLogger({ role: 'test', level: 'silent' })
const clock = { now_ms: () => retentionNowMs }

/** By default in the ClickHouse of the worker, whose other files have rows there, too. */
export async function openRetentionApi(given?: TestDatabase): Promise<RetentionApi> {
  const postgres_url = await testPostgres()
  const relational = openRelational<JobTables & RetentionTables & TaskTables & AccessTables>({
    scope: allTenants,
    ...{ url: postgres_url, logger },
    pool_max: 8,
    connect_timeout_ms: 2_000,
    statement_timeout_ms: 10_000,
  })
  const clickhouse = given ?? (await testClickHouse())
  const columnar = await migratedClickHouse(clickhouse)
  const { db } = relational
  const records = openClickHouseRecordStore({ columnar })
  const observations = openClickHouseStore({ columnar })
  const store = openClickHouseRetentionStore({ columnar })
  const organization_id = newId()
  await db.insertInto('organizations').values({ id: organization_id, name: 'tests' }).execute()
  const routes = retentionRoutes({
    ...{ db, clock, retention: store, hour: 3, archives_configured: true },
  })
  const server = await serve(routes)
  const call: RetentionApi['call'] = async (method, path, project_id, about = {}) => {
    const headers = about.headers ?? keyOf(project_id, 'retention:write')
    const payload = about.body === undefined ? {} : { payload: about.body as object }
    const reply = await server.inject({ method, url: `${base}${path}`, headers, ...payload })
    const { etag, location } = reply.headers
    return {
      ...{ status: reply.statusCode, body: reply.json(), etag: etag as string },
      ...(typeof location === 'string' && { location }),
    }
  }
  const api: RetentionApi = {
    routes,
    db,
    columnar,
    records,
    store,
    postgres_url,
    clickhouse,
    call,
    newProject: async () => {
      const id = newId()
      await db.insertInto('projects').values({ id, organization_id, name: id }).execute()
      return id
    },
    seed: async (project_id, seed) => {
      const of = <Draft>(drafts: readonly Partial<Draft>[] = []) =>
        drafts.map((draft) => ({ ...draft, project_id }))
      const token = newId()
      await observations.insert(of(seed.observations).map(observationOf), { token })
      const rows = {
        traces: rowsOf('traces', of(seed.traces).map(traceOf)),
        events: rowsOf('events', of(seed.events).map(eventOf)),
        links: rowsOf('links', of(seed.links).map(linkOf)),
        correlations: rowsOf('correlations', of(seed.correlations).map(correlationOf)),
      }
      for (const [kind, some] of Object.entries(rows)) {
        if (some.length > 0) await records.insertRows(kind as keyof typeof rows, some, { token })
      }
    },
    handler: (given = store, targets = []) =>
      retentionHandler({ db, store: given, targets, clock, logger, metrics: createMetrics() }),
    erasureHandler: (more = {}) => erasureHandler({ db, store, clock, settle_ms: 0, ...more }),
    done: async (job_id, handler = api.handler()) => {
      const worker = startWorker(db, [handler], { clock })
      try {
        return await jobIn(db, job_id, 'succeeded', 'failed')
      } finally {
        await worker.stop()
      }
    },
    run: async (project_id, handler) => {
      const asked = await call('POST', '/retention/run', project_id)
      const job_id = String(asked.body['job_id'])
      const job = await api.done(job_id, handler)
      if (job.state !== 'succeeded') throw new Error(`the run failed: ${job.error}`)
      const read = await call('GET', `/retention/runs/${job_id}?limit=1000`, project_id)
      return read.body
    },
    dryRun: async (project_id, { method, path, body } = byPost) => {
      const asked = await call(method, path, project_id, { body })
      if (asked.status !== 202) throw new Error(`the dry run was refused: ${asked.status}`)
      const job_id = String(asked.body['job_id'])
      const job = await api.done(job_id, dryRunHandler({ db, store }))
      if (job.state !== 'succeeded') throw new Error(`the dry run failed: ${job.error}`)
      const read = await call('GET', `/retention/runs/${job_id}?limit=1000`, project_id)
      return read.body as DryRunRecord
    },
    ask: (sql, params = {}) => columnar.query(sql, params),
    rows: async (project_id) => {
      const counts: Record<string, number> = {}
      for (const kind of ['observations', 'traces', 'events', 'links', 'correlations']) {
        const [row] = await columnar.query<{ n: string }>(
          `SELECT count() AS n FROM ${kind} WHERE project_id = {project_id:UUID}`,
          { project_id },
        )
        counts[kind] = Number(row?.n)
      }
      return counts
    },
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await columnar.close()
      await relational.close()
    },
  }
  return api
}

function serve(routes: ReturnType<typeof retentionRoutes>) {
  return createHttpServer({
    routes,
    authorize,
    idempotency: {
      claim: async () => ({ state: 'new' }),
      keep: async () => undefined,
      release: async () => undefined,
    },
    logger,
    metrics: createMetrics(),
    clock,
    body_bytes_max: 1_000_000,
    header_bytes_max: 16_384,
    rate_per_minute_max: 0,
    request_timeout_ms: 20_000,
    keep_alive_ms: 1_000,
    check_replies: true,
  })
}
