import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { CaptureRecords } from '../../src/capabilities/edge/otlp/index.ts'
import { problem } from '../../src/kernel/problem.ts'
import { sleep } from '../../src/kernel/time.ts'
import { eventually } from '../support/eventually.ts'
import { logsJson, type TestSpan, tracesJson, tracesProtobuf } from '../support/otlp-message.ts'
import { otlpProject, type TestReceiver, testReceiver } from '../support/otlp-receiver.ts'

const good = { 'X-API-Key': 'lt_writer' }
const asJson = { ...good, 'Content-Type': 'application/json' }
const asProtobuf = { ...good, 'Content-Type': 'application/x-protobuf' }
const two: TestSpan[] = [{ name: 'first' }, { name: 'second' }]
const zeroTrace = '0'.repeat(32)

function post(
  { url }: TestReceiver,
  path: string,
  body: string | Buffer | ReadableStream,
  headers: Record<string, string>,
): Promise<Response> {
  const sent = Buffer.isBuffer(body) ? new Uint8Array(body) : body
  return fetch(`${url}${path}`, { method: 'POST', body: sent, headers, duplex: 'half' })
}

/** Field 1 of google.rpc.Status, a varint below 128, and field 2. */
function statusIn(protobuf: Buffer): { code: number; message: string } {
  const length = protobuf[3] ?? 0
  return { code: protobuf[1] ?? -1, message: protobuf.subarray(4, 4 + length).toString() }
}

function attribute(key: string, stringValue: string) {
  return { key, value: { stringValue } }
}

async function bytesOf(answer: Response): Promise<Buffer> {
  return Buffer.from(await answer.arrayBuffer())
}

describe('an accepted export', () => {
  test.each([
    ['protobuf', tracesProtobuf(two), asProtobuf, ''],
    ['protobuf with gzip', gzipSync(tracesProtobuf(two)), gzipped(asProtobuf), ''],
    ['JSON', tracesJson(two), asJson, '{}'],
    ['JSON with gzip', gzipSync(tracesJson(two)), gzipped(asJson), '{}'],
    [
      'a content type with parameters, in capitals',
      tracesJson(two),
      { ...good, 'Content-Type': 'Application/JSON; charset=utf-8' },
      '{}',
    ],
    ['identity', tracesJson(two), { ...asJson, 'Content-Encoding': 'identity' }, '{}'],
  ])('as %s', async (_, body, headers, expected) => {
    await using receiver = await testReceiver()
    const answer = await post(receiver, '/v1/traces', body, { ...headers, 'X-Request-ID': 'r-1' })
    expect(answer.status).toBe(200)
    expect(await answer.text()).toBe(expected)
    expect(answer.headers.get('content-type')).toBe(
      expected === '' ? 'application/x-protobuf' : 'application/json',
    )
    expect(answer.headers.get('x-request-id')).toBe('r-1')
    expect(receiver.names()).toEqual(['first', 'second'])
    const [request] = receiver.requests
    expect(request).toMatchObject({ project_id: otlpProject, path: 'otlp', items: 2, rejected: {} })
    expect(answer.headers.get('x-ingest-request-id')).toBe(request?.ingest_request_id)
    const encoding = expected === '' ? 'protobuf' : 'json'
    const labels = `{transport="http",encoding="${encoding}",result="ok"}`
    expect(await receiver.counted(`looptrace_otlp_requests_total${labels}`)).toBe(1)
    const accepted = 'looptrace_otlp_items_total{signal="traces",result="accepted"}'
    expect(await receiver.counted(accepted)).toBe(2)
    expect(await receiver.counted('looptrace_otlp_inflight_bytes')).toBe(0)
  })

  test('has the environment of its key, unless its resource names another', async () => {
    await using receiver = await testReceiver()
    const staging = { ...asJson, 'X-API-Key': 'lt_staging' }
    const named = { attributes: [attribute('deployment.environment.name', 'canary')] }
    await post(receiver, '/v1/traces', tracesJson(two.slice(1)), staging)
    await post(receiver, '/v1/traces', tracesJson(two.slice(1), named), staging)
    await post(receiver, '/v1/traces', tracesJson(two.slice(1)), asJson)
    const stored = receiver.requests.flatMap(({ records }) => records.observations)
    expect(stored.map(({ environment }) => environment)).toEqual(['staging', 'canary', ''])
  })

  test('as log records', async () => {
    await using receiver = await testReceiver()
    const answer = await post(receiver, '/v1/logs', logsJson(['gen_ai.user.message']), asJson)
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual({})
    expect(receiver.names()).toEqual(['gen_ai.user.message'])
  })

  test.each([
    ['a bearer token', { Authorization: 'Bearer lt_writer' }],
    ['a bearer token in small letters', { Authorization: 'bearer lt_writer' }],
    ['a key that has to be looked up first', { 'X-API-Key': 'lt_slow' }],
  ])('with %s', async (_, credentials) => {
    await using receiver = await testReceiver()
    const headers = { ...credentials, 'Content-Type': 'application/json' }
    expect((await post(receiver, '/v1/traces', tracesJson(two), headers)).status).toBe(200)
  })

  test.each([
    ['JSON', '{}', asJson],
    ['JSON without spans', '{"resourceSpans":[]}', asJson],
    ['protobuf', '', asProtobuf],
  ])('that is empty, as %s, has no receipt', async (_, body, headers) => {
    await using receiver = await testReceiver()
    const answer = await post(receiver, '/v1/traces', body, headers)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-ingest-request-id')).toBeNull()
    expect(receiver.requests).toHaveLength(0)
  })

  test('in chunks, without a declared length, many times on one connection', async () => {
    await using receiver = await testReceiver()
    for (let sent = 0; sent < 3; sent += 1) {
      const body = new Blob([tracesJson(two)]).stream()
      expect((await post(receiver, '/v1/traces', body, asJson)).status).toBe(200)
    }
    expect(receiver.names()).toHaveLength(6)
  })

  test('after the client asked whether to continue', async () => {
    await using receiver = await testReceiver()
    const body = tracesJson(two)
    await using client = await rawClient(receiver)
    client.write(head(body.length, 'Expect: 100-continue\r\n'))
    await client.receives('HTTP/1.1 100 Continue')
    client.write(body)
    await client.receives('HTTP/1.1 200 OK')
    expect(receiver.names()).toEqual(['first', 'second'])
  })

  test('when it is large: in slices, and whole', async () => {
    await using receiver = await testReceiver()
    const spans = Array.from({ length: 1_000 }, (_, at) => ({
      name: `span ${at}`,
      attributes: { note: 'x'.repeat(2_000) },
    }))
    const answer = await post(receiver, '/v1/traces', tracesProtobuf(spans), asProtobuf)
    expect(answer.status).toBe(200)
    expect(receiver.names()).toEqual(spans.map(({ name }) => name))
  })
})

describe('invalid items', () => {
  const mixed: TestSpan[] = [
    { name: 'good' },
    { name: 'no trace', trace_id: zeroTrace },
    { name: 'no span', span_id: '0'.repeat(16) },
    { name: 'good too' },
  ]

  test('are counted and reported, as JSON; the others are accepted', async () => {
    await using receiver = await testReceiver()
    const answer = await post(receiver, '/v1/traces', tracesJson(mixed), asJson)
    expect(answer.status).toBe(200)
    const { partialSuccess } = (await answer.json()) as {
      partialSuccess: { rejectedSpans: string; errorMessage: string }
    }
    expect(partialSuccess.rejectedSpans).toBe('2')
    expect(partialSuccess.errorMessage).toMatch(
      /^2 of 4 rejected: 1 invalid_trace_id, 1 invalid_span_id; the first: /,
    )
    expect(receiver.names()).toEqual(['good', 'good too'])
    expect(receiver.requests[0]).toMatchObject({
      items: 4,
      rejected: { invalid_trace_id: 1, invalid_span_id: 1 },
    })
    const partial = '{transport="http",encoding="json",result="partial"}'
    expect(await receiver.counted(`looptrace_otlp_requests_total${partial}`)).toBe(1)
    const items = 'looptrace_otlp_items_total{signal="traces",result='
    expect(await receiver.counted(`${items}"invalid_trace_id"}`)).toBe(1)
    expect(await receiver.counted(`${items}"accepted"}`)).toBe(2)
  })

  test('are counted and reported, as protobuf', async () => {
    await using receiver = await testReceiver()
    const answer = await post(receiver, '/v1/traces', tracesProtobuf(mixed), asProtobuf)
    const body = await bytesOf(answer)
    expect(answer.status).toBe(200)
    // partial_success = 1 { rejected_spans = 1 varint, error_message = 2 }
    expect([...body.subarray(2, 4)]).toEqual([0x08, 2])
    expect(body.toString()).toContain('2 of 4 rejected')
    expect(receiver.names()).toEqual(['good', 'good too'])
  })

  test('alone leave a receipt too', async () => {
    await using receiver = await testReceiver()
    const bad = [{ trace_id: zeroTrace }]
    const answer = await post(receiver, '/v1/traces', tracesJson(bad), asJson)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-ingest-request-id')).not.toBeNull()
    expect(receiver.requests[0]).toMatchObject({ items: 1, rejected: { invalid_trace_id: 1 } })
  })

  test('that no message can hold are reported too', async () => {
    await using receiver = await testReceiver({ too_large: 'second' })
    const answer = await post(receiver, '/v1/traces', tracesJson(two), asJson)
    expect(await answer.json()).toEqual({
      partialSuccess: { rejectedSpans: '1', errorMessage: '1 of 2 rejected: 1 too_large' },
    })
  })

  test('that the project’s own policy removes are in the receipt, and are no fault', async () => {
    const capture: CaptureRecords = (records) => {
      const observations = records.observations.slice(1)
      return { records: { ...records, observations }, rejected: { sampled: 1 }, masked: 1 }
    }
    await using receiver = await testReceiver({ capture })
    const answer = await post(receiver, '/v1/traces', tracesJson(two), asJson)
    expect(await answer.json()).toEqual({})
    expect(receiver.names()).toEqual(['second'])
    expect(receiver.requests[0]).toMatchObject({ items: 2, rejected: { sampled: 1 }, masked: 1 })
  })
})

describe('a refusal', () => {
  const typed = { 'Content-Type': 'application/json' }
  test.each<[string, Record<string, string>, [number, number], RegExp]>([
    ['without a key', typed, [401, 16], /X-API-Key/],
    [
      'with an unknown key',
      { ...typed, 'X-API-Key': 'lt_nobody' },
      [401, 16],
      /project key is unknown/,
    ],
    ['with a scheme of others', { ...typed, Authorization: 'Basic eDp5' }, [401, 16], /X-API-Key/],
    ['without the scope', { ...typed, 'X-API-Key': 'lt_reader' }, [403, 7], /ingest:write/],
    ['to an archived project', { ...typed, 'X-API-Key': 'lt_archived' }, [409, 9], /is archived/],
    ['of another type', { ...good, 'Content-Type': 'text/plain' }, [415, 3], /"text\/plain"/],
    ['of no type', { ...good, 'Content-Type': '' }, [415, 3], /application\/x-protobuf/],
    [
      'of another packing',
      { ...asJson, 'Content-Encoding': 'br' },
      [415, 3],
      /"br": expected gzip/,
    ],
  ])('%s', async (_, headers, [status, code], message) => {
    await using receiver = await testReceiver()
    const answer = await post(receiver, '/v1/traces', tracesJson(two), headers)
    expect(answer.status).toBe(status)
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.headers.get('x-request-id')).toBeTruthy()
    expect(answer.headers.get('retry-after')).toBeNull()
    const body = (await answer.json()) as { code: number; message: string }
    expect(body.code).toBe(code)
    expect(body.message).toMatch(message)
    expect(receiver.requests).toHaveLength(0)
  })

  test('is protobuf for clients that send it', async () => {
    await using receiver = await testReceiver()
    const { 'X-API-Key': _key, ...headers } = asProtobuf
    const answer = await post(receiver, '/v1/traces', tracesProtobuf(two), headers)
    expect(answer.status).toBe(401)
    expect(answer.headers.get('content-type')).toBe('application/x-protobuf')
    expect(statusIn(await bytesOf(answer))).toMatchObject({
      code: 16,
      message: expect.stringMatching(/X-API-Key/),
    })
  })

  test('while keys cannot be looked up, retryable', async () => {
    await using receiver = await testReceiver()
    const headers = { ...asJson, 'X-API-Key': 'lt_away' }
    const answer = await post(receiver, '/v1/traces', tracesJson(two), headers)
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('2')
    expect(await answer.json()).toMatchObject({ code: 14, details: [{ retryDelay: '2s' }] })
  })

  test.each(['GET', 'PUT', 'DELETE', 'OPTIONS'])('of the method %s', async (method) => {
    await using receiver = await testReceiver()
    for (const path of ['/v1/traces', '/v1/metrics']) {
      const answer = await fetch(`${receiver.url}${path}`, { method, headers: good })
      expect(answer.status).toBe(405)
      expect(answer.headers.get('allow')).toBe('POST')
      const message = `expected POST, got ${method}`
      expect(await answer.json()).toMatchObject({ code: 12, message })
    }
  })

  test('of a key over its limit', async () => {
    await using receiver = await testReceiver({ settings: { requests_per_minute: 2 } })
    const send = () => post(receiver, '/v1/traces', tracesJson(two), asJson)
    expect((await send()).status).toBe(200)
    expect((await send()).status).toBe(200)
    const answer = await send()
    expect(answer.status).toBe(429)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(answer.headers.get('ratelimit-limit')).toBe('2')
    expect(await answer.json()).toMatchObject({ code: 8 })
  })

  test('of records without room in the queue, until it has room', async () => {
    const refusal = problem('overloaded', { detail: 'the spool is full', retry_after_s: 7 })
    await using receiver = await testReceiver({ refusal })
    const answer = await post(receiver, '/v1/traces', tracesProtobuf(two), asProtobuf)
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('7')
    const body = await bytesOf(answer)
    expect(statusIn(body).code).toBe(14)
    expect(body.toString()).toContain('google.rpc.RetryInfo')
    expect(await receiver.counted('looptrace_otlp_inflight_bytes')).toBe(0)
  })

  test('of an internal error shows no details', async () => {
    const capture = () => {
      throw new Error('a secret')
    }
    await using receiver = await testReceiver({ capture })
    const answer = await post(receiver, '/v1/traces', tracesJson(two), asJson)
    expect(answer.status).toBe(500)
    expect(answer.headers.get('retry-after')).toBeNull()
    expect(await answer.json()).toEqual({ code: 13, message: 'Something went wrong on our side' })
  })

  test('of everything, while the process stops', async () => {
    await using receiver = await testReceiver()
    await receiver.receiver.drain()
    const answer = await post(receiver, '/v1/traces', tracesJson(two), asJson)
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(answer.headers.get('connection')).toBe('close')
  })
})

describe('a body that cannot be read', () => {
  const packed = gzipSync(tracesJson(two))
  test.each<[string, string | Buffer, Record<string, string>]>([
    ['no JSON', '{"resourceSpans":', asJson],
    ['JSON of another shape', '[1]', asJson],
    ['no protobuf', Buffer.from([0x0a, 0xff, 0xff]), asProtobuf],
    ['a cut gzip', packed.subarray(0, packed.length - 10), gzipped(asJson)],
    ['no gzip', 'plain', gzipped(asJson)],
    ['a large cut gzip', cutGzip(), gzipped(asProtobuf)],
  ])('%s', async (_, body, headers) => {
    await using receiver = await testReceiver()
    const answer = await post(receiver, '/v1/traces', body, headers)
    expect(answer.status).toBe(400)
    expect(answer.headers.get('retry-after')).toBeNull()
    expect(await receiver.counted('looptrace_otlp_inflight_bytes')).toBe(0)
    expect(receiver.requests).toHaveLength(0)
  })
})

describe('the limits', () => {
  const kibibyte_bytes = 1024
  const limit = { settings: { body_bytes_max: 64 * kibibyte_bytes } }
  const long = tracesJson([{ attributes: { note: 'x'.repeat(100 * kibibyte_bytes) } }])
  const bomb = gzipSync(Buffer.alloc(200 * 1024 * kibibyte_bytes))

  test.each<[string, string | Buffer | (() => ReadableStream), Record<string, string>]>([
    ['a declared length', long, asJson],
    ['a length that comes to light', () => new Blob([long]).stream(), asJson],
    ['what it unpacks to', gzipSync(long), gzipped(asJson)],
  ])('of one request: %s', async (_, body, headers) => {
    await using receiver = await testReceiver(limit)
    const sent = typeof body === 'function' ? body() : body
    const answer = await post(receiver, '/v1/traces', sent, headers)
    expect(answer.status).toBe(413)
    expect(answer.headers.get('retry-after')).toBeNull()
    expect(await answer.json()).toMatchObject({ code: 8, message: expect.stringMatching(/65536/) })
  })

  test('of one request: a declared length is refused before a byte of it is read', async () => {
    await using receiver = await testReceiver(limit)
    await using client = await rawClient(receiver)
    client.write(head(1_000_000_000))
    await client.receives('HTTP/1.1 413')
    await client.receives('Connection: close')
  })

  test('stop a bomb long before it is decompressed', async () => {
    await using receiver = await testReceiver({ settings: { body_bytes_max: 1024 * 1024 } })
    const answer = await post(receiver, '/v1/traces', bomb, gzipped(asProtobuf))
    expect(answer.status).toBe(413)
    expect(await receiver.counted('looptrace_otlp_inflight_bytes')).toBe(0)
  })

  test('of all requests together include the decompressed bytes of a bomb', async () => {
    const settings = {
      body_bytes_max: 512 * 1024 * kibibyte_bytes,
      inflight_bytes_max: 1024 * 1024,
    }
    await using receiver = await testReceiver({ settings })
    const answer = await post(receiver, '/v1/traces', bomb, gzipped(asProtobuf))
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(await receiver.counted('looptrace_otlp_inflight_bytes')).toBe(0)
  })

  test('of all requests together: the next is refused while others wait for the queue', async () => {
    const open = Promise.withResolvers<void>()
    const settings = { inflight_bytes_max: 150 * kibibyte_bytes }
    await using receiver = await testReceiver({ settings, gate: open.promise })
    const first = post(receiver, '/v1/traces', long, asJson)
    await eventually('the first is held', async () => {
      const heldBytes = await receiver.counted('looptrace_otlp_inflight_bytes')
      return heldBytes !== undefined && heldBytes > 100 * kibibyte_bytes
    })
    const second = await post(receiver, '/v1/traces', long, asJson)
    expect(second.status).toBe(503)
    expect(second.headers.get('retry-after')).toBe('1')
    open.resolve()
    expect((await first).status).toBe(200)
    expect((await post(receiver, '/v1/traces', long, asJson)).status).toBe(200)
  })

  test('of silence in the middle of a request', async () => {
    await using receiver = await testReceiver({ settings: { body_idle_timeout_ms: 100 } })
    await using client = await rawClient(receiver)
    client.write(`${head(1000)}{"resourceSpans"`)
    await client.receives('HTTP/1.1 408')
    await client.receives('the client sent nothing for 100 ms')
    expect(await receiver.counted('looptrace_otlp_inflight_bytes')).toBe(0)
  })

  test('leave a slow client alone that keeps sending', async () => {
    await using receiver = await testReceiver({ settings: { body_idle_timeout_ms: 500 } })
    const body = tracesJson(two)
    await using client = await rawClient(receiver)
    client.write(head(body.length))
    const step = Math.ceil(body.length / 10)
    for (let at = 0; at < body.length; at += step) {
      client.write(body.slice(at, at + step))
      await sleep(75)
    }
    await client.receives('HTTP/1.1 200 OK')
  })
})

test('a client that disconnects in the middle of its request is counted and forgotten', async () => {
  await using receiver = await testReceiver()
  const client = await rawClient(receiver)
  client.write(`${head(1000)}{"resourceSpans"`)
  await eventually('its bytes', async () => {
    return (await receiver.counted('looptrace_otlp_inflight_bytes')) === 16
  })
  await client[Symbol.asyncDispose]()
  const gone = '{transport="http",encoding="json",result="client_gone"}'
  await eventually('its end', () => receiver.counted(`looptrace_otlp_requests_total${gone}`))
  expect(await receiver.counted('looptrace_otlp_inflight_bytes')).toBe(0)
  await receiver.receiver.drain()
})

function gzipped(headers: Record<string, string>): Record<string, string> {
  return { ...headers, 'Content-Encoding': 'gzip' }
}

/** Larger than the limit of decompression at once, with its end missing. */
function cutGzip(): Buffer {
  const note = Array.from({ length: 40_000 }, (_, at) => `${at * 7919}`).join(' ')
  const packed = gzipSync(tracesProtobuf([{ attributes: { note } }]))
  return packed.subarray(0, packed.length - 100)
}

function head(length: number, more = ''): string {
  return (
    'POST /v1/traces HTTP/1.1\r\nHost: h\r\nX-API-Key: lt_writer\r\n' +
    `Content-Type: application/json\r\n${more}Content-Length: ${length}\r\n\r\n`
  )
}

/** A client that writes raw bytes. */
async function rawClient({ url }: TestReceiver) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await new Promise((resolve) => socket.once('connect', resolve))
  let received = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text
  })
  socket.on('error', () => undefined)
  return {
    write: (text: string) => void socket.write(text),
    receives: (text: string) => eventually(text, () => received.includes(text)),
    [Symbol.asyncDispose]: async () => {
      socket.destroy()
    },
  }
}
