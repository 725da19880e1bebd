import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { otlpRoutes } from '../../src/capabilities/edge/otlp/index.ts'
import { proxyRoutes } from '../../src/capabilities/edge/proxy/index.ts'
import { problem } from '../../src/kernel/problem.ts'
import {
  createHttpServer,
  defineRoute,
  type HttpServer,
  type HttpServerOptions,
  type Route,
} from '../../src/platform/http/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { testReceiver } from '../support/otlp-receiver.ts'
import { testProxy } from '../support/proxy.ts'

const open: HttpServer[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})

const about = { method: 'GET', summary: 'Get', reply: z.unknown(), errors: [] } as const
const routes: Route[] = [
  defineRoute({
    ...about,
    ...{ url: '/mine', id: 'getMine', auth: 'jwt_or_key', scope: { level: 'user' } },
    handle: async ({ caller }) => caller.id,
  }),
  defineRoute({
    ...about,
    ...{ url: '/costly', id: 'getCostly', auth: 'jwt_or_key', scope: { level: 'user' } },
    caller_rate_per_minute_max: 2,
    handle: async ({ caller }) => caller.id,
  }),
  defineRoute({
    ...about,
    ...{ url: '/open', id: 'getOpen', auth: 'public', scope: { level: 'public' } },
    handle: async () => 1,
  }),
]

/** Serves the routes. Credentials are `user:name:anything` or `operator:name:anything`. */
async function serve(more: Partial<HttpServerOptions> = {}) {
  const clock = { ahead_ms: 0, now_ms: () => 1_790_000_000_000 + clock.ahead_ms }
  const revoked = new Set<string>()
  const metrics = createMetrics()
  const server = await createHttpServer({
    routes,
    authorize: async (_route, { api_key = '' }) => {
      const [kind, id] = api_key.split(':')
      if ((kind !== 'user' && kind !== 'operator') || id === undefined || revoked.has(api_key)) {
        throw problem('credentials_invalid')
      }
      return { kind, id, project_id: '' }
    },
    idempotency: {
      claim: async () => ({ state: 'new' }),
      keep: async () => undefined,
      release: async () => undefined,
    },
    ...{ logger: createLogger({ role: 'test', level: 'silent' }), metrics, clock },
    ...{ body_bytes_max: 1_000, header_bytes_max: 8_192, rate_per_minute_max: 0 },
    ...{ request_timeout_ms: 5_000, keep_alive_ms: 1_000 },
    ...more,
  })
  open.push(server)
  type From = { key?: string; from?: string; headers?: Record<string, string>; url?: string }
  const ask = ({ key, from = '192.0.2.1', headers = {}, url = '/mine' }: From) =>
    server.inject({
      url,
      remoteAddress: from,
      headers: { ...headers, ...(key !== undefined && { 'x-api-key': key }) },
    })
  const statuses = async (count: number, how: (n: number) => From) => {
    const found: number[] = []
    for (let n = 0; n < count; n += 1) found.push((await ask(how(n))).statusCode)
    return found
  }
  return { server, ask, statuses, clock, revoked, metrics }
}

describe('a route with a limit for each caller', () => {
  test('refuses a caller at any address, and no other caller of the network', async () => {
    const { ask, statuses } = await serve()
    const url = '/costly'
    const roaming = await statuses(5, (n) => ({ url, key: 'user:ada', from: `192.0.2.${n + 1}` }))
    expect(roaming).toEqual([200, 200, 429, 429, 429])
    const refused = await ask({ url, key: 'user:ada' })
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect(await statuses(3, (n) => ({ url, key: `user:${n}` }))).toEqual([200, 200, 200])
    expect((await ask({ key: 'user:ada' })).statusCode).toBe(200)
  })

  test('counts its calls for the limit of all calls too, and refused credentials for none', async () => {
    const { statuses, ask } = await serve({ rate_per_minute_max: 3 })
    expect(await statuses(3, () => ({ url: '/costly', key: 'other:ada' }))).toEqual([401, 401, 401])
    expect(await statuses(3, () => ({ url: '/costly', key: 'user:ada' }))).toEqual([200, 200, 429])
    expect((await ask({ key: 'user:ada' })).statusCode).toBe(429)
  })
})

describe('calls of a caller', () => {
  test('a flood of one key does not limit another key of the same network', async () => {
    const { ask, statuses } = await serve({ rate_per_minute_max: 3 })
    const flood = await statuses(50, () => ({ key: 'user:loud' }))
    expect(flood).toEqual([200, 200, 200, ...Array<number>(47).fill(429)])
    expect((await ask({ key: 'user:quiet' })).statusCode).toBe(200)
  })

  test('count together over all credentials of an account', async () => {
    const { statuses } = await serve({ rate_per_minute_max: 3 })
    const renewed = await statuses(5, (n) => ({ key: `user:a:token-${n}` }))
    expect(renewed).toEqual([200, 200, 200, 429, 429])
  })

  test('count together over all networks', async () => {
    const { statuses } = await serve({ rate_per_minute_max: 3 })
    const spread = await statuses(5, (n) => ({ key: 'user:a', from: `198.51.100.${n}` }))
    expect(spread).toEqual([200, 200, 200, 429, 429])
  })

  test('have RateLimit headers, and Retry-After over the limit', async () => {
    const { ask, clock } = await serve({ rate_per_minute_max: 2 })
    const first = await ask({ key: 'user:a' })
    expect(first.headers).toMatchObject({ 'ratelimit-limit': '2', 'ratelimit-remaining': '1' })
    await ask({ key: 'user:a' })
    const third = await ask({ key: 'user:a' })
    expect(third.json()).toMatchObject({
      code: 'rate_limited',
      detail: 'the caller exceeded its limit of 2 calls per minute',
    })
    expect(third.headers).toMatchObject({ 'ratelimit-limit': '2', 'ratelimit-remaining': '0' })
    clock.ahead_ms += Number(third.headers['retry-after']) * 1_000
    expect((await ask({ key: 'user:a' })).statusCode).toBe(200)
  })

  test('an operator has its own limit', async () => {
    const { statuses } = await serve({ rate_per_minute_max: 1, operator_rate_per_minute_max: 3 })
    expect(await statuses(4, () => ({ key: 'operator:o' }))).toEqual([200, 200, 200, 429])
    expect(await statuses(2, () => ({ key: 'user:u' }))).toEqual([200, 429])
  })

  test('0 sets no limit and no headers', async () => {
    const { ask, statuses } = await serve()
    expect(new Set(await statuses(100, () => ({ key: 'user:a' })))).toEqual(new Set([200]))
    expect((await ask({ key: 'user:a' })).headers).not.toHaveProperty('ratelimit-limit')
  })
})

describe('calls of a network without valid credentials', () => {
  const limit = { anonymous_rate_per_minute_max: 3 }
  const over = [401, 401, 401, 429, 429]

  test('are limited for any number of guessed keys', async () => {
    const { statuses } = await serve(limit)
    expect(await statuses(5, (n) => ({ key: `guess-${n}` }))).toEqual(over)
  })

  test('are limited when they come at once', async () => {
    const { ask } = await serve(limit)
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) => ask({ key: `guess-${n}` })),
    )
    expect(replies.filter(({ statusCode }) => statusCode === 401)).toHaveLength(3)
  })

  test('are limited over all addresses of an IPv6 /64, and not beyond it', async () => {
    const { ask, statuses } = await serve(limit)
    const rotated = await statuses(5, (n) => ({ from: `2001:db8:1:2:${n}::${n + 1}` }))
    expect(rotated).toEqual(over)
    expect((await ask({ from: '2001:db8:1:3::1' })).statusCode).toBe(401)
  })

  test('a forged X-Forwarded-For makes no new network', async () => {
    const { statuses } = await serve(limit)
    const forged = (n: number) => ({ headers: { 'x-forwarded-for': `203.0.113.${n}` } })
    expect(await statuses(5, forged)).toEqual(over)
  })

  test('behind a trusted proxy, only the address that it adds counts', async () => {
    const { ask, statuses } = await serve({ ...limit, trusted_proxies: ['10.0.0.0/8'] })
    const from = '10.0.0.1'
    const by = (client: string) => ({ from, headers: { 'x-forwarded-for': client } })
    expect(await statuses(5, (n) => by(`203.0.113.${n}, 192.0.2.9`))).toEqual(over)
    expect((await ask(by('192.0.2.10'))).statusCode).toBe(401)
  })

  test('unknown paths, wrong methods and public routes count too', async () => {
    const { ask, statuses } = await serve(limit)
    expect(await statuses(1, () => ({ url: '/open' }))).toEqual([200])
    expect(await statuses(2, () => ({ url: '/nothing' }))).toEqual([404, 404])
    const reply = await ask({ url: '/open' })
    expect(reply.statusCode).toBe(429)
    expect(reply.json().detail).toMatch(/^your network, without valid credentials, exceeded/)
  })

  test('do not delay a caller who was authorised before, and delay a new one', async () => {
    const { ask, statuses, clock } = await serve(limit)
    expect((await ask({ key: 'user:known' })).statusCode).toBe(200)
    expect(await statuses(5, (n) => ({ key: `guess-${n}` }))).toEqual(over)
    expect(await statuses(9, () => ({ key: 'user:known' }))).toEqual(Array(9).fill(200))
    expect((await ask({ key: 'user:new' })).statusCode).toBe(429)
    clock.ahead_ms += 120_000
    expect((await ask({ key: 'user:new' })).statusCode).toBe(200)
  })

  test('are not the calls of authorised callers', async () => {
    const { statuses } = await serve(limit)
    const users = await statuses(20, (n) => ({ key: `user:${n}` }))
    expect(users).toEqual(Array(20).fill(200))
  })

  test('a revoked key counts from its first refused call', async () => {
    const { ask, statuses, revoked } = await serve(limit)
    await ask({ key: 'user:a' })
    revoked.add('user:a')
    expect(await statuses(5, () => ({ key: 'user:a' }))).toEqual(over)
  })

  test('are counted in a metric', async () => {
    const { statuses, metrics } = await serve(limit)
    await statuses(5, () => ({}))
    expect((await metrics.expose()).body).toContain(
      'looptrace_http_rate_limited_total{by="network"} 2',
    )
  })
})

describe('completions and exports', () => {
  test('calls without a valid key are limited, in the format of each protocol', async () => {
    await using proxy = await testProxy()
    await using receiver = await testReceiver()
    const { server } = await serve({
      routes: [...routes, ...proxyRoutes(proxy.proxy), ...otlpRoutes(receiver.receiver)],
      anonymous_rate_per_minute_max: 4,
    })
    const port = await server.listen({ host: '127.0.0.1', port: 0 })
    const post = (path: string, key: string) =>
      fetch(`http://127.0.0.1:${port}${path}`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: '{"resourceSpans":[]}',
      })
    const completions = '/v1/chat/completions'
    const statuses = async (path: string, count: number, key: (n: number) => string) => {
      const found: number[] = []
      for (let n = 0; n < count; n += 1) found.push((await post(path, key(n))).status)
      return found
    }
    // A valid key counts for nothing: the missing provider key is the client's matter.
    const valid = await statuses(completions, 10, () => 'lt_valid')
    expect(valid).toEqual(Array(10).fill(401))
    expect(await statuses('/v1/traces', 10, () => 'lt_writer')).toEqual(Array(10).fill(200))
    expect(await statuses(completions, 3, (n) => `lt_guess_${n}`)).toEqual([401, 401, 401])
    expect(await statuses('/v1/traces', 3, (n) => `lt_guess_${n}`)).toEqual([401, 429, 429])
    const refused = await post(completions, 'lt_guess')
    expect(refused.status).toBe(429)
    expect(await refused.json()).toMatchObject({ error: { code: 'rate_limited' } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused.headers.get('ratelimit-remaining')).toBe('0')
    const status = await post('/v1/traces', 'lt_guess')
    expect(await status.json()).toMatchObject({ code: 8 })
    expect(await statuses('/v1/traces', 5, () => 'lt_writer')).toEqual(Array(5).fill(200))
  })

  test('guesses beside the provider key of a valid call are limited, in every place', async () => {
    await using proxy = await testProxy()
    const { server } = await serve({
      routes: proxyRoutes(proxy.proxy),
      anonymous_rate_per_minute_max: 3,
    })
    const port = await server.listen({ host: '127.0.0.1', port: 0 })
    const ask = (path: string, headers: Record<string, string>) =>
      fetch(`http://127.0.0.1:${port}${path}`, {
        headers: { 'x-provider': 'nobody', authorization: 'Bearer theirs', ...headers },
      })
    const models = '/v1beta/models'
    const valid = await ask(models, { 'x-looptrace-key': 'lt_valid' })
    expect(valid.status).toBe(400)
    const statuses: number[] = []
    for (let n = 0; n < 2; n += 1) {
      statuses.push((await ask(models, { 'x-looptrace-key': `lt_guess_${n}` })).status)
      statuses.push((await ask(`${models}?key=lt_guess_${n}`, {})).status)
      statuses.push((await ask(`/k/lt_guess_${n}${models}`, {})).status)
    }
    expect(statuses).toEqual([401, 401, 401, 429, 429, 429])
    expect((await ask(models, { 'x-looptrace-key': 'lt_valid' })).status).toBe(400)
  })
})
