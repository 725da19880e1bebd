import { conversationRoutes } from '../../src/capabilities/conversations/index.ts'
import {
  type ContextJudge,
  type DetectionDb,
  type DetectionOptions,
  detectionRoutes,
  markDue,
  startDetection,
} from '../../src/capabilities/detection/index.ts'
import { collectTouched } from '../../src/capabilities/ingest/roll-up/touched.ts'
import { type ObservationStore, openClickHouseStore } from '../../src/capabilities/storage/index.ts'
import { taskRoutes } from '../../src/capabilities/tasks/index.ts'
import type { ReadVerifications } from '../../src/capabilities/tasks/turns/turns.ts'
import type { RunsDb } from '../../src/capabilities/verification/contract.ts'
import { readVerifiedClaims } from '../../src/capabilities/verification/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { systemClock } from '../../src/kernel/time.ts'
import type { Observation } from '../../src/model/observation.ts'
import type { ColumnarServer } from '../../src/platform/columnar/index.ts'
import { createHttpServer } from '../../src/platform/http/index.ts'
import {
  type AccessTables,
  type DetectionTables,
  openRelational,
  type Relational,
  type TaskTables,
} from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { allTenants } from './all-tenants.ts'
import { migratedClickHouse, testClickHouse } from './clickhouse.ts'
import type { TestDatabase } from './clickhouse-broker.ts'
import { eventually } from './eventually.ts'
import { testPostgres } from './postgres.ts'
import { rollUpBatch } from './roll-up-batch.ts'
import { authorize, keyOf } from './task-api.ts'

/** Both stores with a worker's detection. */
export type DetectionBench = AsyncDisposable & {
  postgres_url: string
  clickhouse: TestDatabase
  db: DetectionDb
  relational: Relational<Tables>
  columnar: ColumnarServer
  store: ObservationStore
  newProject(): Promise<string>
  /** Stores observations and rolls them up, like a batch of the queue. */
  bring(observations: readonly Observation[]): Promise<void>
  /** Starts the worker's detection; it ends with the bench. */
  startWorker(options?: Partial<DetectionOptions>): { stop(): Promise<void> }
  /** Resolves when no task is due. */
  untilDetected(timeout_ms?: number): Promise<void>
}

type Tables = TaskTables & DetectionTables & AccessTables
const logger = createLogger({ role: 'test', level: 'silent' })

export async function openDetectionBench(): Promise<DetectionBench> {
  const postgres_url = await testPostgres()
  const relational = openRelational<Tables>({
    scope: allTenants,
    ...{ url: postgres_url, logger },
    pool_max: 8,
    connect_timeout_ms: 5_000,
    statement_timeout_ms: 30_000,
  })
  const { db } = relational
  const clickhouse = await testClickHouse()
  const columnar = await migratedClickHouse(clickhouse)
  const store = openClickHouseStore({ columnar })
  const organization_id = newId()
  await db.insertInto('organizations').values({ id: organization_id, name: 'tests' }).execute()
  const workers: { stop(): Promise<void> }[] = []
  return {
    ...{ postgres_url, clickhouse, db, relational, columnar, store },
    newProject: async () => {
      const id = newId()
      await db.insertInto('projects').values({ id, organization_id, name: id }).execute()
      return id
    },
    bring: async (observations) => {
      await store.insert(observations, { token: newId() })
      await rollUpBatch({ db, store, markDue, large_from: 2_000 }, collectTouched(observations))
    },
    startWorker: (options = {}) => {
      const ports = { db, store, logger, clock: systemClock, metrics: createMetrics() }
      const worker = startDetection({
        ...ports,
        ...options,
        settings: { poll_ms: 50, rest_ms: 0, rest_factor: 0, busy_share: 0.9, ...options.settings },
      })
      workers.push(worker)
      return worker
    },
    untilDetected: async (timeout_ms = 60_000) => {
      await eventually(
        'no task is due',
        async () => {
          const [due] = await db
            .selectFrom('task_detections')
            .select('task_id')
            .where('due_at', 'is not', null)
            .limit(1)
            .execute()
          return due === undefined
        },
        { timeout_ms },
      )
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(workers.map((worker) => worker.stop()))
      await columnar.close()
      await relational.close()
    },
  }
}

type Call = { headers?: Record<string, string>; body?: object }
type Reply = { status: number; body: Record<string, unknown>; etag: string | undefined }

/** The routes of tasks and detection on a server, with its own bench. */
export type DetectionApi = AsyncDisposable & {
  bench: DetectionBench
  /** `path` is relative to `/api/v1`. */
  call(method: 'GET' | 'PUT' | 'POST', path: string, about: Call): Promise<Reply>
  get(project_id: string, path: string): Promise<Reply>
  post(project_id: string, path: string, body?: object): Promise<Reply>
}

export async function openDetectionApi(
  options: { judge?: ContextJudge } = {},
): Promise<DetectionApi> {
  const bench = await openDetectionBench()
  const verifications = bench.db as unknown as RunsDb
  const readVerifications: ReadVerifications = (asked) => readVerifiedClaims(verifications, asked)
  const deps = { ...bench, ...options, readVerifications, clock: systemClock }
  const server = await createHttpServer({
    routes: [...taskRoutes(deps), ...conversationRoutes(deps), ...detectionRoutes(deps)],
    authorize,
    idempotency: {
      claim: async () => ({ state: 'new' }),
      keep: async () => undefined,
      release: async () => undefined,
    },
    logger,
    metrics: createMetrics(),
    clock: systemClock,
    body_bytes_max: 1_000_000,
    header_bytes_max: 16_384,
    rate_per_minute_max: 0,
    request_timeout_ms: 30_000,
    keep_alive_ms: 1_000,
    check_replies: true,
  })
  const call: DetectionApi['call'] = async (method, path, { headers = {}, body }) => {
    const payload = body === undefined ? {} : { payload: body }
    const reply = await server.inject({ method, url: `/api/v1${path}`, headers, ...payload })
    return { status: reply.statusCode, body: reply.json(), etag: reply.headers.etag as string }
  }
  return {
    bench,
    call,
    get: (project_id, path) => call('GET', path, { headers: keyOf(project_id) }),
    post: (project_id, path, body) =>
      call('POST', path, { headers: keyOf(project_id), ...(body && { body }) }),
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await bench[Symbol.asyncDispose]()
    },
  }
}
