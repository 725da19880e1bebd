import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { problem } from '../../src/kernel/problem.ts'
import {
  Answer,
  createHttpServer,
  defineRawRoute,
  defineRoute,
  type HttpServer,
  type IdempotencyStore,
  type KeptReply,
  openapiDocument,
  type Route,
} from '../../src/platform/http/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'

const open: HttpServer[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})

const publicly = { auth: 'public', scope: { level: 'public' }, errors: [] } as const

const createThing = defineRoute({
  ...publicly,
  method: 'POST',
  url: '/api/v1/things/{thing_id}',
  id: 'createThing',
  summary: 'Makes a thing',
  params: z.strictObject({ thing_id: z.string().max(4) }),
  query: z.strictObject({ limit: z.coerce.number().int().min(1).max(10).default(5) }),
  body: z.strictObject({ name: z.string(), parts: z.array(z.strictObject({ n: z.int() })) }),
  reply: z.strictObject({ id: z.string(), limit: z.int(), name: z.string() }),
  handle: async ({ params, query, body }) => ({
    id: params.thing_id,
    limit: query.limit,
    name: body.name,
  }),
})

function getSum(handle: () => Promise<unknown>, reply: z.ZodType = z.unknown()): Route {
  const about = { method: 'GET', url: '/api/v1/sum', id: 'getSum', summary: 'A sum' } as const
  return defineRoute({ ...publicly, ...about, errors: ['store_unavailable'], reply, handle })
}

async function serve(
  routes: Parameters<typeof createHttpServer>[0]['routes'],
  more: Partial<Parameters<typeof createHttpServer>[0]> = {},
): Promise<HttpServer> {
  const server = await createHttpServer({
    routes,
    authorize: async () => {
      throw problem('credentials_missing')
    },
    idempotency: memoryIdempotency(),
    logger: createLogger({ role: 'test', level: 'silent' }),
    metrics: createMetrics(),
    clock: { now_ms: () => Date.now() },
    body_bytes_max: 1000,
    header_bytes_max: 8192,
    rate_per_minute_max: 0,
    request_timeout_ms: 5000,
    keep_alive_ms: 1000,
    check_replies: true,
    ...more,
  })
  open.push(server)
  return server
}

function memoryIdempotency(): IdempotencyStore {
  const rows = new Map<string, { request_hash: Buffer; reply: KeptReply | null }>()
  return {
    claim: async ({ scope_hash, request_hash }) => {
      const known = rows.get(scope_hash.toString('hex'))
      if (known !== undefined) return { state: 'known', ...known }
      rows.set(scope_hash.toString('hex'), { request_hash, reply: null })
      return { state: 'new' }
    },
    keep: async (scope_hash, reply) => {
      const row = rows.get(scope_hash.toString('hex'))
      if (row !== undefined) row.reply = reply
    },
    release: async (scope_hash) => {
      rows.delete(scope_hash.toString('hex'))
    },
  }
}

describe('validation', () => {
  const good = { name: 'a', parts: [{ n: 1 }] }

  test('a valid request reaches the handler, with defaults', async () => {
    const app = await serve([createThing])
    const reply = await app.inject({ method: 'POST', url: '/api/v1/things/x', payload: good })
    expect(reply.json()).toEqual({ id: 'x', limit: 5, name: 'a' })
    expect(reply.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('every fault is listed, unknown fields with a JSON pointer', async () => {
    const app = await serve([createThing])
    const reply = await app.inject({
      method: 'POST',
      url: '/api/v1/things/longer?limit=99&also=1',
      payload: { name: 1, parts: [{ n: 1, 'a/b': 2 }] },
    })
    expect(reply.headers['content-type']).toContain('application/problem+json')
    const body: { code: string; errors: { pointer: string; detail: string }[] } = reply.json()
    expect([reply.statusCode, body.code]).toEqual([400, 'invalid_request'])
    const named = ['/name', '/parts/0/a~1b', 'path.thing_id', 'query.also', 'query.limit']
    expect(body.errors.map(({ pointer }) => pointer).toSorted()).toEqual(named)
    const limit = body.errors.find(({ pointer }) => pointer === 'query.limit')
    expect(limit?.detail).toContain('got "99"')
  })

  test.each([
    ['cut JSON', '{"a":', 400, 'invalid_json'],
    ['nothing', '', 400, 'invalid_request'],
    ['a poisoned prototype', '{"__proto__":{"x":1},"name":"a","parts":[]}', 400, 'invalid_json'],
    ['too much', `{"name":"${'x'.repeat(2000)}"}`, 413, 'body_too_large'],
  ])('a body of %s is refused', async (_name, payload, status, code) => {
    const app = await serve([createThing])
    const headers = { 'content-type': 'application/json' }
    const reply = await app.inject({
      method: 'POST',
      url: '/api/v1/things/x',
      headers,
      payload,
    })
    expect([reply.statusCode, reply.json().code]).toEqual([status, code])
  })

  test('another content type answers 415, another method 405, another path 404', async () => {
    const app = await serve([createThing])
    const url = '/api/v1/things/x'
    const headers = { 'content-type': 'text/xml' }
    const replies = await Promise.all([
      app.inject({ method: 'POST', url, headers, payload: '<a/>' }),
      app.inject({ method: 'GET', url }),
      app.inject({ method: 'GET', url: '/api/v1/none' }),
    ])
    const codes = ['unsupported_media_type', 'method_not_allowed', 'route_not_found']
    expect(replies.map((reply) => reply.json().code)).toEqual(codes)
  })
})

describe('errors', () => {
  const throwing = (error: Error) =>
    getSum(async () => {
      throw error
    })

  test('a thrown error answers 500 and leaks nothing', async () => {
    const app = await serve([throwing(new Error('password=hunter2'))])
    const reply = await app.inject({ url: '/api/v1/sum' })
    expect(reply.statusCode).toBe(500)
    expect(reply.body).not.toContain('hunter2')
  })

  test('a problem answers its status, detail and Retry-After', async () => {
    const about = { detail: 'postgres is away', retry_after_s: 3 }
    const app = await serve([throwing(problem('store_unavailable', about))])
    const reply = await app.inject({ url: '/api/v1/sum' })
    expect([reply.statusCode, reply.headers['retry-after']]).toEqual([503, '3'])
    expect(reply.json()).toMatchObject({ detail: 'postgres is away', instance: '/api/v1/sum' })
  })

  test.each<[string, unknown]>([
    ['a value of another type', { n: 1.5 }],
    ['an undocumented field', { n: 1, more: 1 }],
    ['no body', undefined],
    ['an undocumented status', new Answer({ n: 1 }, { status: 202 })],
    ['an undocumented error', problem('held')],
  ])('%s does not match the document, and fails the request', async (_name, answer) => {
    const handle = async () => {
      if (answer instanceof Error) throw answer
      return answer
    }
    const routes = [getSum(handle, z.strictObject({ n: z.int() }))]
    const checking = await serve(routes)
    const reply = await checking.inject({ url: '/api/v1/sum' })
    expect([reply.statusCode, reply.json().code]).toEqual([500, 'internal_error'])
    expect(reply.headers['x-undocumented']).toContain('getSum')
    const trusting = await serve(routes, { check_replies: false })
    expect((await trusting.inject({ url: '/api/v1/sum' })).statusCode).not.toBe(500)
  })

  test('the answer to a request with a body is checked too', async () => {
    const handle = async () => new Answer<unknown>({ id: 'x', limit: 'five', name: 'a' })
    const app = await serve([{ ...createThing, run: handle }])
    const payload = { name: 'a', parts: [] }
    const reply = await app.inject({ method: 'POST', url: '/api/v1/things/x', payload })
    expect([reply.statusCode, reply.headers['x-undocumented']]).toEqual([
      500,
      expect.stringContaining('/limit'),
    ])
  })

  test('an answer with a documented ETag must have one', async () => {
    const route = (headers: Record<string, string>) => ({
      ...getSum(async () => new Answer({ n: 1 }, { headers })),
      etag: true as const,
    })
    const [without, having] = await Promise.all([
      serve([route({})]),
      serve([route({ etag: '"1"' })]),
    ])
    expect((await without.inject({ url: '/api/v1/sum' })).statusCode).toBe(500)
    expect((await having.inject({ url: '/api/v1/sum' })).statusCode).toBe(200)
  })

  test('a route that is not public requires credentials', async () => {
    const about = { method: 'GET', url: '/api/v1/mine', id: 'mine', summary: 'Mine' } as const
    const mine = defineRoute({
      ...about,
      auth: 'jwt',
      scope: { level: 'user' },
      errors: [],
      reply: z.unknown(),
      handle: async ({ caller }) => caller.id,
    })
    const app = await serve([mine])
    expect((await app.inject({ url: '/api/v1/mine' })).json().code).toBe('credentials_missing')
  })

  test('above the rate, 429 with Retry-After and RateLimit headers', async () => {
    const app = await serve([getSum(async () => 1)], { anonymous_rate_per_minute_max: 2 })
    await app.inject({ url: '/api/v1/sum' })
    const second = await app.inject({ url: '/api/v1/sum' })
    const third = await app.inject({ url: '/api/v1/sum' })
    expect([second.statusCode, second.headers['ratelimit-limit']]).toEqual([200, '2'])
    expect([third.statusCode, third.json().code]).toEqual([429, 'rate_limited'])
    expect(Number(third.headers['retry-after'])).toBeGreaterThan(0)
  })
})

test('a limit of a route counts the address, for any invented credentials', async () => {
  const about = { method: 'GET', url: '/api/v1/guess', id: 'guess', summary: 'Guess' } as const
  const handle = async () => 1
  const guess = defineRoute({
    ...publicly,
    ...about,
    reply: z.unknown(),
    handle,
    rate_per_minute_max: 1,
  })
  const app = await serve([guess])
  const codes: number[] = []
  for (const authorization of ['Bearer a', 'Bearer b']) {
    const reply = await app.inject({ url: '/api/v1/guess', headers: { authorization } })
    codes.push(reply.statusCode)
  }
  expect(codes).toEqual([200, 429])
})

describe('idempotency keys', () => {
  function counting(): { route: Route; calls: () => number } {
    let calls = 0
    const about = { method: 'POST', url: '/api/v1/keys', id: 'makeKey', summary: 'Makes' } as const
    const route = defineRoute({
      ...publicly,
      ...about,
      status: 201,
      body: z.strictObject({ name: z.string() }),
      reply: z.unknown(),
      idempotent: true,
      shown_once: ['key'],
      errors: ['name_taken'],
      handle: async ({ body }) => {
        calls += 1
        if (body.name === 'fails') throw problem('name_taken')
        return { id: calls, key: 'secret' }
      },
    })
    return { route, calls: () => calls }
  }
  const post = (app: HttpServer, name: string, key?: string) =>
    app.inject({
      method: 'POST',
      url: '/api/v1/keys',
      payload: { name },
      ...(key !== undefined && { headers: { 'idempotency-key': key } }),
    })

  test('the same key and body returns the first reply, without its one-time secrets', async () => {
    const { route, calls } = counting()
    const app = await serve([route])
    const first = await post(app, 'a', 'k1')
    const again = await post(app, 'a', 'k1')
    expect([first.statusCode, first.json()]).toEqual([201, { id: 1, key: 'secret' }])
    expect([again.statusCode, again.json()]).toEqual([201, { id: 1, key: null }])
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect(calls()).toBe(1)
  })

  test('another body is a conflict; a failed call may be repeated; without a key nothing is remembered', async () => {
    const { route, calls } = counting()
    const app = await serve([route])
    await post(app, 'a', 'k1')
    expect((await post(app, 'b', 'k1')).json().code).toBe('idempotency_conflict')
    expect((await post(app, 'fails', 'k2')).json().code).toBe('name_taken')
    expect((await post(app, 'fine', 'k2')).statusCode).toBe(201)
    await post(app, 'c')
    await post(app, 'c')
    expect(calls()).toBe(5)
  })
})

test('raw routes get the sockets before the router, with or without a query', async () => {
  const raw = defineRawRoute({
    ...publicly,
    method: 'GET',
    url: '/v1/raw',
    id: 'raw',
    summary: 'Raw',
    body: z.unknown(),
    reply: z.unknown(),
    error_format: 'RpcStatus',
    headers: [],
    handle: (_request, response) => response.end('raw'),
    refuse: (_request, response, fault) => response.end(fault.code),
  })
  const app = await serve([raw, createThing])
  const port = await app.listen({ host: '127.0.0.1', port: 0 })
  const textOf = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text()
  expect(await textOf('/v1/raw?x=1')).toBe('raw')
  expect(await textOf('/v1/other')).toContain('route_not_found')
  const schema = { $ref: '#/components/schemas/RpcStatus' }
  const $ref = '#/components/responses/RpcInternalServerError'
  expect(openapiDocument([raw], { version: '1' })).toMatchObject({
    components: {
      schemas: { RpcStatus: { type: 'object' } },
      responses: { RpcInternalServerError: { content: { 'application/json': { schema } } } },
    },
    paths: { '/v1/raw': { get: { responses: { 500: { $ref } } } } },
  })
})

test('the document names parameters, replies and errors', () => {
  const document = openapiDocument([createThing], { version: '1' })
  expect(document).toMatchObject({
    paths: {
      '/api/v1/things/{thing_id}': {
        post: {
          operationId: 'createThing',
          parameters: [
            { name: 'thing_id', in: 'path', required: true, schema: { maxLength: 4 } },
            { name: 'limit', in: 'query', schema: { minimum: 1, maximum: 10, default: 5 } },
          ],
          responses: { 200: {}, 400: {}, 413: {}, 415: {}, 429: {}, 500: {} },
        },
      },
    },
  })
})

describe('a second status of success', () => {
  const made = z.strictObject({ id: z.string() })
  const makeThing = (answer: () => Answer<{ id: string } | { job: string }>) =>
    defineRoute({
      ...publicly,
      method: 'POST',
      url: '/api/v1/things',
      id: 'makeThing',
      summary: 'Makes a thing',
      status: 201,
      reply: made,
      also: {
        status: 202,
        description: 'A worker makes it.',
        reply: z.strictObject({ job: z.string() }),
      },
      handle: async () => answer(),
    })
  const post = async (answer: Answer<{ id: string } | { job: string }>) => {
    const app = await serve([makeThing(() => answer)])
    return (await app.inject({ method: 'POST', url: '/api/v1/things' })).statusCode
  }

  test('is in the document with its own schema', () => {
    const route = makeThing(() => new Answer({ id: 'x' }))
    const { paths } = openapiDocument([route], { version: '1' }) as {
      paths: Record<string, { post: { responses: Record<string, object> } }>
    }
    const { responses } = paths['/api/v1/things']?.post ?? {}
    const shape = (name: string) => ({
      'application/json': { schema: { properties: { [name]: { type: 'string' } } } },
    })
    expect(responses).toMatchObject({
      201: { description: 'Created', content: shape('id') },
      202: { description: 'A worker makes it.', content: shape('job') },
    })
  })

  test('is checked against its own schema; a status that the route does not list fails', async () => {
    expect(await post(new Answer({ id: 'x' }))).toBe(201)
    expect(await post(new Answer({ job: 'x' }, { status: 202 }))).toBe(202)
    expect(await post(new Answer({ id: 'x' }, { status: 202 }))).toBe(500)
    expect(await post(new Answer({ job: 'x' }))).toBe(500)
    expect(await post(new Answer({ id: 'x' }, { status: 200 }))).toBe(500)
  })
})
