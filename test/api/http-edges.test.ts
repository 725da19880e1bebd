import { METHODS } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { otlpRoutes } from '../../src/capabilities/edge/otlp/index.ts'
import { proxyRoutes } from '../../src/capabilities/edge/proxy/index.ts'
import {
  createHttpServer,
  createManagementServer,
  defineRoute,
  type HttpServer,
} from '../../src/platform/http/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'

import { type TestReceiver, testReceiver } from '../support/otlp-receiver.ts'
import { type TestProxy, testProxy } from '../support/proxy.ts'

const publicly = { auth: 'public', scope: { level: 'public' }, errors: [] } as const

function thingRoute(method: 'GET' | 'PUT', id: string) {
  return defineRoute({
    ...publicly,
    method,
    url: '/api/v1/things/{thing_id}',
    id,
    summary: 'A thing',
    params: z.strictObject({ thing_id: z.string() }),
    ...(method === 'PUT' && { body: z.strictObject({ name: z.string() }) }),
    reply: z.strictObject({ id: z.string() }),
    handle: async ({ params }) => ({ id: params.thing_id }),
  })
}

let server: HttpServer
let port: number
let proxy: TestProxy
let otlp: TestReceiver

beforeAll(async () => {
  proxy = await testProxy()
  otlp = await testReceiver()
  server = await createHttpServer({
    routes: [
      thingRoute('GET', 'getThing'),
      thingRoute('PUT', 'putThing'),
      ...proxyRoutes(proxy.proxy),
      ...otlpRoutes(otlp.receiver),
    ],
    authorize: async () => {
      throw new Error('no route asks')
    },
    idempotency: {
      claim: async () => ({ state: 'new' }),
      keep: async () => undefined,
      release: async () => undefined,
    },
    logger: createLogger({ role: 'test', level: 'silent' }),
    metrics: createMetrics(),
    clock: { now_ms: () => Date.now() },
    body_bytes_max: 1000,
    header_bytes_max: 4096,
    rate_per_minute_max: 0,
    request_timeout_ms: 5000,
    keep_alive_ms: 1000,
    onClientError: (error, socket) => proxy.proxy.onClientError(error, socket),
    check_replies: true,
  })
  port = await server.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await server.close()
  await proxy[Symbol.asyncDispose]()
  await otlp[Symbol.asyncDispose]()
})

type Answer = { status: number; head: string; body: string }

function send(line: string, ...headers: string[]): Promise<Answer> {
  return sendTo(port, line, ...headers)
}

async function sendTo(to: number, line: string, ...headers: string[]): Promise<Answer> {
  const socket = connect(to, '127.0.0.1')
  socket.write(
    [`${line} HTTP/1.1`, 'Host: h', 'Connection: close', ...headers, '', ''].join('\r\n'),
  )
  const answer = await text(socket)
  const [head = '', body = ''] = answer.split(/\r\n\r\n(.*)/s)
  return { status: Number(head.split(' ')[1]), head: head.toLowerCase(), body }
}

/** The problem in an answer, which must be one. */
function problemIn({ head, body }: Answer): { code: string; detail: string; instance: string } {
  expect(head).toContain('content-type: application/problem+json')
  expect(head).toMatch(/x-request-id: [0-9a-f-]{36}/)
  return JSON.parse(body)
}

describe('a method that a path does not support', () => {
  const others = METHODS.filter(
    (method) => !['GET', 'HEAD', 'PUT', 'OPTIONS', 'CONNECT'].includes(method),
  )

  test.each(others)('%s answers 405 with the allowed methods', async (method) => {
    const answer = await send(`${method} /api/v1/things/x`)
    expect(answer.status).toBe(405)
    expect(answer.head).toContain('allow: get, head, options, put\r\n')
    const { code, detail } = problemIn(answer)
    expect(code).toBe('method_not_allowed')
    expect(detail).toContain(`does not support ${method}, expected GET`)
  })

  test.each(['QUERY', 'POST'])('%s with a body answers 405 before it is read', async (method) => {
    const body = ['Content-Type: application/json', 'Content-Length: 5', '', '{"a":']
    expect((await send(`${method} /api/v1/things/x`, ...body)).status).toBe(405)
    const unread = ['Content-Type: text/odd', 'Content-Length: 5000', '', 'x'.repeat(5000)]
    expect((await send(`${method} /api/v1/things/x`, ...unread)).status).toBe(405)
  })

  test('the method QUERY on a missing path answers 404', async () => {
    const answer = await send('QUERY /api/v1/nothing')
    expect([answer.status, problemIn(answer).code]).toEqual([404, 'route_not_found'])
  })

  test('HEAD is GET without its body; OPTIONS names the methods', async () => {
    const head = await send('HEAD /api/v1/things/x')
    expect([head.status, head.body]).toEqual([200, ''])
    const options = await send('OPTIONS /api/v1/things/x')
    expect([options.status, options.body]).toEqual([204, ''])
    expect(options.head).toContain('allow: get, head, options, put')
    expect((await send('OPTIONS /api/v1/nothing')).status).toBe(404)
  })
})

describe('several Host headers', () => {
  test.each([
    'GET /api/v1/things/x',
    'PUT /api/v1/things/x',
    'OPTIONS /api/v1/things/x',
    'GET /no',
  ])('%s answers 400', async (line) => {
    for (const other of ['Host: h', 'HOST: attacker.test', 'host:']) {
      const answer = await send(line, other)
      expect([other, answer.status]).toEqual([other, 400])
      expect(problemIn(answer)).toMatchObject({
        code: 'invalid_request',
        detail: 'Host: sent 2 times, expected once',
      })
    }
  })

  test.each([
    'POST /v1/chat/completions',
    'GET /v1/chat/other',
    'POST /v1/traces',
    'GET /v1/logs/x',
  ])('%s answers 400 in its own format, and reads no credentials', async (line) => {
    const answer = await send(line, 'Host: attacker.test', 'X-API-Key: lt_valid')
    expect(answer.status).toBe(400)
    expect(answer.body).toContain('sent 2 times')
  })

  test('the port of metrics and health answers 400 too', async () => {
    const managed = await createManagementServer({
      ...{ host: '127.0.0.1', port: 0, checks: [], metrics: createMetrics() },
      logger: createLogger({ role: 'test', level: 'silent' }),
    })
    for (const path of ['/livez', '/metrics', '/none']) {
      expect((await sendTo(managed.port, `GET ${path}`, 'Host: x')).status).toBe(400)
    }
    expect((await sendTo(managed.port, 'GET /livez')).status).toBe(200)
    await managed.close()
  })
})

describe('a path with an invalid percent escape', () => {
  test.each(['/api/v1/things/%ZZ', '/api/v1/things/%', '/%FF', '/api/v1/things/%C3%28'])(
    '%s answers 400',
    async (path) => {
      for (const method of ['GET', 'PUT', 'DELETE', 'QUERY']) {
        const answer = await send(`${method} ${path}`)
        expect([method, answer.status]).toEqual([method, 400])
        const { code, instance, detail } = problemIn(answer)
        expect([code, instance]).toEqual(['invalid_request', path])
        expect(detail).toContain('percent')
      }
    },
  )
})

describe('under the paths of calls, the format is that of the providers', () => {
  test.each([
    ['GET /v1/chat/completions', 405, 'method_not_allowed', 'expected POST'],
    ['QUERY /v1/completions?x=1', 405, 'method_not_allowed', 'expected POST'],
    ['POST /v1/fine_tuning/jobs', 404, 'route_not_found', 'There is no /v1/fine_tuning/jobs'],
    ['POST /v1/chat/%ZZ', 400, 'invalid_request', 'percent escapes'],
    ['POST /v1', 404, 'route_not_found', 'There is no /v1'],
  ])('%s', async (line, ...expected) => {
    const [status, code, says] = expected
    const answer = await send(line, 'Content-Length: 2', '', '{}')
    expect(answer.status).toBe(status)
    expect(answer.head).toMatch(/x-request-id: [0-9a-f-]{36}/)
    expect(answer.head.includes('allow: options, post')).toBe(status === 405)
    const { error } = JSON.parse(answer.body)
    expect(error).toMatchObject({ type: 'invalid_request_error', code })
    expect(error.message).toContain(says)
    expect(proxy.exchanges).toEqual([])
  })

  test('OPTIONS names the methods', async () => {
    const { status, head } = await send('OPTIONS /v1/chat/completions')
    expect([status, head.includes('allow: options, post')]).toEqual([204, true])
  })
})

describe('under the paths of signals, the format is google.rpc.Status', () => {
  test.each([
    ['POST /v1/traces/more', 404, 'There is no /v1/traces/more'],
    ['POST /v1/logs/%ZZ', 400, 'percent escapes'],
    ['QUERY /v1/traces', 405, 'expected POST'],
  ])('%s', async (line, status, says) => {
    const asJson = await send(line, 'Content-Type: application/json')
    expect(asJson.status).toBe(status)
    const answer: { code: number; message: string } = JSON.parse(asJson.body)
    expect(answer.code).toBeGreaterThan(0)
    expect(answer.message).toContain(says)
    const asProtobuf = await send(line, 'Content-Type: application/x-protobuf')
    expect(asProtobuf.status).toBe(status)
    expect(asProtobuf.head).toContain('content-type: application/x-protobuf')
  })
})

test('elsewhere an unknown path answers Problem Details', async () => {
  for (const path of ['/v10/traces', '/api/v1/traces', '/', '/v2']) {
    expect(problemIn(await send(`POST ${path}`)).code).toBe('route_not_found')
  }
})

describe('input that is not HTTP', () => {
  const tooLong = `X-Long: ${'x'.repeat(5000)}`
  test.each([
    ['an invalid length', 'GET /api/v1/things/x', ['Content-Length: x'], 400, 'invalid_request'],
    ['too many headers', 'GET /api/v1/things/x', [tooLong], 431, 'headers_too_large'],
  ])('%s', async (_name, line, headers, ...expected) => {
    const answer = await send(line, ...headers)
    expect([answer.status, problemIn(answer).code]).toEqual(expected)
    expect(answer.head).toContain('connection: close')
  })

  test.each([
    ['an unknown method', 'FOO /v1/chat/completions', 'Content-Length: 0', 400],
    ['too many headers', 'GET /v1/models', tooLong, 431],
  ])('%s on a path of the proxy', async (_name, line, header, status) => {
    const answer = await send(line, header)
    expect(answer.status).toBe(status)
    expect(JSON.parse(answer.body).error).toMatchObject({ type: 'invalid_request_error' })
  })
})
