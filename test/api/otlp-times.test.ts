import { randomBytes } from 'node:crypto'
import { Client, credentials, Metadata } from '@grpc/grpc-js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEnqueuer } from '../../src/capabilities/edge/enqueue/index.ts'
import {
  openClickHouseLedgerStore,
  openClickHouseRecordStore,
  openClickHouseStore,
} from '../../src/capabilities/storage/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { systemClock } from '../../src/kernel/time.ts'
import type { LedgerEntry } from '../../src/model/ledger-entry.ts'
import type { ColumnarServer } from '../../src/platform/columnar/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { migratedClickHouse } from '../support/clickhouse.ts'
import { type IngestBench, openIngestBench } from '../support/ingest.ts'
import {
  logsProtobuf,
  type PlainLogs,
  type PlainTraces,
  tracesProtobuf,
} from '../support/otlp-messages.ts'
import { otlpProject, type TestReceiver, testReceiver } from '../support/otlp-receiver.ts'
import { testPostgres } from '../support/postgres.ts'

let columnar: ColumnarServer
let bench: IngestBench
let receiver: TestReceiver
let ledger: ReturnType<typeof openClickHouseLedgerStore>
const entries: LedgerEntry[] = []

beforeAll(async () => {
  columnar = await migratedClickHouse()
  ledger = openClickHouseLedgerStore({ columnar })
  const store = {
    ...openClickHouseStore({ columnar }),
    ...openClickHouseRecordStore({ columnar }),
    ...ledger,
  }
  bench = await openIngestBench({ store, url: await testPostgres() })
  await bench.startWorker()
  const enqueuer = createEnqueuer({
    publish: (message) => bench.queue.publish(message),
    onAccepted: (accepted) => entries.push(...accepted),
    message_bytes_max: 1024 * 1024,
    inflight_bytes_max: 64 * 1024 * 1024,
    logger: createLogger({ role: 'test', level: 'silent' }),
    metrics: createMetrics(),
    clock: systemClock,
    newId,
  })
  receiver = await testReceiver({ enqueuer })
})
afterAll(async () => {
  await receiver?.[Symbol.asyncDispose]()
  await bench?.[Symbol.asyncDispose]()
  await columnar?.close()
})

type Signal = 'traces' | 'logs'
type Sender = (signal: Signal, request: PlainTraces | PlainLogs) => Promise<void>
const key = 'lt_writer'

function bytesOf(signal: Signal, request: PlainTraces | PlainLogs): Buffer {
  return signal === 'traces'
    ? tracesProtobuf(request as PlainTraces)
    : logsProtobuf(request as PlainLogs)
}

function overHttp(type: string, encode: (...args: Parameters<Sender>) => string | Buffer): Sender {
  return async (signal, request) => {
    const headers = { 'X-API-Key': key, 'Content-Type': type }
    const body = encode(signal, request)
    const answer = await fetch(`${receiver.url}/v1/${signal}`, { method: 'POST', headers, body })
    expect(answer.status).toBe(200)
  }
}

const overGrpc: Sender = (signal, request) => {
  const client = new Client(receiver.grpcAddress, credentials.createInsecure())
  const metadata = new Metadata()
  metadata.set('x-api-key', key)
  const service = signal === 'traces' ? 'trace.v1.TraceService' : 'logs.v1.LogsService'
  const path = `/opentelemetry.proto.collector.${service}/Export`
  const asIs = (bytes: Buffer) => bytes
  return new Promise<void>((resolve, reject) => {
    client.makeUnaryRequest(path, asIs, asIs, bytesOf(signal, request), metadata, (error) =>
      error === null ? resolve() : reject(error),
    )
  }).finally(() => client.close())
}

const senders: [string, Sender][] = [
  ['protobuf', overHttp('application/x-protobuf', bytesOf)],
  ['JSON', overHttp('application/json', (_signal, request) => JSON.stringify(request))],
  ['gRPC', overGrpc],
]

const good = 1_790_000_000_000_000_000n
/** Times that no store holds, and missing times. */
const bad = [0n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 63n + 12_345n, 2n ** 64n - 1n]

/** Spans with each invalid time in each field, and one that ends before it begins. */
function spansOf(traceId: string) {
  const times = bad.flatMap((time) => [
    { start: time, end: good, event: good },
    { start: good, end: time, event: good },
    { start: good, end: good, event: time },
    { start: time, end: time, event: time },
  ])
  return [...times, { start: good, end: good - 5n, event: 1n }].map(
    ({ start, end, event }, at) => ({
      traceId,
      spanId: (at + 1).toString(16).padStart(16, '0'),
      name: `span ${at}`,
      startTimeUnixNano: `${start}`,
      endTimeUnixNano: `${end}`,
      events: [
        { name: 'gen_ai.content.completion.chunk', timeUnixNano: `${event}` },
        { name: 'exception', timeUnixNano: `${event}` },
      ],
      links: [{ traceId, spanId: '00000000000000ff' }],
    }),
  )
}

function logsOf(traceId: string) {
  const times = bad.flatMap((time) => [
    { time, observed: good },
    { time: good, observed: time },
    { time, observed: time },
  ])
  return times.map(({ time, observed }, at) => ({
    traceId,
    spanId: '00000000000000aa',
    eventName: 'gen_ai.user.message',
    timeUnixNano: `${time}`,
    observedTimeUnixNano: `${observed}`,
    body: { stringValue: `message ${at}` },
  }))
}

async function rowsIn(table: 'observations' | 'events' | 'links', traceId: string) {
  const sql = `select count() as rows from ${table} final where trace_id = {trace:UUID}`
  const trace = traceId.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  const [row] = await columnar.query<{ rows: string }>(sql, { trace })
  return Number(row?.rows)
}

describe.each(senders)('times that no store holds, over %s', (_encoding, send) => {
  test('refuse no span, event or link, and the ledger balances', async () => {
    const before = await sums()
    const traceId = randomBytes(16).toString('hex')
    const spans = spansOf(traceId)
    await send('traces', { resourceSpans: [{ scopeSpans: [{ spans }] }] })
    const logTrace = randomBytes(16).toString('hex')
    const logRecords = logsOf(logTrace)
    await send('logs', { resourceLogs: [{ scopeLogs: [{ logRecords }] }] })
    await bench.settled()
    const items = spans.length + logRecords.length
    const { accepted, stored, ...others } = await sums()
    expect({ accepted, stored }).toEqual({
      accepted: before.accepted + items,
      stored: before.stored + items,
    })
    expect(others).toMatchObject({ rejected: {}, lost: {}, pending: 0 })
    expect(await rowsIn('observations', traceId)).toBe(spans.length)
    expect(await rowsIn('events', traceId)).toBe(2 * spans.length)
    expect(await rowsIn('links', traceId)).toBe(spans.length)
    expect(await rowsIn('events', logTrace)).toBe(logRecords.length)
  })
})

const nothing = { accepted: 0, stored: 0, pending: 0, rejected: {}, lost: {} }

async function sums() {
  await ledger.insertEntries(entries.splice(0), { token: newId() })
  const window = { from_ms: 0, to_ms: Date.now() + 3_600_000, lost_before_ms: undefined }
  const sums = await ledger.sums(otlpProject, window)
  return sums.find(({ path }) => path === 'otlp') ?? nothing
}
