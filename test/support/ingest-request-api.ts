import { randomUUID } from 'node:crypto'
import {
  type IngestRequestDeps,
  ingestRequestRoutes,
} from '../../src/capabilities/edge/batches/index.ts'
import { createEnqueuer, type Enqueuer } from '../../src/capabilities/edge/enqueue/index.ts'
import { createPricing } from '../../src/capabilities/records/pricing/index.ts'
import { schemaRoutes } from '../../src/capabilities/records/schema/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { systemClock } from '../../src/kernel/time.ts'
import type { LedgerEntry } from '../../src/model/ledger-entry.ts'
import { decodeRowFrame } from '../../src/model/row-frame.ts'
import { createHttpServer, type HttpServer } from '../../src/platform/http/index.ts'
import { type IngestTables, openRelational } from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { allTenants } from './all-tenants.ts'
import { authorize, keyOf } from './task-api.ts'

type Reply = { status: number; body: Record<string, unknown>; headers: Record<string, unknown> }
type CallOptions = { headers?: Record<string, string>; query?: string }
type EnqueuedRequest = Parameters<Enqueuer['enqueue']>[0]

/** The routes of canonical ingest on a server, with a database and an enqueuer without a queue. */
export type IngestRequestApi = AsyncDisposable & {
  db: IngestRequestDeps['db']
  project_id: string
  /** Messages passed to the enqueuer, in order. */
  enqueued: EnqueuedRequest[]
  /** Every publish, in order, including repeated messages. */
  published: { id: string; data: Uint8Array }[]
  /** The edge's ledger entries. */
  accepted: LedgerEntry[]
  /** Awaited before each publish; a test sets it to delay or fail the queue. */
  onPublish: () => Promise<void>
  receipts: Map<string, LedgerEntry[]>
  post(batch: unknown, options?: CallOptions): Promise<Reply>
  get(url: string, headers?: Record<string, string>): Promise<Reply>
  /** The settled entry that a worker would write for a message. */
  settled(message: { id: string; data: Uint8Array }, more?: Partial<LedgerEntry>): LedgerEntry
}

export async function openIngestRequestApi(
  url: string,
  more: { settings?: object; capture?: IngestRequestDeps['capture'] } = {},
): Promise<IngestRequestApi> {
  const logger = createLogger({ role: 'test', level: 'silent' })
  const limits = { pool_max: 8, connect_timeout_ms: 2000, statement_timeout_ms: 10_000 }
  const relational = openRelational<IngestTables>({ scope: allTenants, url, ...limits, logger })
  const project_id = randomUUID()
  const api = {
    enqueued: [] as EnqueuedRequest[],
    published: [] as { id: string; data: Uint8Array }[],
    accepted: [] as LedgerEntry[],
    receipts: new Map<string, LedgerEntry[]>(),
    onPublish: async () => undefined,
  } as Pick<IngestRequestApi, 'enqueued' | 'published' | 'accepted' | 'receipts' | 'onPublish'>
  const enqueuer = createEnqueuer({
    publish: async ({ id, data }) => {
      await api.onPublish()
      api.published.push({ id, data: Uint8Array.from(data) })
    },
    message_bytes_max: 1024 * 1024,
    inflight_bytes_max: 256 * 1024 * 1024,
    clock: systemClock,
    newId,
    metrics: createMetrics(),
    logger,
    onAccepted: (entries) => void api.accepted.push(...entries),
    retry: { attempts_max: 1, delay_ms: 1 },
  })
  const deps: IngestRequestDeps = {
    db: relational.db,
    enqueuer: {
      enqueue: (request, options) => {
        api.enqueued.push(request)
        return enqueuer.enqueue(request, options)
      },
      flush: () => enqueuer.flush(),
      close: () => enqueuer.close(),
    },
    pricing: createPricing(),
    receipts: {
      receipt: async (project, id) => api.receipts.get(`${project} ${id}`) ?? [],
    },
    settings: { body_bytes_max: 2_000_000, ...more.settings },
    ...(more.capture && { capture: more.capture }),
  }
  const server = await serve(deps, logger)
  return Object.assign(api, {
    db: relational.db,
    project_id,
    post: (batch: unknown, { headers, query = '' }: CallOptions = {}) =>
      call(server, {
        method: 'POST',
        url: `/api/v2/observability/ingest${query}`,
        headers: { 'content-type': 'application/json', ...(headers ?? ingestKey(project_id)) },
        payload: typeof batch === 'string' ? batch : JSON.stringify(batch),
      }),
    get: (path: string, headers = keyOf(project_id, 'traces:read') as Record<string, string>) =>
      call(server, { method: 'GET', url: path, headers }),
    settled: settledEntry,
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await enqueuer.close()
      await relational.close()
    },
  })
}

/** A key with scope `ingest:write`. */
export function ingestKey(project_id: string): Record<string, string> {
  return keyOf(project_id, 'ingest:write')
}

function serve(deps: IngestRequestDeps, logger: ReturnType<typeof createLogger>) {
  return createHttpServer({
    routes: [...ingestRequestRoutes(deps), ...schemaRoutes()],
    authorize,
    idempotency: {
      claim: async () => ({ state: 'new' }),
      keep: async () => undefined,
      release: async () => undefined,
    },
    logger,
    metrics: createMetrics(),
    clock: systemClock,
    body_bytes_max: 100_000,
    header_bytes_max: 16_384,
    rate_per_minute_max: 0,
    request_timeout_ms: 5000,
    keep_alive_ms: 1000,
    check_replies: true,
  })
}

async function call(
  server: HttpServer,
  request: {
    method: 'GET' | 'POST'
    url: string
    headers: Record<string, string>
    payload?: string
  },
): Promise<Reply> {
  const reply = await server.inject(request)
  return { status: reply.statusCode, body: reply.json(), headers: reply.headers }
}

function settledEntry(
  message: { id: string; data: Uint8Array },
  more: Partial<LedgerEntry> = {},
): LedgerEntry {
  const { project_id, receipts } = decodeRowFrame(message.data, 64 * 1024 * 1024)
  const [receipt] = receipts
  if (receipt === undefined) throw new Error('the message has no receipt')
  const { ingest_request_id, path, received_at_ms, items, records } = receipt
  return {
    project_id,
    ingest_request_id,
    message_id: message.id,
    side: 'settled',
    path,
    received_at_ms,
    items,
    stored: items,
    rejected: {},
    lost: {},
    masked: 0,
    records,
    attempts: 1,
    settled_at_ms: Date.now(),
    error_reason: '',
    ...more,
  }
}
