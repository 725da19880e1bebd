import {
  Client,
  type ClientUnaryCall,
  credentials,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js'
import { describe, expect, test } from 'vitest'
import { problem } from '../../src/kernel/problem.ts'
import { eventually } from '../support/eventually.ts'
import { type TestSpan, tracesProtobuf } from '../support/otlp-message.ts'
import { metricsProtobuf, otlpMessage } from '../support/otlp-messages.ts'
import { type TestReceiver, testReceiver } from '../support/otlp-receiver.ts'

const traces = '/opentelemetry.proto.collector.trace.v1.TraceService/Export'
const logs = '/opentelemetry.proto.collector.logs.v1.LogsService/Export'
const metrics = '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export'
const good = { 'x-api-key': 'lt_writer' }
const two: TestSpan[] = [{ name: 'first' }, { name: 'second' }]
const asIs = (bytes: Buffer) => bytes

type Answer = { error: ServiceError | null; message: Buffer | undefined; trailer: Metadata }

/** A client of grpc-js; `gzip` compresses its requests. */
function grpcClient({ grpcAddress }: TestReceiver, { gzip = false } = {}) {
  const client = new Client(grpcAddress, credentials.createInsecure(), {
    'grpc.default_compression_algorithm': gzip ? 2 : 0,
    'grpc.max_send_message_length': -1,
    'grpc.use_local_subchannel_pool': 1,
  })
  return {
    send(body: Buffer, headers: Record<string, string> = good, path = traces): Promise<Answer> {
      return this.begin(body, headers, path).answer
    },
    begin(body: Buffer, headers: Record<string, string> = good, path = traces) {
      const metadata = new Metadata()
      for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
      const answered = Promise.withResolvers<Answer>()
      let ended: Pick<Answer, 'error' | 'message'> | undefined
      const call: ClientUnaryCall = client.makeUnaryRequest(
        path,
        asIs,
        asIs,
        body,
        metadata,
        (error, message) => {
          ended = { error, message }
        },
      )
      call.on('status', ({ metadata: trailer }) => {
        queueMicrotask(() => {
          if (ended) answered.resolve({ ...ended, trailer })
        })
      })
      return { call, answer: answered.promise }
    },
    [Symbol.dispose]: () => client.close(),
  }
}

const requestsOf = (result: string) =>
  `looptrace_otlp_requests_total{transport="grpc",encoding="protobuf",result="${result}"}`

describe('an accepted call', () => {
  test.each([
    ['as it is', false],
    ['with gzip', true],
  ])('%s', async (_, gzip) => {
    await using receiver = await testReceiver()
    using client = grpcClient(receiver, { gzip })
    const spans = [...two, { attributes: { note: 'x'.repeat(100_000) } }]
    const { error, message, trailer } = await client.send(tracesProtobuf(spans), {
      ...good,
      'x-request-id': 'r-1',
    })
    expect(error).toBeNull()
    expect(message).toHaveLength(0)
    expect(receiver.names()).toEqual(['first', 'second', 'span 2'])
    expect(trailer.get('x-request-id')).toEqual(['r-1'])
    expect(trailer.get('x-ingest-request-id')).toEqual([receiver.requests[0]?.ingest_request_id])
    await eventually('its count', async () => (await receiver.counted(requestsOf('ok'))) === 1)
    expect(await receiver.counted('looptrace_otlp_inflight_bytes')).toBe(0)
    const packed = 'looptrace_otlp_received_bytes_total{transport="grpc",state="packed"}'
    expect(((await receiver.counted(packed)) ?? 0) < 5_000).toBe(gzip)
  })

  test('with a bearer token, and with a key that is looked up first', async () => {
    await using receiver = await testReceiver()
    using client = grpcClient(receiver)
    const body = tracesProtobuf(two)
    expect((await client.send(body, { authorization: 'Bearer lt_writer' })).error).toBeNull()
    expect((await client.send(body, { 'x-api-key': 'lt_slow' })).error).toBeNull()
    expect(receiver.names()).toHaveLength(4)
  })

  test('has the environment of its key', async () => {
    await using receiver = await testReceiver()
    using client = grpcClient(receiver)
    await client.send(tracesProtobuf(two), { 'x-api-key': 'lt_staging' })
    const [first] = receiver.requests[0]?.records.observations ?? []
    expect(first?.environment).toBe('staging')
  })

  test('that is empty', async () => {
    await using receiver = await testReceiver()
    using client = grpcClient(receiver)
    const { error, trailer } = await client.send(Buffer.alloc(0))
    expect(error).toBeNull()
    expect(trailer.get('x-ingest-request-id')).toEqual([])
    expect((await client.send(Buffer.alloc(0), good, logs)).error).toBeNull()
  })

  test('with metrics of a coding agent, and of others', async () => {
    await using receiver = await testReceiver()
    using client = grpcClient(receiver)
    const names = ['claude_code.cost.usage', 'http.server.duration']
    const points = names.map((name) => ({ name, sum: { dataPoints: [{ asDouble: 1.5 }] } }))
    const body = metricsProtobuf({ resourceMetrics: [{ scopeMetrics: [{ metrics: points }] }] })
    const { error, message } = await client.send(body, good, metrics)
    expect(error).toBeNull()
    expect(receiver.names()).toEqual(['claude_code.cost.usage'])
    const answer = otlpMessage('ExportMetricsServiceResponse').decode(message ?? Buffer.alloc(0))
    expect(answer.toJSON()).toMatchObject({ partialSuccess: { rejectedDataPoints: '1' } })
  })

  test('beyond the 4 MiB default of grpc-js', async () => {
    const settings = { body_bytes_max: 16 * 1024 * 1024 }
    await using receiver = await testReceiver({ settings })
    using client = grpcClient(receiver)
    const spans = [{ name: 'large', attributes: { note: 'x'.repeat(6 * 1024 * 1024) } }]
    expect((await client.send(tracesProtobuf(spans))).error).toBeNull()
    expect(receiver.names()).toEqual(['large'])
  })

  test('in part: invalid spans are counted, the others are accepted', async () => {
    await using receiver = await testReceiver()
    using client = grpcClient(receiver)
    const mixed = [...two, { trace_id: '0'.repeat(32) }]
    const { error, message } = await client.send(tracesProtobuf(mixed))
    expect(error).toBeNull()
    // partial_success = 1 { rejected_spans = 1 varint, error_message = 2 }
    expect([...(message?.subarray(2, 4) ?? [])]).toEqual([0x08, 1])
    expect(message?.toString()).toContain('1 of 3 rejected: 1 invalid_trace_id')
    expect(receiver.names()).toEqual(['first', 'second'])
    await eventually('its count', async () => (await receiver.counted(requestsOf('partial'))) === 1)
  })
})

describe('a refusal', () => {
  test.each<[string, Record<string, string>, number, RegExp]>([
    ['without a key', {}, 16, /x-api-key/i],
    ['with an unknown key', { 'x-api-key': 'lt_nobody' }, 16, /project key is unknown/],
    ['without the scope', { 'x-api-key': 'lt_reader' }, 7, /ingest:write/],
    ['to an archived project', { 'x-api-key': 'lt_archived' }, 9, /is archived/],
  ])('%s', async (_, headers, code, message) => {
    await using receiver = await testReceiver()
    using client = grpcClient(receiver)
    const { error, trailer } = await client.send(tracesProtobuf(two), headers)
    expect(error?.code).toBe(code)
    expect(error?.details).toMatch(message)
    expect(trailer.get('grpc-status-details-bin')).toEqual([])
    expect(receiver.requests).toHaveLength(0)
  })

  test('comes before the message is read', async () => {
    await using receiver = await testReceiver()
    using client = grpcClient(receiver)
    const spans = [{ attributes: { note: 'x'.repeat(3 * 1024 * 1024) } }]
    expect((await client.send(tracesProtobuf(spans), {})).error?.code).toBe(16)
    const packed = 'looptrace_otlp_received_bytes_total{transport="grpc",state="packed"}'
    expect(await receiver.counted(packed)).toBeUndefined()
    await eventually('nothing held', async () => {
      return (await receiver.counted('looptrace_otlp_inflight_bytes')) === 0
    })
  })

  test('of an invalid request', async () => {
    await using receiver = await testReceiver()
    using client = grpcClient(receiver)
    const { error, trailer } = await client.send(Buffer.from([0x0a, 0xff, 0xff]))
    expect(error?.code).toBe(3)
    expect(trailer.get('grpc-status-details-bin')).toEqual([])
  })

  test('of a message that is too long, compressed or not, is permanent', async () => {
    await using receiver = await testReceiver({ settings: { body_bytes_max: 100_000 } })
    using plain = grpcClient(receiver)
    using packed = grpcClient(receiver, { gzip: true })
    const body = tracesProtobuf([{ attributes: { note: 'x'.repeat(200_000) } }])
    for (const client of [plain, packed]) {
      const { error, trailer } = await client.send(body)
      expect(error?.code).toBe(8)
      expect(trailer.get('grpc-status-details-bin')).toEqual([])
    }
    await eventually('their count', async () => {
      return (await receiver.counted(requestsOf('body_too_large'))) === 2
    })
  })

  test('of a key over its limit has RetryInfo', async () => {
    await using receiver = await testReceiver({ settings: { requests_per_minute: 1 } })
    using client = grpcClient(receiver)
    expect((await client.send(tracesProtobuf(two))).error).toBeNull()
    const { error, trailer } = await client.send(tracesProtobuf(two))
    expect(error?.code).toBe(8)
    expect(retryInfoIn(trailer)).toBe(true)
  })

  test.each([
    ['while keys can’t be looked up', { headers: { 'x-api-key': 'lt_away' } }],
    ['while the queue has no room', { refusal: problem('overloaded', { retry_after_s: 3 }) }],
    ['while too much is in flight', { settings: { inflight_bytes_max: 1_000 } }],
  ])('%s has RetryInfo', async (_, { headers = good, ...options }: Refused) => {
    await using receiver = await testReceiver(options)
    using client = grpcClient(receiver)
    const spans = [{ attributes: { note: 'x'.repeat(10_000) } }]
    const { error, trailer } = await client.send(tracesProtobuf(spans), headers)
    expect(error?.code).toBe(14)
    expect(retryInfoIn(trailer)).toBe(true)
    await eventually('nothing held', async () => {
      return (await receiver.counted('looptrace_otlp_inflight_bytes')) === 0
    })
  })

  test('of a bomb that decompresses to more than all requests may hold', async () => {
    const settings = { inflight_bytes_max: 1_000_000 }
    await using receiver = await testReceiver({ settings })
    using client = grpcClient(receiver, { gzip: true })
    const body = tracesProtobuf([{ attributes: { note: 'x'.repeat(2_000_000) } }])
    const { error, trailer } = await client.send(body)
    expect(error?.code).toBe(14)
    expect(retryInfoIn(trailer)).toBe(true)
  })

  test('of profiles, and of anything else', async () => {
    await using receiver = await testReceiver()
    using client = grpcClient(receiver)
    const path = '/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export'
    expect((await client.send(Buffer.alloc(0), good, path)).error?.code).toBe(12)
  })

  test('of an internal error shows no details', async () => {
    const capture = () => {
      throw new Error('a secret')
    }
    await using receiver = await testReceiver({ capture })
    using client = grpcClient(receiver)
    const { error } = await client.send(tracesProtobuf(two))
    expect(error?.code).toBe(13)
    expect(error?.details).toBe('Something went wrong on our side')
  })
})

type Refused = Parameters<typeof testReceiver>[0] & { headers?: Record<string, string> }

describe('the end of the process', () => {
  test('lets the calls in flight end and accepts no others', async () => {
    const open = Promise.withResolvers<void>()
    await using receiver = await testReceiver({ gate: open.promise })
    using client = grpcClient(receiver)
    const first = client.send(tracesProtobuf(two))
    await eventually('the call', async () => {
      return ((await receiver.counted('looptrace_otlp_inflight_bytes')) ?? 0) > 0
    })
    const drained = receiver.receiver.drain()
    const closed = receiver.grpc.close(10_000)
    open.resolve()
    expect((await first).error).toBeNull()
    await drained
    await closed
    using late = grpcClient(receiver)
    expect((await late.send(tracesProtobuf(two))).error?.code).toBe(14)
    expect(receiver.names()).toEqual(['first', 'second'])
  })

  test('does not wait for ever', async () => {
    await using receiver = await testReceiver({ gate: new Promise(() => undefined) })
    using client = grpcClient(receiver)
    const call = client.send(tracesProtobuf(two))
    await eventually('the call', async () => {
      return ((await receiver.counted('looptrace_otlp_inflight_bytes')) ?? 0) > 0
    })
    await receiver.grpc.close(50)
    expect((await call).error).not.toBeNull()
  })
})

test('an address in use is named', async () => {
  await using receiver = await testReceiver()
  const options = { host: '127.0.0.1', port: receiver.grpc.port, streams_max: 1, keepalive_ms: 1e5 }
  await expect(receiver.receiver.listenGrpc(options)).rejects.toThrow(
    new RegExp(`127.0.0.1:${receiver.grpc.port} is in use`),
  )
})

function retryInfoIn(trailer: Metadata): boolean {
  const [details] = trailer.get('grpc-status-details-bin')
  return details?.toString().includes('google.rpc.RetryInfo') ?? false
}
