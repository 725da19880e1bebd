import { Writable } from 'node:stream'
import type { InsertObject } from 'kysely'
import { pino } from 'pino'
import {
  chooseByEntity,
  openClickHouseRunner,
  openPostgresRunner,
  openQueries,
  type QueriesOptions,
  type QuerySettings,
  queryRoutes,
  type RunDeps,
  type Served,
} from '../../src/capabilities/query/index.ts'
import {
  openClickHouseRecordStore,
  openClickHouseStore,
  type RecordStore,
} from '../../src/capabilities/storage/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { Observation } from '../../src/model/observation.ts'
import type { ColumnarServer } from '../../src/platform/columnar/index.ts'
import { createHttpServer, type Route } from '../../src/platform/http/index.ts'
import {
  openRelational,
  type Relational,
  type TaskTables,
} from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics, type Metrics } from '../../src/platform/telemetry/index.ts'
import { allTenants } from './all-tenants.ts'
import { migratedClickHouse } from './clickhouse.ts'
import { testPostgres } from './postgres.ts'
import { authorize, keyOf } from './task-api.ts'

export type QueryReply = { status: number; body: Json; headers: Headers }
/** A parsed body; tests read it without narrowing. */
export type Json = ReturnType<typeof JSON.parse>

export const querySettings: QuerySettings = {
  query_rows_read_max: 10_000_000,
  query_bytes_read_max: 10_000_000_000,
  query_time_ms_max: 10_000,
  query_memory_bytes_max: 2_000_000_000,
  query_result_rows_max: 10_000,
}

/** The routes of queries on a listening server, over both stores. */
export type QueryApi = AsyncDisposable & {
  url: string
  project_id: string
  columnar: ColumnarServer
  relational: Relational<TaskTables>
  records: RecordStore
  metrics: Metrics
  /** Log lines so far. */
  logged(): string[]
  /** Served queries, in order. */
  served: Served[]
  call(path: string, body?: unknown, about?: CallAbout): Promise<QueryReply>
  insert(observations: readonly Observation[]): Promise<void>
  insertTask(task: Partial<InsertObject<TaskTables, 'tasks'>> & { task_id: string }): Promise<void>
}
type CallAbout = {
  method?: string
  headers?: Record<string, string>
  signal?: AbortSignal
}

export type QueryApiOptions = {
  settings?: Partial<QuerySettings>
  slots?: QueriesOptions['slots']
  chooseStore?: QueriesOptions['chooseStore']
  columnar?: ColumnarServer
  /** URL of PostgreSQL; a new database by default. */
  postgres_url?: string
  project_id?: string
  restoredSlices?: QueriesOptions['restoredSlices']
  /** Further routes over the same parts. */
  routes?: (deps: RunDeps, relational: Relational<TaskTables>) => Route[]
}

export async function openQueryApi(options: QueryApiOptions = {}): Promise<QueryApi> {
  const columnar = options.columnar ?? (await migratedClickHouse())
  const lines: string[] = []
  const logger = pino(
    { level: 'debug' },
    new Writable({
      write: (line, _encoding, done) => {
        lines.push(String(line))
        done()
      },
    }),
  )
  const relational = openRelational<TaskTables>({
    scope: allTenants,
    url: options.postgres_url ?? (await testPostgres()),
    pool_max: 6,
    connect_timeout_ms: 5_000,
    statement_timeout_ms: 30_000,
    logger,
  })
  const project_id = options.project_id ?? newId()
  const served: Served[] = []
  const metrics = createMetrics()
  const deps = openQueries({
    runners: {
      clickhouse: openClickHouseRunner({ columnar, logger }),
      postgres: openPostgresRunner(relational),
    },
    chooseStore: options.chooseStore ?? chooseByEntity,
    onServed: (each) => served.push(each),
    ...(options.restoredSlices && { restoredSlices: options.restoredSlices }),
    settings: { ...querySettings, ...options.settings },
    slots: options.slots,
    ...{ metrics, logger },
  })
  const routes = [...queryRoutes(deps), ...(options.routes?.(deps, relational) ?? [])]
  const server = await serve(routes, metrics)
  const url = `http://127.0.0.1:${await server.listen({ host: '127.0.0.1', port: 0 })}`
  const store = openClickHouseStore({ columnar })
  return {
    ...{ url, project_id, columnar, relational, metrics, served },
    logged: () => lines,
    records: openClickHouseRecordStore({ columnar }),
    call: (path, body, about) =>
      call(`${url}/api/v2/observability/${path}`, body, {
        headers: keyOf(project_id, 'query:run'),
        ...about,
      }),
    insert: (observations) => store.insert(observations, { token: newId() }),
    insertTask: async (task) => {
      await relational.db
        .insertInto('tasks')
        .values({ ...taskOf(project_id), ...task })
        .execute()
    },
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await relational.close()
      await columnar.close()
    },
  }
}

async function call(
  url: string,
  body: unknown,
  { method = 'POST', headers = {}, signal }: CallAbout,
): Promise<QueryReply> {
  const reply = await fetch(url, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  })
  const text = await reply.text()
  return {
    status: reply.status,
    body: text === '' ? undefined : JSON.parse(text),
    headers: reply.headers,
  }
}

function taskOf(project_id: string) {
  const started_at = '2026-09-21T14:00:00.000Z'
  const times = { started_at, last_activity_at: started_at, duration_ms: 0 }
  return { project_id, name: 'a task', implicit: false, ...times }
}

function serve(routes: Route[], metrics: Metrics) {
  return createHttpServer({
    routes,
    authorize,
    idempotency: {
      claim: async () => ({ state: 'new' }),
      keep: async () => undefined,
      release: async () => undefined,
    },
    logger: createLogger({ role: 'test', level: 'silent' }),
    metrics,
    clock: { now_ms: () => Date.now() },
    body_bytes_max: 1_000_000,
    header_bytes_max: 16_384,
    rate_per_minute_max: 0,
    request_timeout_ms: 20_000,
    keep_alive_ms: 1_000,
    check_replies: true,
  })
}
