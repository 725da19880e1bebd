import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { openOutbound } from '../../src/platform/outbound/index.ts'
import { eventually } from '../support/eventually.ts'
import { writtenProviders } from '../support/providers-file.ts'
import { proxyServer } from '../support/proxy-server.ts'
import { rawPost } from '../support/raw-post.ts'
import {
  json,
  type ReplayedAnswer,
  replayingProvider,
  stream,
} from '../support/replaying-provider.ts'

type Headers = Record<string, string>

const ours = { 'x-looptrace-key': 'lt_valid' }
const bearer = { authorization: 'Bearer sk-theirs' }

/** Returns an example with the local provider instead of the hosts that it names. */
function exampleAt(name: string, origin: string): string {
  const text = readFileSync(`examples/providers/${name}`, 'utf8')
  return text.replace(/https?:\/\/[^/\s]+/g, origin)
}

type Case = [
  file: string,
  provider: string,
  line: string,
  sent: Headers,
  upstream: string,
  got: Headers,
]

const cases: Case[] = [
  [
    ...['azure.yaml', 'azure', '/v1/chat/completions?api-version=preview'],
    bearer,
    '/openai/v1/chat/completions?api-version=preview',
    { 'api-key': 'sk-theirs' },
  ],
  [
    ...['azure.yaml', 'azure', '/v1/responses'],
    { 'api-key': 'sk-theirs' },
    '/openai/v1/responses',
    { 'api-key': 'sk-theirs' },
  ],
  ['mistral.yaml', 'mistral', '/v1/chat/completions', bearer, '/v1/chat/completions', bearer],
  ['mistral.yaml', 'mistral', '/v1/embeddings', bearer, '/v1/embeddings', bearer],
  ['groq.yaml', 'groq', '/v1/chat/completions', bearer, '/openai/v1/chat/completions', bearer],
  ['deepseek.yaml', 'deepseek', '/v1/chat/completions', bearer, '/chat/completions', bearer],
  [
    ...['deepseek.yaml', 'deepseek', '/v1/messages'],
    { 'x-api-key': 'sk-theirs' },
    '/anthropic/v1/messages',
    { 'x-api-key': 'sk-theirs' },
  ],
  [
    ...['openrouter.yaml', 'openrouter', '/v1/chat/completions'],
    bearer,
    '/api/v1/chat/completions',
    bearer,
  ],
  [
    ...['openrouter.yaml', 'openrouter', '/v1/messages'],
    { 'x-api-key': 'sk-theirs' },
    '/api/v1/messages',
    bearer,
  ],
  ['vllm.yaml', 'vllm', '/v1/responses', {}, '/v1/responses', {}],
  ['vllm.yaml', 'vllm', '/v1/chat/completions', bearer, '/v1/chat/completions', bearer],
  ['ollama.yaml', 'ollama', '/v1/chat/completions', {}, '/v1/chat/completions', {}],
  [
    ...['ollama.yaml', 'ollama', '/v1/chat/completions'],
    { authorization: 'Bearer lt_valid' },
    '/v1/chat/completions',
    {},
  ],
  [
    ...['bedrock.yaml', 'bedrock', '/v1/chat/completions'],
    bearer,
    '/openai/v1/chat/completions',
    bearer,
  ],
  [
    ...['vertex.yaml', 'vertex', '/v1beta/models/gemini-9:streamGenerateContent?alt=sse'],
    { 'x-goog-api-key': 'sk-theirs' },
    '/v1/projects/YOUR-PROJECT/locations/us-central1/publishers/google/models/gemini-9:streamGenerateContent?alt=sse',
    bearer,
  ],
  [
    ...['vertex.yaml', 'vertex-openai', '/v1/chat/completions'],
    bearer,
    '/v1/projects/YOUR-PROJECT/locations/us-central1/endpoints/openapi/chat/completions',
    bearer,
  ],
] as Case[]

const keyNames = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key']

function keysIn(headers: Record<string, string | string[] | undefined> = {}): Headers {
  return Object.fromEntries(
    keyNames.flatMap((name) =>
      headers[name] === undefined ? [] : [[name, String(headers[name])]],
    ),
  )
}

describe('an example of a provider', () => {
  test.each(cases)('%s: %s, POST %s with %j', async (...example) => {
    const [file, name, line, sent, upstream, got] = example
    await using provider = await replayingProvider()
    using written = writtenProviders(exampleAt(file, provider.origin))
    await using proxy = await proxyServer({ ...provider, ...written })
    const body = '{"model":"m", "messages":[]}'
    const headers = { ...ours, ...sent, 'x-provider': name }
    const answer = await rawPost(`${proxy.origin}${line}`, body, headers).answer
    expect([answer.status, answer.body.toString()]).toEqual([200, '{}'])
    const [request] = provider.requests
    expect([request?.url, request?.body.toString()]).toEqual([upstream, body])
    expect(keysIn(request?.headers)).toEqual(got)
    expect(JSON.stringify(request?.rawHeaders)).not.toContain('lt_')
    expect((await proxy.recorded()).facts).toMatchObject({ provider: name, outcome: 'complete' })
  })

  test('each file of the folder is served by one of the cases', () => {
    const served = new Set(cases.map(([file]) => file))
    const others = readdirSync('examples/providers').filter((file) => !served.has(file))
    expect(others).toEqual(['key-files.yaml'])
  })
})

test('an unknown name is refused with those that are known', async () => {
  await using provider = await replayingProvider()
  using written = writtenProviders(exampleAt('groq.yaml', provider.origin))
  await using proxy = await proxyServer({ ...provider, ...written })
  const headers = { ...ours, ...bearer, 'x-provider': 'grok' }
  const answer = await rawPost(`${proxy.origin}/v1/chat/completions`, {}, headers).answer
  expect(answer.status).toBe(400)
  expect(messageIn(answer.body)).toContain('expected one of openai, anthropic, gemini, groq')
})

test('a format that the provider does not declare is refused with the providers that do', async () => {
  await using provider = await replayingProvider()
  using written = writtenProviders(exampleAt('vllm.yaml', provider.origin))
  await using proxy = await proxyServer({ ...provider, ...written })
  const headers = { ...ours, ...bearer, 'x-provider': 'vllm' }
  const answer = await rawPost(`${proxy.origin}/v1/messages`, {}, headers).answer
  expect([answer.status, messageIn(answer.body)]).toEqual([
    400,
    'X-Provider: vllm does not speak messages, expected anthropic',
  ])
})

test('a provider with the key in the query gets it there, and it is not recorded', async () => {
  await using provider = await replayingProvider()
  const text = entry(provider.origin, 'key_in: query')
  using written = writtenProviders(text)
  await using proxy = await proxyServer({ ...provider, ...written })
  const url = `${proxy.origin}/v1/chat/completions?a=1`
  const sent = { ...ours, authorization: 'Bearer sk+theirs', 'x-provider': 'local' }
  await rawPost(url, {}, sent).answer
  expect(provider.requests[0]?.url).toBe('/v1/chat/completions?a=1&key=sk%2Btheirs')
  expect(keysIn(provider.requests[0]?.headers)).toEqual({})
  expect(JSON.stringify((await proxy.recorded()).facts)).not.toContain('theirs')
})

describe('the file is read again when it changes', () => {
  test('calls in progress end as they began, and the next ones go to the new address', async () => {
    await using before = await replayingProvider()
    await using after = await replayingProvider()
    using written = writtenProviders(`${entry(before.origin)}# and later ${after.origin}\n`)
    await using proxy = await proxyServer({ ...before, ...written })
    const headers = { ...ours, ...bearer, 'x-provider': 'local' }
    const send = () => rawPost(`${proxy.origin}/v1/chat/completions`, { stream: true }, headers)
    const held = Promise.withResolvers<void>()
    const events = stream('data: {}\n\ndata: [DONE]\n\n', 8)
    before.answer(() =>
      before.requests.length === 1 ? { ...events, until: held.promise } : json({}),
    )
    const running = send()
    await running.firstBytes
    written.write('providers.yaml', entry(after.origin))
    await eventually('the new address', async () => {
      await send().answer
      return after.requests.length > 0
    })
    held.resolve()
    const answer = await running.answer
    expect([answer.complete, answer.body.toString()]).toEqual([
      true,
      'data: {}\n\ndata: [DONE]\n\n',
    ])
  })

  test('a provider that was taken out is unknown', async () => {
    await using provider = await replayingProvider()
    using written = writtenProviders(entry(provider.origin))
    await using proxy = await proxyServer({ ...provider, ...written })
    const headers = { ...ours, ...bearer, 'x-provider': 'local' }
    const send = () => rawPost(`${proxy.origin}/v1/chat/completions`, {}, headers).answer
    expect((await send()).status).toBe(200)
    written.write('providers.yaml', 'providers: []\n')
    await eventually('its refusal', async () => (await send()).status === 400)
  })

  test('a call whose request is arriving ends at the provider that it began with', async () => {
    await using before = await replayingProvider()
    await using after = await replayingProvider()
    using written = writtenProviders(`${entry(before.origin)}# and later ${after.origin}\n`)
    await using proxy = await proxyServer({ ...before, ...written })
    const url = `${proxy.origin}/v1/chat/completions`
    const headers = {
      ...ours,
      ...bearer,
      'x-provider': 'local',
      'content-type': 'application/json',
    }
    const arriving = request(url, { method: 'POST', agent: false, headers })
    const answered = once(arriving, 'response')
    arriving.write('{"model":"m", ')
    await eventually('the start of the call', async () =>
      (await proxy.metrics.expose()).body.includes('looptrace_proxy_in_flight_calls 1'),
    )
    written.write('providers.yaml', entry(after.origin))
    await eventually('the new address', async () => {
      await rawPost(url, {}, headers).answer
      return after.requests.length > 0
    })
    arriving.end('"messages":[]}')
    const [answer] = (await answered) as [IncomingMessage]
    expect([answer.statusCode, await text(answer)]).toEqual([200, '{}'])
    expect(before.requests.at(-1)?.body.toString()).toContain('"messages":[]}')
  })

  test('a file that is not valid keeps the providers, and says so', async () => {
    await using provider = await replayingProvider()
    using written = writtenProviders(entry(provider.origin))
    await using proxy = await proxyServer({ ...provider, ...written })
    const file = written.providers_file
    expect(file.fault()).toBeNull()
    written.write('providers.yaml', 'providers: [{name: LOCAL}]\n')
    await eventually('the fault', () => file.fault() !== null)
    expect(file.fault()).toContain('providers.0.name: expected 1–64 of a–z')
    const headers = { ...ours, ...bearer, 'x-provider': 'local' }
    const answer = await rawPost(`${proxy.origin}/v1/chat/completions`, {}, headers).answer
    expect(answer.status).toBe(200)
    written.write('providers.yaml', entry(provider.origin))
    await eventually('the end of the fault', () => file.fault() === null)
  })
})

describe('addresses go through the guard of outbound requests', () => {
  test.each(['http://169.254.169.254/v1', 'http://127.0.0.1:9/v1', 'http://[::1]/v1'])(
    'the file is refused with %s',
    (base_url) => {
      const text = `providers: [{name: local, base_url: "${base_url}", formats: [chat.completions]}]`
      expect(() => writtenProviders(text.replace('127.0.0.1:9', '127.0.0.1'))).toThrow(
        /base_url of local: .* is not allowed.*LOOPTRACE_OUTBOUND_ALLOWED/,
      )
    },
  )

  test('a name that leads to an address that is not allowed is not reached', async () => {
    await using provider = await replayingProvider()
    const { port } = new URL(provider.origin)
    using written = writtenProviders(entry(`http://inside.test:${port}`))
    const resolved = [{ address: '127.0.0.1', family: 4 }]
    const outbound = openOutbound({ allowed: [], resolve: async () => resolved })
    await using proxy = await proxyServer({ ...provider, ...written, outbound })
    const headers = { ...ours, ...bearer, 'x-provider': 'local' }
    const answer = await rawPost(`${proxy.origin}/v1/chat/completions`, {}, headers).answer
    expect([answer.status, provider.requests]).toEqual([502, []])
  })
})

function entry(origin: string, more = ''): string {
  return `providers:
  - name: local
    base_url: ${origin}/v1
    formats: [chat.completions]
    ${more}
`
}

function messageIn(body: Buffer): string {
  return JSON.parse(body.toString()).error.message
}

describe('one-credential mode', () => {
  const secret = 'sk-ours-0123456789'
  const file = (origin: string, more = 'key_for: all') =>
    entry(origin, `key_file: "{folder}/key"\n    ${more}`)
  const local = { 'x-provider': 'local' }
  const withScope = { 'x-looptrace-key': 'lt_provider_key', ...local }

  test('a call with only a project key gets the key of the file', async () => {
    await using provider = await replayingProvider()
    using written = writtenProviders(file(provider.origin), { keys: { key: `${secret}\n` } })
    await using proxy = await proxyServer({ ...provider, ...written })
    const chat = `${proxy.origin}/v1/chat/completions`
    for (const headers of [
      withScope,
      { ...local, authorization: 'Bearer lt_provider_key' },
      { ...local, 'x-api-key': 'lt_provider_key', authorization: 'Bearer ' },
    ]) {
      const answer = await rawPost(chat, {}, headers).answer
      expect(answer.status).toBe(200)
      const sent = provider.requests.at(-1)?.headers
      expect(keysIn(sent)).toEqual({ authorization: `Bearer ${secret}` })
    }
  })

  test('known providers take a key file, each where its format has the key', async () => {
    await using provider = await replayingProvider()
    const text = ['openai', 'anthropic', 'gemini']
      .map((name) => `  - {name: ${name}, key_file: "{folder}/key", key_for: all}\n`)
      .join('')
    using written = writtenProviders(`providers:\n${text}`, { keys: { key: secret } })
    await using proxy = await proxyServer({ ...provider, ...written })
    const key = { 'x-looptrace-key': 'lt_provider_key' }
    const sent: Record<string, Headers> = {
      '/v1/responses': { authorization: `Bearer ${secret}` },
      '/v1/messages': { 'x-api-key': secret },
      '/v1beta/models/m:generateContent': { 'x-goog-api-key': secret },
    }
    for (const [path, got] of Object.entries(sent)) {
      expect((await rawPost(`${proxy.origin}${path}`, {}, key).answer).status).toBe(200)
      expect(keysIn(provider.requests.at(-1)?.headers)).toEqual(got)
    }
  })

  test('a key of the client wins, and ours is not used', async () => {
    await using provider = await replayingProvider()
    using written = writtenProviders(file(provider.origin), { keys: { key: secret } })
    await using proxy = await proxyServer({ ...provider, ...written })
    for (const sent of [bearer, { 'api-key': 'sk-theirs' }]) {
      const answer = rawPost(`${proxy.origin}/v1/chat/completions`, {}, { ...withScope, ...sent })
      expect((await answer.answer).status).toBe(200)
      expect(keysIn(provider.requests.at(-1)?.headers)).toEqual(bearer)
    }
  })

  const projectId = '01900000-0000-7000-8000-000000000001'
  const other = '01900000-0000-7000-8000-00000000000f'
  const refused: [why: string, key: string, more: string, says: RegExp][] = [
    ['a key without the scope', 'lt_valid', 'key_for: all', /lacks the scope proxy:provider_key/],
    [
      'a project that is not on the list',
      'lt_provider_key',
      `key_for: [${other}]`,
      /"key_for" of local .* neither this project nor this service account/,
    ],
    ['a key that cannot be read', 'lt_provider_key', 'key_for: all', /key file .* cannot be read/],
    ['no key file', 'lt_provider_key', '', /Looptrace has no key file for local/],
  ]
  test.each(refused)('is refused with 401 for %s', async (why, key, more, says) => {
    await using provider = await replayingProvider()
    const text = more === '' ? entry(provider.origin) : file(provider.origin, more)
    const keys = why.includes('read') ? {} : { key: secret }
    using written = writtenProviders(text, { keys })
    await using proxy = await proxyServer({ ...provider, ...written })
    const headers = { ...local, 'x-looptrace-key': key }
    const answer = await rawPost(`${proxy.origin}/v1/chat/completions`, {}, headers).answer
    expect([answer.status, messageIn(answer.body)]).toEqual([401, expect.stringMatching(says)])
    expect(answer.body.toString()).not.toContain(secret)
    expect(provider.requests).toEqual([])
  })

  test.each(['/v1/files', '/v1/batches', '/v1/vector_stores/vs_1', '/v1beta/files'])(
    'is refused on paths that would show what other projects stored: GET %s',
    async (path) => {
      await using provider = await replayingProvider()
      const known = ['openai', 'gemini'].map(
        (name) => `  - {name: ${name}, key_file: "{folder}/key", key_for: all}\n`,
      )
      using written = writtenProviders(`providers:\n${known.join('')}`, { keys: { key: secret } })
      await using proxy = await proxyServer({ ...provider, ...written })
      const key = { 'x-looptrace-key': 'lt_provider_key' }
      const answer = await rawPost(`${proxy.origin}${path}`, {}, key, 'GET').answer
      expect([answer.status, messageIn(answer.body)]).toEqual([
        401,
        expect.stringMatching(/belongs to all projects that use it/),
      ])
      expect(provider.requests).toEqual([])
    },
  )

  test('reaches a stored response by its id, and all that a provider without keys stores', async () => {
    await using provider = await replayingProvider()
    const known = '  - {name: openai, key_file: "{folder}/key", key_for: all}\n'
    const keyless = entry(provider.origin, 'key_in: none').replace('[chat.completions]', '[files]')
    using written = writtenProviders(keyless + known, { keys: { key: secret } })
    await using proxy = await proxyServer({ ...provider, ...written })
    const key = { 'x-looptrace-key': 'lt_provider_key' }
    const get = (path: string, more: Headers = {}) =>
      rawPost(`${proxy.origin}${path}`, '', { ...key, ...more }, 'GET').answer
    expect((await get('/v1/responses/resp_1')).status).toBe(200)
    expect((await get('/v1/files', local)).status).toBe(200)
    expect(provider.requests.map(({ url, headers }) => [url, keysIn(headers)])).toEqual([
      ['/openai/v1/responses/resp_1', { authorization: `Bearer ${secret}` }],
      ['/v1/files', {}],
    ])
  })

  test('the list names projects and service accounts', async () => {
    await using provider = await replayingProvider()
    const account = '01900000-0000-7000-8000-00000000000a'
    for (const [key, list, status] of [
      ['lt_provider_key', projectId, 200],
      ['lt_account', projectId, 200],
      ['lt_account', account, 200],
      ['lt_provider_key', account, 401],
    ] as const) {
      const text = file(provider.origin, `key_for: [${list}]`)
      using written = writtenProviders(text, { keys: { key: secret } })
      await using proxy = await proxyServer({ ...provider, ...written })
      const headers = { ...local, 'x-looptrace-key': key }
      const answer = await rawPost(`${proxy.origin}/v1/chat/completions`, {}, headers).answer
      expect([key, list, answer.status]).toEqual([key, list, status])
    }
  })

  test('a replaced key file is used, and one that is gone refuses', async () => {
    await using provider = await replayingProvider()
    using written = writtenProviders(file(provider.origin), { keys: { key: secret } })
    await using proxy = await proxyServer({ ...provider, ...written })
    const send = () => rawPost(`${proxy.origin}/v1/chat/completions`, {}, withScope).answer
    await send()
    written.write('key', 'sk-new-0123456789')
    await eventually('the new key', async () => {
      await send()
      return (
        keysIn(provider.requests.at(-1)?.headers)['authorization'] === 'Bearer sk-new-0123456789'
      )
    })
    written.write('key', '')
    await eventually('the refusal', async () => (await send()).status === 401)
    expect(written.providers_file.fault()).toContain('key_file of local: ')
  })

  test('the key is in no answer, record, log or metric, whatever the provider sends', async () => {
    const lines: string[] = []
    const logger = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) })
    await using provider = await replayingProvider()
    using written = writtenProviders(file(provider.origin), { keys: { key: secret }, logger })
    await using proxy = await proxyServer({ ...provider, ...written, logger })
    const echo = JSON.stringify({ error: { message: `Incorrect key ${secret}!` }, x: secret })
    const head = { 'x-echo': `key=${secret}`, 'x-request-id': secret }
    const answers: ReplayedAnswer[] = [
      { ...json(echo, 401), headers: head },
      { ...json(echo), headers: { ...head, 'content-type': `a/b; key=${secret}` } },
      { ...json(echo, 400), headers: { 'content-type': 'application/json' } },
      stream(`data: ${echo}\n\ndata: [DONE]\n\n`, 5),
      { ...stream(`data: ${echo}\n\n`, 7), cut: true },
      { status: 302, headers: { location: `${provider.origin}/?key=${secret}` }, pieces: [] },
    ]
    for (const [at, answer] of answers.entries()) {
      provider.answer(answer)
      const sent = { model: 'm', stream: at > 1 }
      const { body, headers } = await rawPost(
        `${proxy.origin}/v1/chat/completions`,
        sent,
        withScope,
      ).answer
      expect(JSON.stringify([headers, body.toString()]), String(at)).not.toContain(secret)
      if (at < 4) expect(body.toString().match(/\*{18}/g)).toHaveLength(2)
    }
    // A redirect is passed on, not followed: the key goes to the base URL alone.
    expect(provider.requests.every(({ url }) => url === '/v1/chat/completions')).toBe(true)
    await eventually('the records', () => proxy.exchanges.length === answers.length)
    const kept = [
      ...proxy.exchanges.map(({ facts, request, response }) => [
        JSON.stringify(facts),
        Buffer.from(request).toString(),
        Buffer.from(response).toString(),
      ]),
      ...[lines, (await proxy.metrics.expose()).body],
    ].flat()
    expect(kept.join('\n')).not.toContain(secret)
  })
})
