import { describe, expect, test } from 'vitest'
import { callRoutes } from '../../src/capabilities/edge/proxy/call-routes.ts'
import { routeCatalogue } from '../../src/roles/catalogues.ts'
import { writtenProviders } from '../support/providers-file.ts'
import { type ProxyServer, proxyServer } from '../support/proxy-server.ts'
import { rawPost } from '../support/raw-post.ts'
import {
  json,
  type ReplayingProvider,
  replayingProvider,
  stream,
} from '../support/replaying-provider.ts'
import { fixtureNames, hasSharedFixtures, readFixture } from '../support/shared-fixtures.ts'

type Session = {
  id: string
  exchanges: {
    request: { method: string; path: string; headers: Record<string, string>; body: unknown }
    response: {
      status: number
      headers: Record<string, string>
      body: string
      streamed: boolean
    }
  }[]
}

/** Paths of the recorded sessions that the proxy serves, and the format of each. */
const served: readonly [path: RegExp, endpoint: string][] = [
  [/^\/v1\/responses(?:\?|$)/, 'responses'],
  [/^\/v1\/messages(?:\?|$)/, 'messages'],
  [/^\/v1\/messages\/count_tokens/, 'messages.count_tokens'],
  [/^\/v1beta\/models\/[^/]+:(?:stream)?generateContent/i, 'generate_content'],
  [/^\/v1beta\/models\/[^/]+:countTokens/, 'generate_content.count_tokens'],
  [/^\/v1beta\/interactions$/, 'interactions'],
]

const sessions = ['responses', 'messages', 'gemini', 'interactions'].flatMap((folder) =>
  fixtureNames(`providers/${folder}`).map((name) =>
    readFixture<Session>(`providers/${folder}/${name}`),
  ),
)
const calls = sessions.flatMap(({ id, exchanges }) =>
  exchanges.flatMap(({ request, response }) => {
    const endpoint = served.find(([path]) => path.test(request.path))?.[1]
    return request.method === 'POST' && endpoint !== undefined
      ? [{ id, endpoint, request, response }]
      : []
  }),
)

const ours = { 'x-looptrace-key': 'lt_valid' }

test.skipIf(!hasSharedFixtures)(
  'the bytes of every recorded call pass in both directions, and its format is recorded',
  { timeout: 60_000 },
  async () => {
    await using provider = await replayingProvider()
    await using proxy = await proxyServer(provider)
    expect(calls.length).toBeGreaterThan(150)
    for (const [index, { id, endpoint, request, response }] of calls.entries()) {
      const { status, body } = response
      const pieces = stream(body, 1 + ((index * 251) % 4_000)).pieces
      provider.answer({ status, headers: response.headers, pieces })
      const sent = `${JSON.stringify(request.body)}\n`
      const headers = { ...request.headers, ...ours, ...providerKey(endpoint) }
      const answer = await rawPost(`${proxy.origin}${request.path}`, sent, headers).answer
      expect([id, answer.status], id).toEqual([id, status])
      expect(answer.body.toString() === body, id).toBe(true)
      const upstream = provider.requests.at(-1)
      expect(upstream?.body.toString(), id).toBe(sent)
      expect(upstream?.url, id).toBe(upstreamUrl(request.path))
      const { facts, response: kept } = await proxy.recorded(index)
      expect(facts, id).toMatchObject({
        endpoint,
        outcome: status < 400 ? 'complete' : 'provider_error',
      })
      expect(facts.path_model, id).toBe(/models\/([^:]+):/.exec(request.path)?.[1])
      expect(Buffer.from(kept).toString() === body, id).toBe(true)
      expect(facts.usage_requested_by_us, id).toBe(false)
    }
  },
)

function providerKey(endpoint: string): Record<string, string> {
  if (endpoint === 'responses') return { authorization: 'Bearer sk-provider-secret' }
  if (endpoint.startsWith('messages')) return { 'x-api-key': 'sk-ant-provider-secret' }
  return { 'x-goog-api-key': 'AIza-provider-secret' }
}

function upstreamUrl(path: string): string {
  if (path.startsWith('/v1beta')) return `/gemini${path}`
  return path.startsWith('/v1/messages') ? `/anthropic${path}` : `/openai${path}`
}

type Case = [line: string, provider: string, upstream: string, facts: Record<string, unknown>]

const cases: Case[] = [
  ['/v1/responses', '', '/openai/v1/responses', { provider: 'openai', endpoint: 'responses' }],
  ['/v1/embeddings?a=1', '', '/openai/v1/embeddings?a=1', { endpoint: 'embeddings' }],
  ['/v1/embeddings', 'gemini', '/gemini/v1beta/openai/embeddings', { provider: 'gemini' }],
  ['/v1/messages?beta=true', '', '/anthropic/v1/messages?beta=true', { provider: 'anthropic' }],
  [
    '/v1/messages/count_tokens',
    'Anthropic',
    '/anthropic/v1/messages/count_tokens',
    { endpoint: 'messages.count_tokens' },
  ],
  [
    '/v1/models/gemini-9:generateContent',
    '',
    '/gemini/v1/models/gemini-9:generateContent',
    { endpoint: 'generate_content', path_model: 'gemini-9', provider: 'gemini' },
  ],
  [
    '/v1beta/models/gemini%2D9:streamGenerateContent?alt=sse',
    'gemini',
    '/gemini/v1beta/models/gemini%2D9:streamGenerateContent?alt=sse',
    { endpoint: 'generate_content', path_model: 'gemini-9' },
  ],
  ['/v1beta/interactions', '', '/gemini/v1beta/interactions', { endpoint: 'interactions' }],
  ['/v1/interactions', '', '/gemini/v1/interactions', { endpoint: 'interactions' }],
]

test.each(cases)('POST %s of provider "%s" goes to %s', async (line, name, upstream, facts) => {
  await using provider = await replayingProvider()
  await using proxy = await proxyServer(provider)
  const headers = { ...ours, authorization: 'Bearer k', ...(name && { 'x-provider': name }) }
  expect((await rawPost(`${proxy.origin}${line}`, {}, headers).answer).status).toBe(200)
  expect(provider.requests.map(({ url }) => url)).toEqual([upstream])
  const recorded = await proxy.recorded()
  expect(recorded.facts).toMatchObject(facts)
  expect('path_model' in recorded.facts).toBe('path_model' in facts)
})

const aliases: [line: string, upstream: string, endpoint: string][] = [
  ['POST /chat/completions', '/openai/v1/chat/completions', 'chat.completions'],
  ['POST /completions?a=1', '/openai/v1/completions?a=1', 'completions'],
  ['POST /responses', '/openai/v1/responses', 'responses'],
  ['POST /embeddings', '/openai/v1/embeddings', 'embeddings'],
  ['POST /messages?beta=true', '/anthropic/v1/messages?beta=true', 'messages'],
  ['POST /messages/count_tokens', '/anthropic/v1/messages/count_tokens', 'messages.count_tokens'],
  ['POST /v1/v1/messages', '/anthropic/v1/messages', 'messages'],
  ['POST /openai/v1/responses', '/openai/v1/responses', 'responses'],
  ['POST /openai/v1/chat/completions', '/openai/v1/chat/completions', 'chat.completions'],
  ['POST /api/v1/chat/completions', '/openai/v1/chat/completions', 'chat.completions'],
  ['POST /api/v1/messages', '/anthropic/v1/messages', 'messages'],
  [
    'POST /models/m:streamGenerateContent?alt=sse',
    '/gemini/v1beta/models/m:streamGenerateContent?alt=sse',
    'generate_content',
  ],
  [
    'POST /v1beta/v1beta/models/m:generateContent',
    '/gemini/v1beta/models/m:generateContent',
    'generate_content',
  ],
  ['POST /k/lt_valid/openai/v1/responses', '/openai/v1/responses', 'responses'],
]

describe('a base URL without /v1, or that of another service', () => {
  test.each(aliases)('%s goes to %s', async (line, upstream, endpoint) => {
    await using provider = await replayingProvider()
    await using proxy = await proxyServer(provider)
    const [method = '', path = ''] = line.split(' ')
    const headers = { ...ours, authorization: 'Bearer sk-theirs' }
    const answer = await rawPost(`${proxy.origin}${path}`, {}, headers, method).answer
    expect([answer.status, answer.body.toString()]).toEqual([200, '{}'])
    expect(provider.requests.map(({ url }) => url)).toEqual([upstream])
    expect((await proxy.recorded()).facts).toMatchObject({ endpoint, outcome: 'complete' })
  })

  test.each([
    ['/models', '/openai/v1/models'],
    ['/openai/v1/models/gpt-9', '/openai/v1/models/gpt-9'],
  ])('GET %s goes to %s', async (path, upstream) => {
    await using provider = await replayingProvider()
    await using proxy = await proxyServer(provider)
    const headers = { ...ours, authorization: 'Bearer sk-theirs' }
    await rawPost(`${proxy.origin}${path}`, {}, headers, 'GET').answer
    expect(provider.requests.map(({ url }) => url)).toEqual([upstream])
  })

  test.each([
    ['/messages', 'anthropic'],
    ['/openai/v1/responses', 'openai'],
    ['/models/m:generateContent', 'google'],
    ['/openai/v1/audio/speech', 'openai'],
    ['/openai/deployments/d/images/generations', 'openai'],
  ] as const)('an error of POST %s has the shape of %s', async (path, shape) => {
    await using proxy = await proxyServer()
    const answer = await rawPost(`${proxy.origin}${path}`, {}).answer
    expect([401, 404]).toContain(answer.status)
    expect(shapeOf(answer.body.toString())).toBe(shape)
  })

  test('no other route of the service has the path of an alias', () => {
    const urls = [...new Set(routeCatalogue().map(({ url }) => url))]
    for (const { url, aliases: starts = [], below } of callRoutes) {
      for (const { start, instead_of } of starts) {
        const path = start + url.slice(instead_of.length)
        expect(urls).not.toContain(path)
        if (below) expect(urls.filter((one) => one.startsWith(`${path}/`))).toEqual([])
      }
    }
  })
})

describe('paths of Azure OpenAI', () => {
  const path = '/openai/deployments/my-gpt/chat/completions?api-version=2025-01-01'

  test('go to the provider azure, with the deployment as the model', async () => {
    await using provider = await replayingProvider()
    using written = writtenProviders(`providers:
  - name: azure
    base_url: ${provider.origin}/openai/v1
    formats: [chat.completions]
    key_in: api-key
`)
    await using proxy = await proxyServer({ ...provider, ...written })
    const headers = { ...ours, 'api-key': 'sk-theirs' }
    const answer = await rawPost(`${proxy.origin}${path}`, { messages: [] }, headers).answer
    expect(answer.status).toBe(200)
    expect(provider.requests[0]?.url).toBe(path)
    expect(provider.requests[0]?.headers['api-key']).toBe('sk-theirs')
    expect((await proxy.recorded()).facts).toMatchObject({
      ...{ provider: 'azure', endpoint: 'chat.completions', path_model: 'my-gpt' },
    })
    for (const bad of ['..', '%2e%2e', 'lt_valid', 'a%2Fb']) {
      const other = path.replace('my-gpt', bad)
      const { status } = await rawPost(`${proxy.origin}${other}`, {}, headers).answer
      expect([400, 404]).toContain(status)
    }
    expect(provider.requests).toHaveLength(1)
  })

  test('without that provider say what to set', async () => {
    await using proxy = await proxyServer()
    const headers = { ...ours, 'api-key': 'sk-theirs' }
    const answer = await rawPost(`${proxy.origin}${path}`, {}, headers).answer
    expect([answer.status, messageIn(answer.body)]).toEqual([
      400,
      expect.stringContaining('needs the provider azure, which is not declared'),
    ])
  })
})

describe('a provider that does not speak a format', () => {
  test.each([
    ['/v1/messages', 'openai', 'openai does not speak messages, expected anthropic'],
    ['/v1/responses', 'gemini', 'gemini does not speak responses, expected openai'],
    ['/v1/embeddings', 'anthropic', 'does not speak embeddings, expected openai or gemini'],
    ['/v1beta/models/m:generateContent', 'openai', 'expected gemini'],
    ['/v1beta/interactions', 'anthropic', 'expected gemini'],
  ])('%s of %s', async (path, name, says) => {
    await using provider = await replayingProvider()
    await using proxy = await proxyServer(provider)
    const headers = { ...ours, authorization: 'Bearer k', 'x-provider': name }
    const answer = await rawPost(`${proxy.origin}${path}`, {}, headers).answer
    expect([answer.status, messageIn(answer.body)]).toEqual([400, expect.stringContaining(says)])
    expect(provider.requests).toEqual([])
    expect((await proxy.recorded()).facts.error_type).toBe('format_unsupported')
  })
})

describe('a model in the path', () => {
  test.each([
    '..',
    '%2e%2e%2fopenai',
    'a%2Fb',
    'a%00b',
    'a%5Cb',
    'lt_valid',
    '%ZZ',
    `${'m'.repeat(257)}`,
  ])('%s is refused', async (model) => {
    await using provider = await replayingProvider()
    await using proxy = await proxyServer(provider)
    const url = `${proxy.origin}/v1beta/models/${model}:generateContent`
    const answer = await rawPost(url, {}, { ...ours, 'x-goog-api-key': 'k' }).answer
    expect(answer.status).toBe(400)
    expect(JSON.parse(answer.body.toString()).error.status).toBe('INVALID_ARGUMENT')
    expect(answer.body.toString()).not.toContain('lt_valid')
    expect(provider.requests).toEqual([])
    expect(JSON.stringify((await proxy.recorded()).facts)).not.toContain('lt_valid')
  })
})

describe('lists of models pass and are not recorded', () => {
  const anthropic = { 'anthropic-version': '2023-06-01', 'x-api-key': 'sk-ant-1' }
  test.each([
    ['/v1/models', { authorization: 'Bearer k' }, '/openai/v1/models'],
    ['/v1/models/gpt-9?x=1', { authorization: 'Bearer k' }, '/openai/v1/models/gpt-9?x=1'],
    ['/v1/models?limit=2', anthropic, '/anthropic/v1/models?limit=2'],
    [
      '/v1/models',
      { authorization: 'Bearer k', 'x-provider': 'gemini' },
      '/gemini/v1beta/openai/models',
    ],
    ['/v1/models', { 'x-goog-api-key': 'k' }, '/gemini/v1/models'],
    ['/v1beta/models?pageSize=1', { 'x-goog-api-key': 'k' }, '/gemini/v1beta/models?pageSize=1'],
    ['/v1beta/models/gemini-9', { 'x-goog-api-key': 'k' }, '/gemini/v1beta/models/gemini-9'],
  ])('GET %s with %j', async (path, headers, upstream) => {
    await using provider = await replayingProvider()
    await using proxy = await proxyServer(provider)
    provider.answer(json({ data: ['a model'] }))
    const answer = await fetch(`${proxy.origin}${path}`, { headers: { ...ours, ...headers } })
    expect([answer.status, await answer.text()]).toEqual([200, '{"data":["a model"]}'])
    expect(provider.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      `GET ${upstream}`,
    ])
    expect(provider.requests[0]?.headers['content-length']).toBeUndefined()
    expect(provider.requests[0]?.headers['traceparent']).toBeUndefined()
    expect(proxy.exchanges).toEqual([])
    expect((await proxy.metrics.expose()).body).toMatch(
      /looptrace_proxy_calls_total\{endpoint="[a-z_.]*models"/,
    )
  })
})

test('only chat completions and completions are asked for usage', async () => {
  await using provider = await replayingProvider()
  await using proxy = await proxyServer(provider)
  const body = '{"stream":true}'
  for (const path of ['/v1/responses', '/v1/messages', '/v1beta/interactions', '/v1/completions']) {
    await rawPost(`${proxy.origin}${path}`, body, { ...ours, authorization: 'Bearer k' }).answer
  }
  const bodies = provider.requests.map((request) => request.body.toString())
  expect(bodies.slice(0, 3)).toEqual([body, body, body])
  expect(bodies[3]).toContain('include_usage')
})

describe('errors have the shape of the API', () => {
  const unknown: [line: string, headers: Record<string, string>, shape: Shape][] = [
    ['POST /v1/fine_tuning/jobs', {}, 'openai'],
    ['POST /v1/skills', { 'anthropic-version': '2023-06-01' }, 'anthropic'],
    ['POST /v1/messages/batches', {}, 'anthropic'],
    ['POST /v1beta/cachedContents', {}, 'google'],
    ['GET /v1/interactions/1', {}, 'google'],
    ['GET /v1beta/models/m:generateContent', {}, 'google'],
    ['PUT /v1/responses', {}, 'openai'],
    ['GET /v1/messages', {}, 'anthropic'],
    ['POST /v1/models/m:embedContent', {}, 'google'],
  ]
  test.each(unknown)('%s with %j', async (line, headers, shape) => {
    await using proxy = await proxyServer()
    const [method = '', path = ''] = line.split(' ')
    const answer = await fetch(`${proxy.origin}${path}`, { method, headers })
    const body = await answer.text()
    expect(shapeOf(body)).toBe(shape)
    if (answer.status === 404) {
      expect(messageIn(Buffer.from(body))).toContain('The proxy serves /v1/chat/completions')
    } else expect([405, 401]).toContain(answer.status)
  })

  const paths: [path: string, shape: Shape][] = [
    ['/v1/responses', 'openai'],
    ['/v1/embeddings', 'openai'],
    ['/v1/messages', 'anthropic'],
    ['/v1/messages/count_tokens', 'anthropic'],
    ['/v1beta/models/m:generateContent', 'google'],
    ['/v1beta/interactions', 'google'],
  ]
  test.each(paths)('POST %s', async (path, shape) => {
    await using proxy = await proxyServer({
      base_urls: unreachable,
      settings: { body_bytes_max: 10, requests_per_minute: 3 },
    })
    const ask = async (headers: Record<string, string>, body = '{}') => {
      const { status, body: text } = await rawPost(`${proxy.origin}${path}`, body, headers).answer
      expect(shapeOf(text.toString())).toBe(shape)
      return [status, typeIn(text.toString())]
    }
    const good = { ...ours, authorization: 'Bearer provider-key' }
    const types = {
      openai: ['authentication_error', 'invalid_request_error', 'api_error', 'rate_limit_error'],
      anthropic: ['authentication_error', 'request_too_large', 'api_error', 'rate_limit_error'],
      google: ['UNAUTHENTICATED', 'INVALID_ARGUMENT', 'UNAVAILABLE', 'RESOURCE_EXHAUSTED'],
    }[shape]
    expect(await ask({})).toEqual([401, types[0]])
    expect(await ask(ours)).toEqual([401, types[0]])
    expect(await ask(good, '{"long":"xxxxx"}')).toEqual([413, types[1]])
    expect(await ask(good)).toEqual([502, types[2]])
    expect(await ask(good)).toEqual([429, types[3]])
  })

  const unreachable = {
    openai: 'http://127.0.0.1:1/v1',
    anthropic: 'http://127.0.0.1:1/v1',
    gemini: 'http://127.0.0.1:1/v1beta/openai',
  }
})

type Shape = 'openai' | 'anthropic' | 'google'

function shapeOf(text: string): Shape {
  const { type, error } = JSON.parse(text)
  if (type === 'error') return 'anthropic'
  return typeof error.status === 'string' && typeof error.code === 'number' ? 'google' : 'openai'
}

function typeIn(text: string): string {
  const { error } = JSON.parse(text)
  return error.type ?? error.status
}

function messageIn(body: Buffer): string {
  return JSON.parse(body.toString()).error.message
}

describe('a stream', () => {
  const lasts: [path: string, last: string][] = [
    ['/v1/responses', 'event: response.completed\ndata: {"type":"response.completed"}\n\n'],
    ['/v1/messages', 'event: message_stop\ndata: {"type":"message_stop"}\n\n'],
    ['/v1beta/interactions', 'event: done\ndata: [DONE]\n\n'],
  ]

  test.each(lasts)(
    'of %s whose client leaves after its last event is complete',
    async (path, last) => {
      await using provider = await replayingProvider()
      await using proxy = await proxyServer(provider)
      for (const [number, body] of ['event: x\ndata: {}\n\n', last].entries()) {
        await leaveMiddle({ provider, proxy }, path, body)
        const { facts } = await proxy.recorded(number)
        expect(facts.outcome).toBe(body === last ? 'complete' : 'client_gone')
      }
    },
  )

  const events: [path: string, says: RegExp][] = [
    ['/v1/chat/completions', /^data: \{"error":\{.*"code":"provider_cut"\}\}\n\n$/],
    ['/v1/responses', /^event: error\ndata: \{"type":"error","code":"provider_cut".*\n\n$/],
    ['/v1/messages', /^event: error\ndata: \{"type":"error","error":\{"type":"api_error".*\n\n$/],
    [
      '/v1beta/models/m:streamGenerateContent?alt=sse',
      /^data: \{"error":\{"code":502,.*"status":"UNAVAILABLE".*\n\n$/,
    ],
    [
      '/v1beta/interactions',
      /^event: error\ndata: \{"error":\{"code":"unavailable".*"event_type":"error"\}\n\n$/,
    ],
  ]
  test.each(events)(
    'of %s that the provider cuts ends with an error of its API',
    async (path, says) => {
      await using provider = await replayingProvider()
      await using proxy = await proxyServer(provider)
      provider.answer({ ...stream('data: {}\n\n'), cut: true })
      const headers = { ...ours, authorization: 'Bearer provider-key' }
      const answer = await rawPost(`${proxy.origin}${path}`, {}, headers).answer
      expect(answer.body.toString().slice('data: {}\n\n'.length)).toMatch(says)
      expect((await proxy.recorded()).facts.error_type).toBe('provider_cut')
    },
  )
})

/** Asks for a stream whose provider never ends it, and leaves after these bytes have come. */
async function leaveMiddle(
  { provider, proxy }: { provider: ReplayingProvider; proxy: ProxyServer },
  path: string,
  body: string,
): Promise<void> {
  const open = Promise.withResolvers<void>()
  const { length } = proxy.exchanges
  provider.answer({ ...stream(body), until: open.promise })
  const post = rawPost(`${proxy.origin}${path}`, {}, { ...ours, authorization: 'Bearer k' })
  expect((await post.firstBytes).toString()).toBe(body)
  post.leave()
  await proxy.recorded(length)
  open.resolve()
}
