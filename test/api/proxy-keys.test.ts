import fc from 'fast-check'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { otlpRoutes } from '../../src/capabilities/edge/otlp/index.ts'
import type { ProjectKeys } from '../../src/capabilities/edge/proxy/index.ts'
import { testReceiver } from '../support/otlp-receiver.ts'
import { writtenProviders } from '../support/providers-file.ts'
import { proxyServer } from '../support/proxy-server.ts'
import { rawPost } from '../support/raw-post.ts'
import { json, replayingProvider, stream } from '../support/replaying-provider.ts'
import { budget } from '../support/suite/budget.ts'

type Headers = Record<string, string>

/** What the provider got in the places of keys. */
function keysIn(headers: Record<string, string | string[] | undefined> = {}): Headers {
  const names = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key', 'x-looptrace-key']
  return Object.fromEntries(
    names.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
  )
}

describe('the start of a value tells whose key it is', () => {
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
  const messages = '/v1/messages'
  const gemini = '/v1beta/models/m:generateContent'
  const responses = '/v1/responses'
  const cases: [path: string, sent: Headers, got: Headers][] = [
    [responses, { 'x-api-key': 'lt_valid', ...bearer('sk-1') }, bearer('sk-1')],
    [responses, { 'x-looptrace-key': 'lt_valid', ...bearer('sk-1') }, bearer('sk-1')],
    [responses, { ...bearer('lt_valid'), 'api-key': 'azure-1' }, bearer('azure-1')],
    [responses, { ...bearer('lt_valid'), 'x-api-key': 'sk-1' }, bearer('sk-1')],
    [responses, { 'x-api-key': 'lt_valid', ...bearer('sk-default_1') }, bearer('sk-default_1')],
    [
      messages,
      { 'x-looptrace-key': 'lt_valid', 'x-api-key': 'sk-ant-1' },
      { 'x-api-key': 'sk-ant-1' },
    ],
    [messages, { ...bearer('lt_valid'), 'x-api-key': 'sk-ant-1' }, { 'x-api-key': 'sk-ant-1' }],
    [
      messages,
      { 'x-api-key': 'lt_valid', ...bearer('sk-ant-api03') },
      { 'x-api-key': 'sk-ant-api03' },
    ],
    [messages, { 'x-api-key': 'lt_valid', ...bearer('sk-ant-oat01') }, bearer('sk-ant-oat01')],
    [messages, { 'x-api-key': 'sk-ant-1, lt_valid' }, { 'x-api-key': 'sk-ant-1' }],
    [messages, { 'x-api-key': 'lt_valid,sk-ant-1' }, { 'x-api-key': 'sk-ant-1' }],
    [
      gemini,
      { 'x-looptrace-key': 'lt_valid', 'x-goog-api-key': 'AIza1' },
      { 'x-goog-api-key': 'AIza1' },
    ],
    [gemini, { 'x-goog-api-key': 'lt_valid', ...bearer('AIza1') }, { 'x-goog-api-key': 'AIza1' }],
    [gemini, { 'x-api-key': 'lt_valid', ...bearer('ya29.token') }, bearer('ya29.token')],
    [
      `${gemini}?key=lt_valid&alt=sse`,
      { 'x-goog-api-key': 'AIza1' },
      { 'x-goog-api-key': 'AIza1' },
    ],
    [`${gemini}?alt=sse&key=AIza1`, { 'x-api-key': 'lt_valid' }, { 'x-goog-api-key': 'AIza1' }],
    [`/k/lt_valid${messages}`, { 'x-api-key': 'sk-ant-1' }, { 'x-api-key': 'sk-ant-1' }],
    [`/k/lt%5Fvalid${responses}`, bearer('sk-1'), bearer('sk-1')],
    [`/k/lt_valid${gemini}?alt=sse`, { 'x-goog-api-key': 'AIza1' }, { 'x-goog-api-key': 'AIza1' }],
    ['/k/lt_valid/v1/chat/completions', bearer('sk-1'), bearer('sk-1')],
    // The same key twice is one key.
    [`/k/lt_valid${responses}`, { 'x-api-key': 'lt_valid', ...bearer('sk-1') }, bearer('sk-1')],
  ]
  test.each(cases)('POST %s with %j', async (path, sent, got) => {
    await using provider = await replayingProvider()
    await using proxy = await proxyServer(provider)
    const answer = await rawPost(`${proxy.origin}${path}`, {}, sent).answer
    expect([answer.status, answer.body.toString()]).toEqual([200, '{}'])
    expect(keysIn(provider.requests[0]?.headers)).toEqual(got)
    expect(provider.requests[0]?.url).not.toMatch(/key=|lt_|\/k\//)
    expect(provider.requests[0]?.url.endsWith('alt=sse')).toBe(path.includes('alt=sse'))
  })
})

describe('refused with 401, and not recorded', () => {
  const places = /X-API-Key, X-Looptrace-Key, Authorization, x-goog-api-key, api-key or query key/
  const sk = { authorization: 'Bearer sk-1' }
  const cases: [path: string, sent: Headers, says: RegExp][] = [
    ['/v1/responses', sk, places],
    ['/v1/messages', { 'x-api-key': 'sk-ant-1' }, places],
    ['/v1beta/models/m:generateContent?key=AIza', {}, places],
    ['/k/sk-1/v1/responses', sk, places],
    ['/k//v1/responses', sk, places],
    [
      '/v1/messages',
      { 'x-api-key': 'lt_valid', authorization: 'Bearer lt_reader' },
      /two different project keys were sent, in X-API-Key and Authorization/,
    ],
    ['/k/lt_valid/v1/responses', { ...sk, 'x-api-key': 'lt_reader' }, /two different/],
    ['/k/lt_valid/v1/responses', { ...sk, 'x-looptrace-key': 'lt_reader' }, /two different/],
    [
      '/v1/chat/completions',
      { 'x-api-key': 'unknown', ...sk },
      /X-API-Key: the project key is unknown/,
    ],
    [
      '/k/lt_wrong/v1/messages',
      { 'x-api-key': 'sk-ant-1' },
      /X-Looptrace-Key: the project key is unknown/,
    ],
  ]
  test.each(cases)('POST %s with %j', async (path, sent, says) => {
    await using provider = await replayingProvider()
    await using proxy = await proxyServer(provider)
    const answer = await rawPost(`${proxy.origin}${path}`, {}, sent).answer
    expect(answer.status).toBe(401)
    expect(JSON.parse(answer.body.toString()).error.message).toMatch(says)
    expect(answer.body.toString()).not.toMatch(/lt_(?:valid|reader|wrong)/)
    expect([provider.requests, proxy.exchanges]).toEqual([[], []])
  })
})

test('without the provider key, the error names where its clients send it', async () => {
  await using proxy = await proxyServer()
  for (const [path, place] of [
    ['/v1/responses', 'Authorization'],
    ['/v1/messages', 'x-api-key'],
    ['/v1beta/interactions', 'x-goog-api-key'],
  ]) {
    const answer = await rawPost(`${proxy.origin}${path}`, {}, { 'x-looptrace-key': 'lt_valid' })
      .answer
    const { message } = JSON.parse(answer.body.toString()).error
    expect([answer.status, message]).toEqual([401, expect.stringContaining(`${place} is missing`)])
  }
})

describe('a path /k/<key>/…', () => {
  test('serves exports over OTLP too', async () => {
    await using receiver = await testReceiver()
    await using proxy = await proxyServer({ routes: otlpRoutes(receiver.receiver) })
    const send = (path: string) => rawPost(`${proxy.origin}${path}`, { resourceSpans: [] }).answer
    expect((await send('/k/lt_writer/v1/traces')).status).toBe(200)
    expect((await send('/k/lt_wrong/v1/traces')).status).toBe(401)
  })

  test.each(['/api/v1/tasks', '/', '', '/openapi.json', '/k/lt_valid/v1/models', '/v1/unknown'])(
    'reaches no other path: %s',
    async (path) => {
      await using proxy = await proxyServer()
      const answer = await fetch(`${proxy.origin}/k/lt_valid${path}`)
      const body = await answer.text()
      expect([answer.status, JSON.parse(body).error.code]).toEqual([404, 'route_not_found'])
    },
  )
})

const base62 = fc.stringMatching(/^[0-9A-Za-z]{40}$/)
const projectKey = fc
  .tuple(fc.constantFrom('lt_', 'lt_sa_', 'lt_op_'), base62)
  .map(([start, text]) => `${start}${text.slice(0, 8)}_${text.slice(8)}`)
const validKeys = fc.sample(projectKey, { numRuns: 2, seed: 1 })
const wrongKey = fc.sample(projectKey, { numRuns: 1, seed: 2 })
const allKeys = [...validKeys, ...wrongKey]

/** Places of keys, by which a value that begins with `lt_` is ours. */
const places = [
  'X-API-Key',
  'X-Looptrace-Key',
  'Authorization',
  'x-goog-api-key',
  'api-key',
] as const
/** Places that hold no keys. Whatever holds a key of ours there must be dropped. */
const strayHeaders = [
  ...['X-Custom', 'X-Task-ID', 'X-Task-Name', 'X-Conversation-ID', 'X-User-ID', 'tracestate'],
  ...['baggage', 'User-Agent', 'X-Request-ID', 'OpenAI-Organization', 'X-Auth-Token'],
]
const posts = [
  ...['/v1/chat/completions', '/v1/completions', '/v1/responses', '/v1/embeddings'],
  ...['/v1/messages', '/v1/messages/count_tokens', '/v1beta/interactions', '/v1/interactions'],
  ...['/v1beta/models/m:generateContent', '/v1beta/models/m:streamGenerateContent'],
  ...['/v1/models/m:generateContent', '/v1/models/m:countTokens'],
  ...['/chat/completions', '/messages', '/openai/v1/responses', '/api/v1/embeddings'],
  ...['/models/m:generateContent', '/openai/deployments/d/chat/completions'],
  ...['/v1/responses/compact', '/v1/responses/resp_1/cancel'],
  ...['/v1/images/generations', '/v1/audio/speech', '/v1/rerank', '/v1/moderations', '/v1/files'],
  ...['/v1/batches', '/v1/messages/batches', '/v1/vector_stores', '/v1/conversations', '/files'],
  ...[
    '/v1/agents',
    '/v1/sessions/s_1/events',
    '/v1beta/batches/b:cancel',
    '/openai/v1/images/edits',
  ],
]
const gets = [
  ...['/v1/models', '/v1/models/m', '/v1beta/models', '/v1beta/models/m'],
  ...['/v1/responses/resp_1', '/v1beta/interactions/v1_1', '/models', '/v1/responses'],
  ...['/v1/files/f_1/content', '/v1beta/files', '/v1/batches', '/v1/vector_stores/vs_1/files'],
]
const deletes = ['/v1/files/f_1', '/v1beta/files/f_1', '/v1/conversations/c_1', '/agents/a_1']

const [usualKey = ''] = validKeys
const key = fc.oneof(
  { arbitrary: fc.constant(usualKey), weight: 6 },
  { arbitrary: fc.constantFrom(...allKeys), weight: 1 },
)
const inThird = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ arbitrary: value, weight: 1 }, { arbitrary: fc.constant(undefined), weight: 2 })

const requests = fc.record({
  route: fc.oneof(
    fc.constantFrom(...posts).map((path) => ({ method: 'POST', path })),
    fc.constantFrom(...gets).map((path) => ({ method: 'GET', path })),
    fc.constantFrom('/v1/unknown', '/v1beta/x').map((path) => ({ method: 'POST', path })),
    fc.constantFrom(...deletes).map((path) => ({ method: 'DELETE', path })),
    fc.constant({ method: 'PATCH', path: '/v1/agents/a_1' }),
    key.map((id) => ({ method: 'GET', path: `/v1/files/${id}/content` })),
    key.map((model) => ({ method: 'POST', path: `/v1beta/models/${model}:generateContent` })),
  ),
  inHeaders: fc.dictionary(fc.constantFrom(...places), key, { maxKeys: 2 }),
  provider: fc.dictionary(fc.constantFrom(...places), fc.constant('sk-theirs'), {
    maxKeys: 2,
  }),
  inQuery: inThird(key),
  inPath: inThird(key),
  strayHeader: inThird(fc.tuple(fc.constantFrom(...strayHeaders), key)),
  strayQuery: inThird(key),
  isEncoded: fc.boolean(),
  provider_name: fc.constantFrom(undefined, undefined, 'in-query', 'in-header', 'keyless'),
  answer: fc.constantFrom('whole', 'stream', 'error', 'cut'),
})
type Request = typeof requests extends fc.Arbitrary<infer T> ? T : never

/** The request as it is sent: a key and a provider's key in one place are merged by a comma. */
function written({ route, ...request }: Request): { url: string; headers: Headers } {
  const headers: Headers = {}
  for (const place of places) {
    const values = [request.provider[place], request.inHeaders[place]].filter(
      (value) => value !== undefined,
    )
    if (values.length === 0) continue
    headers[place] = place === 'Authorization' ? `Bearer ${values.join(', ')}` : values.join(', ')
  }
  const { strayHeader, strayQuery, inQuery, inPath, provider_name } = request
  if (route.method === 'GET' && route.path === '/v1/responses') {
    Object.assign(headers, { Connection: 'Upgrade', Upgrade: 'websocket' })
  }
  if (provider_name !== undefined) headers['X-Provider'] = provider_name
  if (strayHeader !== undefined) headers[strayHeader[0]] = strayHeader[1]
  const encode = (text: string) => (request.isEncoded ? text.replace('_', '%5F') : text)
  const query = [
    ...(strayQuery === undefined ? [] : [`token=${encode(strayQuery)}`]),
    ...(inQuery === undefined ? [] : [`${request.isEncoded ? 'k%65y' : 'key'}=${encode(inQuery)}`]),
    'alt=sse',
  ].join('&')
  const prefix = inPath === undefined ? '' : `/k/${encode(inPath)}`
  return { url: `${prefix}${route.path}?${query}`, headers }
}

/** The keys that a simple reading finds in the places of keys. */
function foundKeys({ inHeaders, inQuery, inPath }: Request): Set<string> {
  const found = [...Object.values(inHeaders), inQuery, inPath]
  return new Set(found.filter((value) => value !== undefined))
}

test('no key of ours leaves for a provider, nor gets into a record, log, metric or error', async () => {
  const lines: string[] = []
  const logger = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) })
  const keys: ProjectKeys = {
    authenticate: (given) => {
      if (!validKeys.includes(given)) return undefined
      const scopes = new Set(['proxy:write', 'proxy:provider_key'] as const)
      return { key_id: 'k', project_id: 'p', scopes }
    },
  }
  await using provider = await replayingProvider()
  using file = writtenProviders(declared(provider.origin), { keys: { key: ownKey } })
  await using proxy = await proxyServer({ ...provider, ...file, keys, logger })
  const counts = { forwarded: 0, refused: 0 }
  const property = fc.asyncProperty(requests, async (request) => {
    const { url, headers } = written(request)
    const before = provider.requests.length
    provider.answer(answers[request.answer])
    const { method } = request.route
    const answer = await rawPost(`${proxy.origin}${url}`, {}, headers, method).answer
    const shown = JSON.stringify([answer.headers, answer.body.toString()])
    const sent = provider.requests.slice(before)
    const upstream = JSON.stringify(sent.map(({ rawHeaders, url: to }) => [rawHeaders, to]))
    for (const secret of allKeys) {
      const tail = secret.slice(-32)
      expect(shown).not.toContain(tail)
      expect(upstream).not.toContain(tail)
    }
    expect(upstream).not.toMatch(/\blt(?:_|%5F)/i)
    expect(shown).not.toContain(ownKey)
    const [only, ...others] = foundKeys(request)
    const isKnown = only !== undefined && others.length === 0 && validKeys.includes(only)
    if (!isKnown) expect(sent).toEqual([])
    if (answer.status === 404) expect(request.route.path).toMatch(/unknown|\/x/)
    else if (!isKnown) expect(answer.status).toBe(401)
    if (sent.length > 0) counts.forwarded += 1
    else counts.refused += 1
  })
  await fc.assert(property, { numRuns: budget({ test: 400, soak: 4_000 }), endOnFailure: true })
  expect(counts.forwarded).toBeGreaterThan(50)
  expect(counts.refused).toBeGreaterThan(50)
  await expect.poll(() => proxy.exchanges.length).toBeGreaterThan(50)
  const kept = JSON.stringify([
    proxy.exchanges.map(({ facts }) => facts),
    (await proxy.metrics.expose()).body,
    lines,
  ])
  for (const secret of allKeys) expect(kept).not.toContain(secret.slice(-32))
  expect(kept).not.toContain('sk-theirs')
  expect(kept).not.toContain(ownKey)
})

const ownKey = 'sk-of-the-key-file'

/** Providers of a file with their keys in other places; one has a key file. */
function declared(origin: string): string {
  const formats =
    '[chat.completions, responses, messages, embeddings, generate_content, models, files, images, agents]'
  const shared = `base_url: ${origin}/v1, formats: ${formats}`
  return `providers:
  - {name: in-query, ${shared}, key_in: query}
  - {name: in-header, ${shared}, key_in: api-key, key_file: "{folder}/key", key_for: all}
  - {name: keyless, ${shared}, key_in: none}
`
}

const answers = {
  whole: json({}),
  stream: stream('data: {}\n\ndata: [DONE]\n\n'),
  error: json({ error: { message: 'no' } }, 401),
  cut: { ...stream('data: {}\n\n'), cut: true as const },
}
