import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { testProvider } from '../support/provider.ts'
import { endingOf, goodHeaders, testProxy } from '../support/proxy.ts'
import { type RawAnswer, rawPost } from '../support/raw-post.ts'

const question = { model: 'm-1', messages: [{ role: 'user', content: 'hi' }] }
const { authorization } = goodHeaders

type Refusal = { status: number; type: string; code: string; says: RegExp; param?: string }

function expectRefusal(answer: RawAnswer, { status, type, code, says, param }: Refusal): void {
  expect(answer.status).toBe(status)
  const { error } = JSON.parse(answer.body.toString())
  expect(error).toMatchObject({ type, code, ...(param && { param }) })
  expect(error.message).toMatch(says)
  expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'type'])
  expect(answer.headers['content-type']).toMatch(/^application\/json/)
  expect(answer.headers['x-trace-id']).toMatch(/^[0-9a-f-]{36}$/)
  expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
}

const unrecorded: [string, Record<string, string | string[]>, Refusal][] = [
  [
    'no X-API-Key',
    { authorization },
    {
      status: 401,
      type: 'authentication_error',
      code: 'credentials_missing',
      says: /X-API-Key is missing/,
      param: 'X-API-Key',
    },
  ],
  [
    'a key that is wrong or revoked',
    { authorization, 'x-api-key': 'lt_wrong' },
    {
      status: 401,
      type: 'authentication_error',
      code: 'credentials_invalid',
      says: /X-API-Key/,
      param: 'X-API-Key',
    },
  ],
  [
    'a key without the scope',
    { authorization, 'x-api-key': 'lt_reader' },
    { status: 403, type: 'permission_error', code: 'permission_denied', says: /proxy:write/ },
  ],
  [
    'a key of an archived project',
    { authorization, 'x-api-key': 'lt_archived' },
    {
      status: 409,
      type: 'invalid_request_error',
      code: 'project_archived',
      says: /is archived/,
    },
  ],
  [
    'a key that can not be looked up',
    { authorization, 'x-api-key': 'lt_away' },
    { status: 503, type: 'api_error', code: 'store_unavailable', says: /store/i },
  ],
  [
    'two keys',
    { authorization, 'x-api-key': ['lt_valid', 'lt_valid'] },
    {
      status: 400,
      type: 'invalid_request_error',
      code: 'invalid_request',
      says: /more than once/,
      param: 'x-api-key',
    },
  ],
  [
    'two keys, of which the first is empty',
    { authorization, 'x-api-key': ['', 'lt_valid'] },
    {
      status: 400,
      type: 'invalid_request_error',
      code: 'invalid_request',
      says: /more than once/,
      param: 'x-api-key',
    },
  ],
]

describe('without a known key: refused, counted and not recorded', () => {
  test.each(unrecorded)('%s', async (_, headers, refusal) => {
    await using provider = await testProvider()
    await using proxy = await testProxy(provider)
    expectRefusal(await rawPost(proxy.chat, question, headers).answer, refusal)
    expect(provider.seen().total).toBe(0)
    expect(proxy.exchanges).toEqual([])
    expect((await proxy.metrics.expose()).body).toContain(
      `outcome="refused",error_type="${refusal.code}"} 1`,
    )
  })
})

const key = { 'x-api-key': 'lt_valid' }
const recorded: [string, Record<string, string | string[]>, Refusal][] = [
  [
    'no Authorization',
    key,
    {
      status: 401,
      type: 'authentication_error',
      code: 'provider_authorization_missing',
      says: /Authorization is missing/,
      param: 'Authorization',
    },
  ],
  [
    'an Authorization other than Bearer',
    { ...key, authorization: 'Basic c2VjcmV0OnNlY3JldA==' },
    {
      status: 401,
      type: 'authentication_error',
      code: 'provider_authorization_missing',
      says: /not of the Bearer scheme/,
    },
  ],
  [
    'an unknown provider',
    { ...goodHeaders, 'x-provider': 'provider_a' },
    {
      status: 400,
      type: 'invalid_request_error',
      code: 'unknown_provider',
      says: /"provider_a", expected one of openai, anthropic, gemini/,
      param: 'X-Provider',
    },
  ],
  [
    'another content type',
    { ...goodHeaders, 'content-type': 'text/plain' },
    {
      status: 415,
      type: 'invalid_request_error',
      code: 'unsupported_media_type',
      says: /got "text\/plain", expected application\/json/,
    },
  ],
  ...['X-Task-ID', 'X-Task-Name', 'X-Conversation-ID', 'X-User-ID'].map(
    (name): [string, Record<string, string>, Refusal] => [
      `${name} over its length`,
      { ...goodHeaders, [name]: 'i'.repeat(257) },
      {
        status: 400,
        type: 'invalid_request_error',
        code: 'invalid_request',
        says: new RegExp(`${name}: got 257 characters, expected at most 256`),
        param: name,
      },
    ],
  ),
  [
    'a control character in an id',
    { ...goodHeaders, 'X-Task-ID': 'a\tb' },
    {
      status: 400,
      type: 'invalid_request_error',
      code: 'invalid_request',
      says: /X-Task-ID: it contains a control character/,
    },
  ],
]

describe('with a valid key: refused and recorded', () => {
  test.each(recorded)('%s', async (_, headers, refusal) => {
    await using provider = await testProvider()
    await using proxy = await testProxy(provider)
    expectRefusal(await rawPost(proxy.chat, question, headers).answer, refusal)
    expect(provider.seen().total).toBe(0)
    const exchange = await proxy.recorded()
    expect(endingOf(exchange)).toEqual({
      outcome: 'refused',
      status_code: refusal.status,
      error_type: refusal.code,
    })
    expect(exchange.facts.content_state).toBe('dropped')
    expect(JSON.stringify(exchange.facts)).not.toMatch(/secret|c2VjcmV0|lt_valid/)
  })
})

describe('a body that is too large', () => {
  const settings = { body_bytes_max: 100_000 }
  const refusal: Refusal = {
    status: 413,
    type: 'invalid_request_error',
    code: 'body_too_large',
    says: /longer than 100000 bytes/,
  }

  test('as declared: the answer arrives although the client is still sending', async () => {
    await using provider = await testProvider()
    await using proxy = await testProxy({ ...provider, settings })
    const answer = await rawPost(proxy.chat, 'x'.repeat(150_000), goodHeaders).answer
    expectRefusal(answer, refusal)
    expect(answer.headers.connection).toBe('close')
    const { facts } = await proxy.recorded()
    expect(facts).toMatchObject({ outcome: 'refused', error_type: 'body_too_large' })
  })

  test('declared, and never sent: the answer comes at once and the connection closes', async () => {
    await using proxy = await testProxy({ settings })
    const answer = await exchange(proxy.url, [
      'POST /v1/chat/completions HTTP/1.1',
      'Host: h',
      'X-API-Key: lt_valid',
      'Authorization: Bearer k',
      'Content-Type: application/json',
      'Content-Length: 999999999999',
      '',
      '{',
    ])
    expect(answer).toMatch(/^HTTP\/1.1 413 /)
    expect(answer).toMatch(/"code":"body_too_large"/)
  })

  test('as counted, when it is chunked', async () => {
    await using provider = await testProvider()
    await using proxy = await testProxy({ ...provider, settings })
    const headers = { ...goodHeaders, 'transfer-encoding': 'chunked' }
    const answer = await rawPost(proxy.chat, 'x'.repeat(150_000), headers).answer
    expectRefusal(answer, refusal)
    expect(provider.seen().total).toBe(0)
    const { facts } = await proxy.recorded()
    expect(facts).toMatchObject({ outcome: 'refused', error_type: 'body_too_large' })
  })

  test('up to the limit it passes', async () => {
    await using provider = await testProvider()
    await using proxy = await testProxy({ ...provider, settings })
    const body = JSON.stringify({ ...question, user: '' })
    const padded = body.replace('"user":""', `"user":"${'x'.repeat(100_000 - body.length)}"`)
    expect((await rawPost(proxy.chat, padded, goodHeaders).answer).status).toBe(200)
  })
})

test('bodies of all calls together are bounded', async () => {
  await using provider = await testProvider({ script: { steps: [{ stall_before_headers: true }] } })
  await using proxy = await testProxy({ ...provider, settings: { body_bytes_inflight_max: 5000 } })
  const first = rawPost(proxy.chat, { ...question, user: 'x'.repeat(4000) }, goodHeaders)
  await bodyAt(provider, 1)
  const second = await rawPost(proxy.chat, { ...question, user: 'y'.repeat(4000) }, goodHeaders)
    .answer
  expectRefusal(second, { status: 503, type: 'api_error', code: 'overloaded', says: /in flight/ })
  expect(second.headers['retry-after']).toBe('1')
  first.leave()
  await proxy.recorded(1)
  provider.script({})
  const third = rawPost(proxy.chat, { ...question, user: 'z'.repeat(4000) }, goodHeaders)
  expect((await third.answer).status).toBe(200)
})

test('concurrent calls to a provider are bounded', async () => {
  await using provider = await testProvider({ script: { steps: [{ stall_before_headers: true }] } })
  await using proxy = await testProxy({ ...provider, settings: { upstream_connections_max: 1 } })
  const first = rawPost(proxy.chat, question, goodHeaders)
  await bodyAt(provider, 1)
  const second = await rawPost(proxy.chat, question, goodHeaders).answer
  expectRefusal(second, { status: 503, type: 'api_error', code: 'overloaded', says: /in flight/ })
  first.leave()
})

test('a key over its limit waits', async () => {
  await using provider = await testProvider()
  await using proxy = await testProxy({ ...provider, settings: { requests_per_minute: 2 } })
  const ask = () => rawPost(proxy.chat, question, goodHeaders).answer
  expect([(await ask()).status, (await ask()).status]).toEqual([200, 200])
  const third = await ask()
  expectRefusal(third, {
    status: 429,
    type: 'rate_limit_error',
    code: 'rate_limited',
    says: /2 calls per minute/,
  })
  expect(Number(third.headers['retry-after'])).toBeGreaterThan(0)
  expect(third.headers).toMatchObject({ 'ratelimit-limit': '2', 'ratelimit-remaining': '0' })
  expect(endingOf(await proxy.recorded(2))).toMatchObject({ outcome: 'refused', status_code: 429 })
})

describe('stopping', () => {
  test('drain waits for calls in flight and refuses new ones', async () => {
    await using provider = await testProvider({ script: { steps: [{ delay_ms: 100 }] } })
    await using proxy = await testProxy(provider)
    const running = rawPost(proxy.chat, question, goodHeaders)
    await bodyAt(provider, 1)
    let drained = false
    const drain = proxy.proxy.drain().then(() => {
      drained = true
    })
    const late = await rawPost(proxy.chat, question, goodHeaders).answer
    expectRefusal(late, {
      status: 503,
      type: 'api_error',
      code: 'shutting_down',
      says: /stopping/,
    })
    expect(late.headers).toMatchObject({ connection: 'close', 'retry-after': '1' })
    expect(drained).toBe(false)
    expect((await running.answer).status).toBe(200)
    await drain
    expect((await proxy.recorded()).facts.outcome).toBe('complete')
  })

  test('an idle proxy is drained at once', async () => {
    await using proxy = await testProxy()
    await proxy.proxy.drain()
  })
})

describe('invalid HTTP', () => {
  const start = ['POST /v1/chat/completions HTTP/1.1', 'Host: h', 'X-API-Key: lt_valid']
  test.each([
    ['two content lengths', [...start, 'Content-Length: 1', 'Content-Length: 2', '', 'xx'], 400],
    [
      'a length and chunks',
      [...start, 'Content-Length: 1', 'Transfer-Encoding: chunked', '', '0', '', ''],
      400,
    ],
    ['a bare carriage return in a header', [...start, 'X-Task-ID: a\rX-User-ID: b', '', ''], 400],
    ['a line feed before a header name', [...start, 'X-Task-ID: a\n X-User-ID: b', '', ''], 400],
    ['a space before the colon', [...start, 'X-Task-ID : a', '', ''], 400],
    ['headers that are too large', [...start, `X-Task-ID: ${'a'.repeat(20_000)}`, '', ''], 431],
    ['no HTTP at all', ['hello', '', ''], 400],
  ])('%s', async (_, lines, status) => {
    await using proxy = await testProxy()
    const answer = await exchange(proxy.url, lines)
    expect(answer.split(' ')[1]).toBe(String(status))
    expect(answer).toMatch(/\r\nConnection: close\r\n/)
    expect(answer).toMatch(/\r\nX-Request-ID: [0-9a-f-]{36}\r\n/)
    const { error } = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))
    expect(error.type).toBe('invalid_request_error')
    expect((await proxy.metrics.expose()).body).toContain(
      `looptrace_proxy_malformed_requests_total{status="${status}"} 1`,
    )
    expect(proxy.exchanges).toEqual([])
  })
})

/** Writes these lines to the server and reads to the end of the connection. */
async function exchange(url: string, lines: readonly string[]): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.write(lines.join('\r\n'))
  return text(socket)
}

async function bodyAt(
  provider: Awaited<ReturnType<typeof testProvider>>,
  total: number,
): Promise<void> {
  await eventually(`${total} requests at the provider`, () =>
    provider
      .seen()
      .requests.some(({ number, body_at_ms }) => number === total && body_at_ms !== null),
  )
}
