import { describe, expect, test } from 'vitest'
import type { ScriptedProvider } from '../../src/capabilities/demo/index.ts'
import { testProvider } from '../support/provider.ts'
import { endingOf, goodHeaders, projectId, testProxy } from '../support/proxy.ts'
import { rawPost } from '../support/raw-post.ts'
import { rawUpstream } from '../support/raw-upstream.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const eventStream = 'Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
const question = { model: 'm-1', messages: [{ role: 'user', content: 'Grüße ✓' }] }

test('a completion passes through unchanged and is recorded', async () => {
  await using provider = await testProvider({
    script: { steps: [{ reply: { content: 'Hallo 📦', headers: { 'x-request-id': 'req-7' } } }] },
  })
  await using proxy = await testProxy(provider)
  const body = `${JSON.stringify(question)}\n`
  const answer = await rawPost(proxy.chat, body, goodHeaders).answer

  const seen = provider.seen().requests[0]
  expect(seen?.body.toString()).toBe(body)
  expect(seen?.path).toBe('/v1/chat/completions')
  expect(answer.status).toBe(200)
  expect(JSON.parse(answer.body.toString()).choices[0].message.content).toBe('Hallo 📦')
  expect(answer.headers['x-trace-id']).toMatch(uuid)
  expect(answer.headers['x-request-id']).toBe('req-7')

  const { facts, request, response } = await proxy.recorded()
  expect(Buffer.from(request).toString()).toBe(body)
  expect(Buffer.from(response).equals(answer.body)).toBe(true)
  expect(facts).toMatchObject({
    project_id: projectId,
    trace_id: answer.headers['x-trace-id'],
    parent_observation_id: '',
    endpoint: 'chat.completions',
    provider: 'openai',
    outcome: 'complete',
    status_code: 200,
    error_type: '',
    streamed: false,
    usage_requested_by_us: false,
    request_bytes: Buffer.byteLength(body),
    response_bytes: answer.body.length,
    response_encoding: '',
    content_state: 'full',
    task_id: '',
    environment: 'test',
    attributes: { 'provider.request_id': 'req-7' },
  })
  expect(facts.observation_id).toMatch(/^[0-9a-f]{16}$/)
  expect(facts.response_type).toMatch(/^application\/json/)
  expect(Number(facts.end_time)).toBeGreaterThanOrEqual(Number(facts.start_time))
  // An answer in one piece has no first token.
  expect(facts.first_token_time).toBeNull()
})

test('each provider and each endpoint has its own path, and a query is passed on', async () => {
  await using provider = await testProvider()
  await using proxy = await testProxy(provider)
  const ask = (path: string, name: string) =>
    rawPost(`${proxy.url}${path}`, question, { ...goodHeaders, 'x-provider': name }).answer
  await ask('/v1/chat/completions?api-version=1', 'openai')
  await ask('/v1/chat/completions', 'Anthropic')
  await ask('/v1/chat/completions', ' gemini ')
  await rawPost(`${proxy.url}/v1/completions`, { model: 'm', prompt: 'x' }, goodHeaders).answer
  const { requests } = provider.seen()
  expect(requests.map((request) => request.provider)).toEqual([
    'openai',
    'anthropic',
    'gemini',
    'openai',
  ])
  expect(requests[3]?.path).toBe('/v1/completions')
  await proxy.recorded(3)
  expect(proxy.exchanges.map(({ facts }) => [facts.provider, facts.endpoint])).toEqual([
    ['openai', 'chat.completions'],
    ['anthropic', 'chat.completions'],
    ['gemini', 'chat.completions'],
    ['openai', 'completions'],
  ])
})

describe('request headers', () => {
  test('ours, hop-by-hop ones and those that Connection names are removed; others pass', async () => {
    await using provider = await testProvider()
    await using proxy = await testProxy(provider)
    await rawPost(proxy.chat, question, {
      ...goodHeaders,
      'X-Provider': 'openai',
      'X-Task-ID': 't',
      'X-Task-Name': 'n',
      'X-Task-Else': 'e',
      'X-Conversation-ID': 'c',
      'X-User-ID': 'u',
      'Accept-Encoding': 'gzip',
      Baggage: 'a=b',
      Connection: 'close, X-Hop',
      'X-Hop': 'h',
      'Proxy-Authorization': 'p',
      TE: 'trailers',
      'OpenAI-Organization': 'Org-1',
      'X-Request-ID': 'mine',
      'X-Twice': ['one', 'two'],
      Tracestate: 'a=1',
    }).answer
    const sent = provider.seen().requests[0]?.headers ?? []
    const names = sent.map(([name]) => name.toLowerCase())
    expect(names.filter((name) => /^(x-task|x-conv|x-user|x-prov|x-api|x-hop)/.test(name))).toEqual(
      [],
    )
    for (const name of ['accept-encoding', 'baggage', 'proxy-authorization', 'te', 'expect']) {
      expect(names).not.toContain(name)
    }
    expect(sent).toContainEqual(['authorization', 'Bearer provider-secret'])
    expect(sent).toContainEqual(['OpenAI-Organization', 'Org-1'])
    expect(sent).toContainEqual(['X-Request-ID', 'mine'])
    expect(sent).toContainEqual(['X-Twice', 'one'])
    expect(sent).toContainEqual(['X-Twice', 'two'])
    expect(sent).toContainEqual(['Tracestate', 'a=1'])
    expect(names.filter((name) => name === 'host')).toHaveLength(1)
    expect(names.filter((name) => name === 'content-length')).toHaveLength(1)
  })

  test('those about the client and its browser are removed', async () => {
    await using provider = await testProvider()
    await using proxy = await testProxy(provider)
    for (const body of [question, { ...question, stream: true }]) {
      await rawPost(proxy.chat, body, {
        ...goodHeaders,
        cookie: ['__Host-looptrace_session=lts_secret', 'other=1'],
        Cookie2: '$Version=1',
        Forwarded: 'for=10.1.2.3;host=internal.test',
        'X-Forwarded-For': ['10.1.2.3', '10.1.2.4'],
        'x-forwarded-host': 'internal.test',
        'X-FORWARDED-PROTO': 'https',
        'X-Forwarded-Client-Cert': 'Hash=1',
        'X-Forwarded': 'for=10.1.2.3',
        'X-Real-IP': '10.1.2.3',
        'X-Client-IP': '10.1.2.3',
        'X-Original-Forwarded-For': '10.1.2.3',
        'CF-Connecting-IP': '10.1.2.3',
        'True-Client-IP': '10.1.2.3',
        'CF-Connecting-IPv6': '2001:db8::10.1.2.3',
        'Fastly-Client-IP': '10.1.2.3',
        'Fly-Client-IP': '10.1.2.3',
        'X-Envoy-External-Address': '10.1.2.3',
        'X-Azure-ClientIP': '10.1.2.3',
        'X-Vercel-Forwarded-For': '10.1.2.3',
        X_Forwarded_For: '10.1.2.3',
        'X-Forwarded_Host': 'internal.test',
        'X-Original-URL': 'https://internal.test/',
        'X-Forward': 'kept',
      }).answer
    }
    const { requests } = provider.seen()
    expect(requests).toHaveLength(2)
    for (const { headers } of requests) {
      const text = JSON.stringify(headers)
      expect(text).not.toMatch(
        /10\.1\.2\.|internal\.test|lts_secret|other=1|Version|Hash=1|cookie/i,
      )
      expect(headers).toContainEqual(['X-Forward', 'kept'])
    }
  })

  test('those in which a proxy in front names the signed-in person are removed', async () => {
    await using provider = await testProvider()
    await using proxy = await testProxy(provider)
    const names = [
      ...['Cf-Access-Jwt-Assertion', 'X-Amzn-Oidc-Accesstoken', 'X-Amzn-Oidc-Data'],
      ...['X-Auth-Request-Access-Token', 'X-Auth-Request-Email', 'X-Goog-IAP-JWT-Assertion'],
      ...['X-MS-Client-Principal', 'X-MS-TOKEN-AAD-ID-TOKEN'],
    ]
    const of_person = Object.fromEntries(names.map((name) => [name, 'token-of-ann']))
    await rawPost(proxy.chat, question, { ...goodHeaders, ...of_person }).answer
    expect(JSON.stringify(provider.seen().requests[0]?.headers)).not.toContain('token-of-ann')
  })

  test('context is recorded, in UTF-8 too', async () => {
    await using provider = await testProvider()
    await using proxy = await testProxy(provider)
    const utf8 = Buffer.from('Über 📦').toString('latin1')
    await fetch(proxy.chat, {
      method: 'POST',
      body: JSON.stringify(question),
      headers: {
        ...goodHeaders,
        'Content-Type': 'application/json; charset=utf-8',
        'X-Task-ID': ' task 1 ',
        'X-Task-Name': utf8,
        'X-Conversation-ID': 'c'.repeat(256),
        'X-User-ID': 'caf\xe9',
      },
    })
    expect((await proxy.recorded()).facts).toMatchObject({
      task_id: 'task 1',
      task_name: 'Über 📦',
      conversation_id: 'c'.repeat(256),
      user_id: 'café',
    })
  })

  test('traceparent is the parent; trace headers are recorded', async () => {
    await using provider = await testProvider()
    await using proxy = await testProxy(provider)
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    const answer = await rawPost(proxy.chat, question, {
      ...goodHeaders,
      traceparent,
      tracestate: ['a=1', 'b=2'],
      baggage: 'user=7',
    }).answer
    expect(answer.headers['x-trace-id']).toBe('4bf92f35-77b3-4da6-a3ce-929d0e0e4736')
    const { facts } = await proxy.recorded()
    expect(facts).toMatchObject({
      trace_id: '4bf92f35-77b3-4da6-a3ce-929d0e0e4736',
      parent_observation_id: '00f067aa0ba902b7',
      attributes: {
        'w3c.traceparent': traceparent,
        'w3c.tracestate': 'a=1, b=2',
        'w3c.baggage': 'user=7',
      },
    })
    expect(sentTo(provider)).toMatchObject({
      traceparent: `00-4bf92f3577b34da6a3ce929d0e0e4736-${facts.observation_id}-01`,
      tracestate: 'b=2',
    })
  })

  test('without traceparent, the trace of the record goes to the provider', async () => {
    await using provider = await testProvider()
    await using proxy = await testProxy(provider)
    await rawPost(proxy.chat, question, goodHeaders).answer
    const { facts } = await proxy.recorded()
    const trace = facts.trace_id.replaceAll('-', '')
    expect(sentTo(provider)['traceparent']).toBe(`00-${trace}-${facts.observation_id}-01`)
  })

  test('an invalid traceparent starts a new trace and is still recorded', async () => {
    await using provider = await testProvider()
    await using proxy = await testProxy(provider)
    const headers = { ...goodHeaders, traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` }
    const answer = await rawPost(proxy.chat, question, headers).answer
    expect(answer.headers['x-trace-id']).toMatch(uuid)
    const { facts } = await proxy.recorded()
    expect(facts.parent_observation_id).toBe('')
    expect(facts.attributes['w3c.traceparent']).toBe(headers.traceparent)
    expect(sentTo(provider)['traceparent']).toContain(facts.observation_id)
  })

  test('a key that is looked up asynchronously works the same', async () => {
    await using provider = await testProvider()
    await using proxy = await testProxy(provider)
    const headers = { ...goodHeaders, 'x-api-key': 'lt_slow' }
    const answer = await rawPost(proxy.chat, question, headers).answer
    expect(answer.status).toBe(200)
  })
})

/** The headers that the provider got with the first call; of repeated ones, the last. */
function sentTo(provider: ScriptedProvider): Record<string, string> {
  return Object.fromEntries(provider.seen().requests[0]?.headers ?? [])
}

describe('answer headers', () => {
  test('a generated request id is added if the provider sent none', async () => {
    await using upstream = await rawUpstream((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}')
    })
    await using proxy = await testProxy(upstream)
    const answer = await rawPost(proxy.chat, question, goodHeaders).answer
    expect(answer.body.toString()).toBe('{}')
    expect(answer.headers['x-request-id']).toMatch(uuid)
    expect((await proxy.recorded()).facts.attributes).toEqual({})
  })

  test('the provider’s pass except for hop-by-hop ones', async () => {
    const headers = {
      'Retry-After': '3',
      'X-RateLimit-Remaining': '0',
      'x-trace-id': 'forged',
      connection: 'x-internal',
      'x-internal': 'hidden',
      'set-cookie': 'a=1',
    }
    await using provider = await testProvider({
      script: { steps: [{ reply: { error: { status: 429, headers } } }] },
    })
    await using proxy = await testProxy(provider)
    const answer = await rawPost(proxy.chat, question, goodHeaders).answer
    expect(answer.status).toBe(429)
    expect(answer.headers).toMatchObject({ 'retry-after': '3', 'x-ratelimit-remaining': '0' })
    expect(answer.headers['x-internal']).toBeUndefined()
    expect(answer.headers['set-cookie']).toBeUndefined()
    expect(answer.headers['x-trace-id']).toMatch(uuid)
    expect(endingOf(await proxy.recorded())).toEqual({
      outcome: 'provider_error',
      status_code: 429,
      error_type: '429',
    })
  })
})

test.each([
  ['a whole answer', question, 'Content-Length: 2\r\n\r\n{}'],
  ['a stream', { ...question, stream: true }, `${eventStream}e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n`],
])('no cookie of a provider comes with %s', async (_name, body, rest) => {
  await using upstream = await rawUpstream((socket) => {
    const cookies = 'Set-Cookie: a=1\r\nset-cookie: __Host-looptrace_session=x; Path=/\r\n'
    const site = 'Set-Cookie2: b=2\r\nClear-Site-Data: "*"\r\nOpenAI-Version: 1\r\n'
    socket.write(`HTTP/1.1 200 OK\r\n${cookies}${site}${rest}`)
  })
  await using proxy = await testProxy(upstream)
  const answer = await rawPost(proxy.chat, body, goodHeaders).answer
  expect(answer.status).toBe(200)
  expect(Object.keys(answer.headers).filter((name) => /cookie|clear/.test(name))).toEqual([])
  expect(answer.headers['openai-version']).toBe('1')
})

test('no header of a provider changes what browsers store of our site, or lets pages read', async () => {
  const names = [
    ...['Strict-Transport-Security', 'Alt-Svc', 'NEL', 'Report-To', 'Reporting-Endpoints'],
    ...['Accept-CH', 'Public-Key-Pins', 'Access-Control-Allow-Origin'],
    ...['Access-Control-Allow-Credentials', 'Access-Control-Expose-Headers'],
  ]
  await using upstream = await rawUpstream((socket) => {
    const lines = names.map((name) => `${name}: of-the-provider\r\n`).join('')
    socket.write(`HTTP/1.1 200 OK\r\n${lines}OpenAI-Version: 1\r\nContent-Length: 2\r\n\r\n{}`)
  })
  await using proxy = await testProxy(upstream)
  const answer = await rawPost(proxy.chat, question, goodHeaders).answer
  expect(Object.values(answer.headers)).not.toContain('of-the-provider')
  expect(answer.headers['openai-version']).toBe('1')
})

describe('a provider’s error passes through unchanged', () => {
  test.each([400, 401, 404, 429, 500, 503])('%i', async (status) => {
    await using provider = await testProvider({
      script: { steps: [{ reply: { error: { status } } }] },
    })
    await using proxy = await testProxy(provider)
    const direct = await rawPost(
      `${provider.base_urls.openai}/chat/completions`,
      question,
      goodHeaders,
    ).answer
    const answer = await rawPost(proxy.chat, question, goodHeaders).answer
    expect(answer.status).toBe(status)
    expect(answer.body.equals(direct.body)).toBe(true)
    expect(answer.headers['x-should-retry']).toBe(direct.headers['x-should-retry'])
    const exchange = await proxy.recorded()
    expect(endingOf(exchange)).toMatchObject({ outcome: 'provider_error', status_code: status })
    expect(Buffer.from(exchange.response).equals(direct.body)).toBe(true)
  })
})

test('a compressed answer is passed on and recorded unchanged', async () => {
  await using provider = await testProvider({ script: { steps: [{ gzip: true }] } })
  await using proxy = await testProxy(provider)
  const answer = await rawPost(proxy.chat, question, goodHeaders).answer
  expect(answer.headers['content-encoding']).toBe('gzip')
  const { facts, response } = await proxy.recorded()
  expect(facts.response_encoding).toBe('gzip')
  expect(Buffer.from(response).equals(answer.body)).toBe(true)
})

test.each([
  ['deeply nested', '['.repeat(100_000) + ']'.repeat(100_000)],
  ['with __proto__', '{"__proto__":{"stream":true},"constructor":{"prototype":{}},"model":"m"}'],
  ['no JSON', 'garbage \u0000 "stream": true'],
  ['empty', ''],
])('a body that is %s is passed on as bytes', async (_, body) => {
  await using provider = await testProvider()
  await using proxy = await testProxy(provider)
  const direct = await rawPost(`${provider.base_urls.openai}/chat/completions`, body).answer
  const answer = await rawPost(proxy.chat, body, goodHeaders).answer
  expect(answer.status).toBe(direct.status)
  const { facts, request } = await proxy.recorded()
  expect(facts.outcome).toBe(direct.status >= 400 ? 'provider_error' : 'complete')
  expect(Buffer.from(request).toString()).toBe(body)
})

test('a request above the capture bound is passed on and recorded without its body', async () => {
  await using provider = await testProvider()
  await using proxy = await testProxy({
    ...provider,
    settings: { capture_request_bytes_max: 1000 },
  })
  const body = JSON.stringify({ ...question, user: 'u'.repeat(2000) })
  const answer = await rawPost(proxy.chat, body, goodHeaders).answer
  expect(answer.status).toBe(200)
  expect(provider.seen().requests[0]?.body_bytes).toBe(Buffer.byteLength(body))
  const { facts, request, response } = await proxy.recorded()
  expect(facts).toMatchObject({ content_state: 'dropped', request_bytes: Buffer.byteLength(body) })
  expect(request).toHaveLength(0)
  expect(Buffer.from(response).equals(answer.body)).toBe(true)
})

test('of an answer above the capture bound, head and tail are recorded', async () => {
  const content = 'x'.repeat(300_000)
  await using provider = await testProvider({ script: { steps: [{ reply: { content } }] } })
  await using proxy = await testProxy({
    ...provider,
    settings: { capture_response_bytes_max: 1000 },
  })
  const answer = await rawPost(proxy.chat, question, goodHeaders).answer
  const { facts, response } = await proxy.recorded()
  expect(facts).toMatchObject({
    content_state: 'truncated',
    response_bytes: answer.body.length,
    outcome: 'complete',
  })
  const kept = Buffer.concat([answer.body.subarray(0, 1000), answer.body.subarray(-65_536)])
  expect(Buffer.from(response).equals(kept)).toBe(true)
})

test('calls are counted by outcome', async () => {
  await using provider = await testProvider()
  await using proxy = await testProxy(provider)
  await rawPost(proxy.chat, question, goodHeaders).answer
  await rawPost(proxy.chat, question).answer
  await proxy.recorded()
  const { body } = await proxy.metrics.expose()
  expect(body).toContain(
    'looptrace_proxy_calls_total{endpoint="chat.completions",provider="openai",outcome="complete"} 1',
  )
  expect(body).toContain('outcome="refused",error_type="credentials_missing"} 1')
  expect(body).toContain('looptrace_proxy_in_flight_calls 0')
})
