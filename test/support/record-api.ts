import {
  type CorrelationDeps,
  correlationRoutes,
} from '../../src/capabilities/correlations/index.ts'
import { type LedgerDeps, ledgerRoutes } from '../../src/capabilities/ledger/index.ts'
import type { RunDeps } from '../../src/capabilities/query/index.ts'
import {
  applyCapture,
  type CapturePolicy,
  compilePolicy,
  defaultRules,
} from '../../src/capabilities/records/capture/index.ts'
import {
  type LedgerStore,
  openClickHouseLedgerStore,
  openClickHouseRecordStore,
  type RecordStore,
} from '../../src/capabilities/storage/index.ts'
import { traceRoutes } from '../../src/capabilities/traces/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { createHttpServer } from '../../src/platform/http/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { migratedClickHouse } from './clickhouse.ts'
import { start } from './records.ts'
import { authorize, keyOf } from './task-api.ts'

type Reply = { status: number; body: Record<string, unknown>; headers: Record<string, unknown> }
type Headers = Record<string, string>
type Call = { method: 'GET' | 'POST'; url: string; headers: Headers; payload?: string }
type Enqueued = Parameters<CorrelationDeps['enqueue']>[0]

/** The routes' current time, an hour after the records of tests. */
export const recordsNowMs = Number(start / 1_000_000n) + 3_600_000

/** The routes of traces, correlations and the ledger on a server, over ClickHouse. */
export type RecordApi = AsyncDisposable & {
  records: RecordStore
  ledger: LedgerStore
  project_id: string
  /** Messages passed to the enqueuer, in order. */
  enqueued: Enqueued[]
  /** Replaces the queue; set by tests. */
  onEnqueue: (request: Enqueued) => Promise<number>
  stats: LedgerDeps['queue']['stats']
  now_ms: number
  /** The project's capture policy; keeps everything by default. */
  policy: CapturePolicy
  get(url: string, headers?: Headers): Promise<Reply>
  post(url: string, payload: unknown, headers?: Headers): Promise<Reply>
}

export const emptyQueue = { pending: 0, pending_bytes: 0, dead: 0, oldest_age_ms: 0 }

export async function openRecordApi(): Promise<RecordApi> {
  const columnar = await migratedClickHouse()
  const records = openClickHouseRecordStore({ columnar })
  const ledger = openClickHouseLedgerStore({ columnar })
  const project_id = newId()
  const state = {
    enqueued: [] as Enqueued[],
    onEnqueue: async (_: Enqueued) => 1,
    stats: async () => emptyQueue,
    now_ms: recordsNowMs,
    policy: compilePolicy(defaultRules),
  }
  const clock = { now_ms: () => api.now_ms }
  const queue = { stats: () => api.stats() }
  const enqueue = (request: Enqueued) => {
    api.enqueued.push(request)
    return api.onEnqueue(request)
  }
  const server = await serve([
    ...traceRoutes({ records, queries: queriesOutOfTest, findings: async () => [] }),
    ...correlationRoutes({
      ...{ records, ledger, enqueue, clock },
      capture: (given, _project, item_kinds) => applyCapture(api.policy, given, item_kinds),
    }),
    ...ledgerRoutes({ ledger, queue, clock }),
  ])
  const call = async (request: Call): Promise<Reply> => {
    const reply = await server.inject(request)
    return { status: reply.statusCode, body: reply.json(), headers: reply.headers }
  }
  const api: RecordApi = Object.assign(state, {
    records,
    ledger,
    project_id,
    get: (url: string, headers: Headers = keyOf(project_id, 'traces:read')) =>
      call({ method: 'GET', url, headers }),
    post: (url: string, payload: unknown, headers: Headers = keyOf(project_id, 'ingest:write')) =>
      call({
        method: 'POST',
        url,
        headers: { 'content-type': 'application/json', ...headers },
        payload: JSON.stringify(payload),
      }),
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await columnar.close()
    },
  })
  return api
}

/** `openTraceApi` tests the routes that read by queries. */
const queriesOutOfTest = new Proxy({} as RunDeps, {
  get: () => {
    throw new Error('queries are out of this test')
  },
})

function serve(routes: Parameters<typeof createHttpServer>[0]['routes']) {
  return createHttpServer({
    routes,
    authorize,
    idempotency: {
      claim: async () => ({ state: 'new' }),
      keep: async () => undefined,
      release: async () => undefined,
    },
    logger: createLogger({ role: 'test', level: 'silent' }),
    metrics: createMetrics(),
    clock: { now_ms: () => recordsNowMs },
    body_bytes_max: 1_000_000,
    header_bytes_max: 16_384,
    rate_per_minute_max: 0,
    request_timeout_ms: 20_000,
    keep_alive_ms: 1000,
    check_replies: true,
  })
}
