import type { ProjectKey } from '../../src/capabilities/access/index.ts'
import type { Enqueuer, IngestRequest } from '../../src/capabilities/edge/enqueue/index.ts'
import {
  type CaptureRecords,
  createMapper,
  createOtlpReceiver,
  currentContract,
  jsonDecoder,
  type OtlpGrpcServer,
  type OtlpReceiver,
  type OtlpSettings,
  otlpRoutes,
  protobufDecoder,
} from '../../src/capabilities/edge/otlp/index.ts'
import { type Problem, problem } from '../../src/kernel/problem.ts'
import type { KeyScope } from '../../src/kernel/scopes.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { createHttpServer } from '../../src/platform/http/index.ts'
import { createLogger, createMetrics, type Metrics } from '../../src/platform/telemetry/index.ts'
import { noPrice } from './no-cost.ts'

export const otlpProject = '01900000-0000-7000-8000-000000000001'

/** A receiver on real sockets, over both transports, with a queue that a test controls. */
export type TestReceiver = AsyncDisposable & {
  receiver: OtlpReceiver
  grpc: OtlpGrpcServer
  url: string
  grpcAddress: string
  metrics: Metrics
  /** Requests that reached the queue. */
  requests: IngestRequest[]
  /** The names of all spans and log records in them. */
  names(): string[]
  /** A value of `/metrics`; undefined if it was never counted. */
  counted(line: string): Promise<number | undefined>
}

export type TestReceiverOptions = {
  settings?: Partial<OtlpSettings>
  /** Rejects each request with this error. */
  refusal?: Problem
  /** Name of an observation that fits into no message. */
  too_large?: string
  /** Requests wait for this before the queue. */
  gate?: Promise<void>
  capture?: CaptureRecords
  /** Replaces the queue that the test controls. */
  enqueuer?: Pick<Enqueuer, 'enqueue'>
}

const mebibyte_bytes = 1024 * 1024

const settings: OtlpSettings = {
  body_bytes_max: 4 * mebibyte_bytes,
  inflight_bytes_max: 32 * mebibyte_bytes,
  body_idle_timeout_ms: 10_000,
  requests_per_minute: 0,
}

/** Starts a receiver. */
export async function testReceiver(options: TestReceiverOptions = {}): Promise<TestReceiver> {
  const requests: IngestRequest[] = []
  const metrics = createMetrics()
  const logger = createLogger({ role: 'test', level: 'silent' })
  const receiver = createOtlpReceiver({
    keys: testKeys,
    enqueuer: {
      enqueue: async (request, enqueueOptions) => {
        if (options.gate) await options.gate
        if (options.refusal) throw options.refusal
        request.records.observations.forEach(({ name }, index) => {
          if (name !== options.too_large) return
          enqueueOptions?.on_refused?.('observations', index, 'too_large')
        })
        requests.push(request)
        return options.enqueuer?.enqueue(request, enqueueOptions) ?? 1
      },
    },
    decoders: { protobuf: protobufDecoder(), json: jsonDecoder() },
    mapper: createMapper({ contract: currentContract, pricing: noPrice }),
    ...(options.capture && { capture: options.capture }),
    settings: { ...settings, ...options.settings },
    clock: systemClock,
    metrics,
    logger,
  })
  const server = await createHttpServer({
    ...bareServer,
    routes: otlpRoutes(receiver),
    metrics,
    logger,
  })
  const port = await server.listen({ host: '127.0.0.1', port: 0 })
  const grpc = await receiver.listenGrpc({
    host: '127.0.0.1',
    port: 0,
    streams_max: 100,
    keepalive_ms: 60_000,
  })
  return {
    receiver,
    grpc,
    url: `http://127.0.0.1:${port}`,
    grpcAddress: `127.0.0.1:${grpc.port}`,
    metrics,
    requests,
    names: () =>
      requests.flatMap(({ records }) =>
        [...records.observations, ...records.events].map(({ name }) => name),
      ),
    counted: async (line) => valueIn((await metrics.expose()).body, line),
    [Symbol.asyncDispose]: async () => {
      await grpc.close(0)
      await server.close()
    },
  }
}

const keys = new Map<string, ProjectKey>([
  ['lt_writer', keyOf('key-1', 'ingest:write')],
  ['lt_reader', keyOf('key-2', 'traces:read')],
  ['lt_archived', { ...keyOf('key-4', 'ingest:write'), is_archived: true }],
  ['lt_staging', { ...keyOf('key-3', 'ingest:write'), environment: 'staging' }],
])

function keyOf(key_id: string, scope: KeyScope): ProjectKey {
  const scopes = new Set([scope])
  return { key_id, project_id: otlpProject, scopes, service_account_id: null }
}

/** Looking up `lt_away` fails; `lt_slow` takes a moment. */
const testKeys = {
  authenticate(key: string) {
    if (key === 'lt_away') throw problem('store_unavailable', { retry_after_s: 2 })
    if (key !== 'lt_slow') return keys.get(key)
    return new Promise<ProjectKey | undefined>((resolve) =>
      setImmediate(resolve, keys.get('lt_writer')),
    )
  },
}

const bareServer = {
  authorize: async () => {
    throw problem('credentials_invalid')
  },
  idempotency: {
    claim: async () => ({ state: 'new' as const }),
    keep: async () => undefined,
    release: async () => undefined,
  },
  clock: systemClock,
  body_bytes_max: mebibyte_bytes,
  header_bytes_max: 32 * 1024,
  rate_per_minute_max: 0,
  request_timeout_ms: 60_000,
  keep_alive_ms: 5_000,
}

function valueIn(exposition: string, line: string): number | undefined {
  const found = exposition.split('\n').find((candidate) => candidate.startsWith(`${line} `))
  return found === undefined ? undefined : Number(found.slice(line.length + 1))
}
