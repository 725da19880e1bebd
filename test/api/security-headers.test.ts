import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { otlpRoutes } from '../../src/capabilities/edge/otlp/index.ts'
import { proxyRoutes } from '../../src/capabilities/edge/proxy/index.ts'
import { problem } from '../../src/kernel/problem.ts'
import {
  createHttpServer,
  createManagementServer,
  type HttpServer,
  type HttpServerOptions,
  type ManagementServer,
  type RawRoute,
  type Route,
} from '../../src/platform/http/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { routeCatalogue } from '../../src/roles/catalogues.ts'
import { type TestReceiver, testReceiver } from '../support/otlp-receiver.ts'
import { testProvider } from '../support/provider.ts'
import { goodHeaders, type TestProxy, testProxy } from '../support/proxy.ts'
import { quarterOf } from '../support/suite/budget.ts'

const logger = createLogger({ role: 'test', level: 'silent' })
const id = '01890000-0000-7000-8000-000000000000'
const catalogue = routeCatalogue().filter(({ kind }) => kind === 'api')

let proxy: TestProxy
let receiver: TestReceiver
let management: ManagementServer
const servers: HttpServer[] = []

/** Serves every route of the product. `x-api-key: valid` is a caller; its handlers have no stores. */
async function serveAll(more: Partial<HttpServerOptions> = {}) {
  const routes: (Route | RawRoute)[] = [
    ...catalogue,
    ...proxyRoutes(proxy.proxy),
    ...otlpRoutes(receiver.receiver),
  ]
  const server = await createHttpServer({
    routes,
    authorize: async (_route, { api_key }) => {
      if (api_key !== 'valid') throw problem('credentials_invalid')
      return { kind: 'key', id: 'key-1', project_id: id }
    },
    idempotency: {
      claim: async () => ({ state: 'new' }),
      keep: async () => undefined,
      release: async () => undefined,
    },
    ...{ logger, metrics: createMetrics(), clock: { now_ms: () => Date.now() } },
    ...{ body_bytes_max: 1_000, header_bytes_max: 8_192, rate_per_minute_max: 0 },
    ...{ request_timeout_ms: 5_000, keep_alive_ms: 1_000 },
    onClientError: (error, socket) => proxy.proxy.onClientError(error, socket),
    ...more,
  })
  servers.push(server)
  const port = await server.listen({ host: '127.0.0.1', port: 0 })
  return { server, url: `http://127.0.0.1:${port}`, port }
}

let app: Awaited<ReturnType<typeof serveAll>>

beforeAll(async () => {
  proxy = await testProxy()
  receiver = await testReceiver()
  app = await serveAll()
  management = await createManagementServer({
    ...{ host: '127.0.0.1', port: 0, metrics: createMetrics(), logger },
    checks: [{ name: 'broken', check: async () => 'broken' }],
  })
})
afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()))
  await management.close()
  await receiver[Symbol.asyncDispose]()
  await proxy[Symbol.asyncDispose]()
})

/** Expects the headers that every response of ours has; HTML has more. */
function expectHardened(what: string, headers: Headers): void {
  const shown = Object.fromEntries(headers)
  expect(shown, what).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
    'cache-control': expect.stringMatching(/^(no-store|no-cache|public, max-age=\d+)$/),
  })
  expect(shown['content-security-policy'], what).toMatch(/^default-src 'none'/)
  expect(shown['content-security-policy'], what).not.toMatch(/unsafe|\*/)
  // On plain HTTP.
  expect(shown, what).not.toHaveProperty('strict-transport-security')
  if (!shown['content-type']?.startsWith('text/html')) return
  expect(shown, what).toMatchObject({
    'cross-origin-embedder-policy': 'require-corp',
    'permissions-policy': expect.stringContaining('camera=()'),
  })
}

const pathOf = (url: string) => url.replaceAll(/\{[a-z_]+\}/g, id)

const named = catalogue.map((route) => [route.id, route] as const)

describe.each(quarterOf(named))('%s', (_id, route) => {
  test('has the headers in each response', async () => {
    const url = `${app.url}${pathOf(route.url)}`
    const body = route.method === 'GET' || route.method === 'DELETE' ? null : '{}'
    const json = { ...(body !== null && { 'content-type': 'application/json' }) }
    for (const key of ['valid', 'unknown']) {
      const headers = { ...json, 'x-api-key': key, accept: 'text/html, application/json;q=0.5' }
      const reply = await fetch(url, { method: route.method, headers, body, redirect: 'manual' })
      const what = `${route.method} ${route.url} ${reply.status}`
      expectHardened(what, reply.headers)
      if (key === 'unknown' && route.scope.level !== 'public') expect(reply.status, what).toBe(401)
      await reply.arrayBuffer()
    }
    for (const method of ['PATCH', 'OPTIONS']) {
      const reply = await fetch(url, { method })
      expect(reply.status).toBe(method === 'PATCH' ? 405 : 204)
      expectHardened(`${method} ${route.url}`, reply.headers)
    }
  })

  test('answers with tenant data are not cached', async () => {
    if (route.scope.level === 'public') return
    const url = `${app.url}${pathOf(route.url)}`
    const reply = await fetch(url, { method: route.method, headers: { 'x-api-key': 'unknown' } })
    expect(reply.headers.get('cache-control')).toBe('no-store')
  })
})

const key = { 'x-api-key': 'valid' }
const json = { 'content-type': 'application/json' }
const xml = { 'content-type': 'application/xml' }
const deep = '/api/v2/observability/ingest'
const completion = { 'x-api-key': 'lt_valid', authorization: 'Bearer sk-1' }
const responses: [name: string, status: number, path: string, request: RequestInit][] = [
  ['an unknown path', 404, '/nothing', {}],
  ['a path that is not UTF-8', 400, '/api/v1/tasks/%ff', {}],
  ['a bad query', 400, '/api/v1/tasks?limit=none', { headers: key }],
  [
    'a body that is not JSON',
    400,
    deep,
    { method: 'POST', headers: { ...key, ...json }, body: '{' },
  ],
  ['another media type', 415, '/api/v1/auth/token', { method: 'POST', headers: xml, body: 'a' }],
  [
    'a large body',
    413,
    '/api/v1/auth/token',
    { method: 'POST', headers: { ...key, ...json }, body: `"${'x'.repeat(100_000)}"` },
  ],
  ['a store that fails', 500, '/api/v1/tasks', { headers: key }],
  ['a completion without a key', 401, '/v1/chat/completions', { method: 'POST' }],
  [
    'a completion with a bad provider',
    400,
    '/v1/chat/completions',
    {
      method: 'POST',
      headers: { ...completion, ...json, 'x-provider': 'none' },
      body: '{}',
    },
  ],
  ['a completion with GET', 405, '/v1/chat/completions', {}],
  ['OPTIONS of a completion', 204, '/v1/chat/completions', { method: 'OPTIONS' }],
  ['a path below a completion', 404, '/v1/chat/completions/more', { method: 'POST' }],
  ['spans without a key', 401, '/v1/traces', { method: 'POST' }],
  [
    'spans that are not protobuf',
    400,
    '/v1/traces',
    {
      method: 'POST',
      headers: { 'x-api-key': 'lt_writer', 'content-type': 'application/x-protobuf' },
      body: 'none',
    },
  ],
  [
    'stored spans',
    200,
    '/v1/traces',
    {
      method: 'POST',
      headers: { 'x-api-key': 'lt_writer', 'content-type': 'application/json' },
      body: '{"resourceSpans":[]}',
    },
  ],
  ['spans with GET', 405, '/v1/traces', {}],
  ['metrics without a key', 401, '/v1/metrics', { method: 'POST' }],
  ['a batch of Langfuse without a key', 401, '/api/public/ingestion', { method: 'POST' }],
  ['the health check of Langfuse', 200, '/api/public/health', {}],
  ['headers that are too large', 431, '/', { headers: { 'x-large': 'x'.repeat(10_000) } }],
]

test.each(responses)('%s: %i has the headers', async (name, status, path, request) => {
  const reply = await fetch(`${app.url}${path}`, request)
  expect(reply.status).toBe(status)
  expectHardened(name, reply.headers)
})

test('a call above a limit has the headers', async () => {
  const { url } = await serveAll({ rate_per_minute_max: 1, anonymous_rate_per_minute_max: 1 })
  for (const [path, headers] of [
    ['/', {}],
    ['/api/v1/tasks', key],
    ['/v1/chat/completions', {}],
    ['/v1/traces', {}],
  ] as const) {
    const method = path.startsWith('/v1') ? 'POST' : 'GET'
    await fetch(`${url}${path}`, { method, headers })
    const second = await fetch(`${url}${path}`, { method, headers })
    expect(second.status, path).toBe(429)
    expectHardened(path, second.headers)
  }
})

test('a request that is not HTTP has the headers, also on a server without the proxy', async () => {
  const plain = await createHttpServer({
    routes: [],
    authorize: async () => Promise.reject(problem('credentials_invalid')),
    idempotency: {
      claim: async () => ({ state: 'new' }),
      keep: async () => undefined,
      release: async () => undefined,
    },
    ...{ logger, metrics: createMetrics(), clock: { now_ms: () => Date.now() } },
    ...{ body_bytes_max: 1_000, header_bytes_max: 8_192, rate_per_minute_max: 0 },
    ...{ request_timeout_ms: 5_000, keep_alive_ms: 1_000 },
  })
  servers.push(plain)
  for (const port of [app.port, await plain.listen({ host: '127.0.0.1', port: 0 })]) {
    const socket = connect(port, '127.0.0.1')
    socket.end('nonsense\r\n\r\n')
    let text = ''
    for await (const chunk of socket) text += chunk
    expect(text).toMatch(/^HTTP\/1.1 400 /)
    expect(text).toContain('x-content-type-options: nosniff')
    expect(text).toContain("content-security-policy: default-src 'none'")
  }
})

test('the management server has them, also in failures', async () => {
  for (const [path, status] of [
    ['/livez', 200],
    ['/readyz', 503],
    ['/metrics', 200],
    ['/none', 404],
  ] as const) {
    const reply = await fetch(`http://127.0.0.1:${management.port}${path}`)
    expect(reply.status).toBe(status)
    expectHardened(path, reply.headers)
  }
})

test('answers of a provider keep the headers of the provider, and get none of ours', async () => {
  const theirs = { 'cache-control': 'max-age=60', 'referrer-policy': 'origin' }
  await using provider = await testProvider({
    script: { steps: [{ reply: { content: 'a', headers: theirs } }] },
  })
  await using own = await testProxy(provider)
  const body = JSON.stringify({ model: 'm-1', messages: [{ role: 'user', content: 'a' }] })
  const headers = { ...goodHeaders, ...json }
  const reply = await fetch(own.chat, { method: 'POST', headers, body })
  await reply.arrayBuffer()
  expect(reply.status).toBe(200)
  expect(Object.fromEntries(reply.headers)).toMatchObject(theirs)
  for (const name of ['content-security-policy', 'x-content-type-options']) {
    expect(reply.headers.has(name), name).toBe(false)
  }
})

describe('Strict-Transport-Security', () => {
  const name = 'strict-transport-security'
  const https = { public_url: 'https://looptrace.example.com', hsts_max_age_s: 600 }
  const over = async (more: Partial<HttpServerOptions>, headers: Record<string, string> = {}) => {
    const { server } = await serveAll(more)
    const replies = ['/', '/nothing', '/invitation', '/api/v1/tasks'].map((url) =>
      server.inject({ url, headers }),
    )
    return new Set((await Promise.all(replies)).map((reply) => reply.headers[name]))
  }

  test('is sent when the public URL is HTTPS', async () => {
    expect(await over({ public_address: https })).toEqual(new Set(['max-age=600']))
  })

  test('is not sent with a public URL of plain HTTP, or when it is turned off', async () => {
    const plain = { ...https, public_url: 'http://looptrace.example.com' }
    for (const public_address of [plain, { ...https, hsts_max_age_s: 0 }, {}]) {
      expect(await over({ public_address })).toEqual(new Set([undefined]))
    }
  })

  test('is not sent to a client that a trusted proxy serves over plain HTTP', async () => {
    const more = { public_address: https, trusted_proxies: ['127.0.0.1'] }
    expect(await over(more, { 'x-forwarded-proto': 'http' })).toEqual(new Set([undefined]))
    expect(await over(more, { 'x-forwarded-proto': 'https' })).toEqual(new Set(['max-age=600']))
  })
})
