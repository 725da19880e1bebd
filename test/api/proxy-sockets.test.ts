import { setImmediate as turn } from 'node:timers/promises'
import OpenAI from 'openai'
import { ResponsesWS } from 'openai/resources/responses/ws'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { ProjectKeys } from '../../src/capabilities/edge/proxy/index.ts'
import { exchangeToRecords } from '../../src/capabilities/records/exchanges/index.ts'
import { createPricing } from '../../src/capabilities/records/pricing/index.ts'
import type { Exchange } from '../../src/model/exchange.ts'
import { defineRoute } from '../../src/platform/http/index.ts'
import { openOutbound } from '../../src/platform/outbound/index.ts'
import { writtenProviders } from '../support/providers-file.ts'
import { endingOf, goodHeaders } from '../support/proxy.ts'
import { proxyServer } from '../support/proxy-server.ts'
import { rawPost } from '../support/raw-post.ts'
import { replayingProvider } from '../support/replaying-provider.ts'
import {
  openSocket,
  RefusedSocket,
  responseEvents,
  type SocketProvider,
  socketProvider,
} from '../support/socket-provider.ts'

const create = (more: object = {}) =>
  JSON.stringify({ type: 'response.create', model: 'gpt-5-mini', input: 'Say hello.', ...more })
const complete = { outcome: 'complete', status_code: 200, error_type: '' }
const events = responseEvents('resp_1', 'Hello')

function observationOf(exchange: Exchange | undefined) {
  if (exchange === undefined) throw new Error('no record')
  const context = { pricing: createPricing(), countTokens: () => 1, response_bytes_max: 1e8 }
  return exchangeToRecords(exchange, context).observations[0]
}

async function refusalOf(opening: Promise<unknown>): Promise<RefusedSocket> {
  const error = await opening.then(
    () => undefined,
    (cause: unknown) => cause,
  )
  if (error instanceof RefusedSocket) return error
  throw new Error('the socket opened', { cause: error })
}

describe('calls of a socket', () => {
  test('of the openai client: two calls are two records with usage', async () => {
    await using provider = await socketProvider()
    await using proxy = await proxyServer(provider)
    const openai = new OpenAI({ apiKey: 'sk-theirs', baseURL: `${proxy.origin}/v1` })
    const headers = { 'X-API-Key': 'lt_valid', 'X-Task-ID': 'task-1' }
    const socket = new ResponsesWS(openai, { headers })
    for (const index of [0, 1]) {
      const done = new Promise((resolve, reject) => {
        socket.once('response.completed', resolve)
        socket.once('error', reject)
      })
      socket.send({ type: 'response.create', model: 'gpt-5-mini', input: 'Say hello.' })
      await done
      await proxy.recorded(index)
    }
    socket.close()
    expect(proxy.exchanges).toHaveLength(2)
    for (const exchange of proxy.exchanges) {
      expect(endingOf(exchange)).toEqual(complete)
      expect(exchange.facts.content_state).toBe('full')
      expect(observationOf(exchange)).toMatchObject({
        model: 'gpt-5-mini',
        status: 'ok',
        streamed: true,
        task_id: 'task-1',
        response_id: 'resp_1',
        finish_reason: 'stop',
        output: '[{"role":"assistant","content":"Hello"}]',
        usage_source: 'provider',
        output_visible_tokens: 3,
      })
    }
    const [first, second] = proxy.exchanges
    expect(first?.facts.observation_id).not.toBe(second?.facts.observation_id)
    expect(first?.facts.trace_id).not.toBe(second?.facts.trace_id)
    const [sent] = provider.requests
    expect(sent?.headers).toMatchObject({ authorization: 'Bearer sk-theirs' })
    expect(JSON.stringify([sent?.rawHeaders, sent?.url])).not.toContain('lt_')
  })

  test('messages, control frames and close frames pass unchanged', async () => {
    await using provider = await socketProvider((socket, message) => socket.send(message))
    await using proxy = await proxyServer(provider)
    const headers = { ...goodHeaders, 'OpenAI-Beta': 'responses_websockets=2026-02-06' }
    const options = { protocols: ['realtime', 'other'], path: '/openai/v1/responses?a=1' }
    const client = await openSocket(proxy.origin, headers, options)
    const [sent] = provider.requests
    expect(sent?.url).toBe('/v1/responses?a=1')
    expect(sent?.headers['openai-beta']).toBe('responses_websockets=2026-02-06')
    expect(sent?.headers['sec-websocket-extensions']).toBeUndefined()
    expect(client.socket.protocol).toBe('realtime')
    const [socket] = provider.sockets
    const pinged = new Promise((resolve) => socket?.once('ping', resolve))
    client.socket.ping('from the client')
    expect(String(await pinged)).toBe('from the client')
    const ponged = new Promise((resolve) => socket?.once('pong', resolve))
    socket?.ping('from the provider')
    expect(String(await ponged)).toBe('from the provider')
    const large = JSON.stringify({ type: 'other', text: 'é'.repeat(70_000) })
    client.socket.send('[1]')
    client.socket.send('{"type":', { fin: false })
    client.socket.send('"in parts"}')
    client.socket.send(large)
    client.socket.send(Buffer.from([0, 1, 2]), { binary: true })
    const echoed = ['[1]', '{"type":"in parts"}', large, '\u0000\u0001\u0002']
    expect(await client.got(4)).toEqual(echoed)
    socket?.close(4_001, 'a reason')
    expect(await client.closed).toEqual({ code: 4_001, reason: 'a reason' })
    expect(proxy.exchanges).toEqual([])
  })

  test.each([
    ['escapes in its type', create().replace('response.create', 'response.\\u0063reate')],
    ['another type before', create().replace('{', '{"type":"other",')],
    [
      'what only some parsers read',
      create({ type: 1 }).replace(':1', ':"response.\\u0063reate","n":NaN'),
    ],
  ])('a message with %s is a call, as the provider reads it', async (_, message) => {
    await using provider = await socketProvider((socket) => {
      for (const event of events) socket.send(event)
    })
    await using proxy = await proxyServer(provider)
    const client = await openSocket(proxy.origin, goodHeaders)
    client.socket.send(message)
    const { facts } = await proxy.recorded()
    expect([facts.endpoint, provider.messages]).toEqual(['responses', [message]])
  })

  test('invalid frames of the provider are its fault, not that of the client', async () => {
    await using provider = await socketProvider((socket) => {
      const wire: { write(bytes: Buffer): void } = Reflect.get(socket, '_socket')
      // The bit of a compressed message, although no compression was agreed.
      wire.write(Buffer.from([0xc1, 0x01, 0x20]))
    })
    await using proxy = await proxyServer(provider)
    const client = await openSocket(proxy.origin, goodHeaders)
    client.socket.send(create())
    const fault = { outcome: 'upstream_cut', error_type: 'provider_cut' }
    expect(endingOf(await proxy.recorded())).toMatchObject(fault)
    expect((await client.closed).code).toBe(1006)
  })

  test('a message of 10 MB passes, and is recorded without its content', async () => {
    await using provider = await socketProvider()
    await using proxy = await proxyServer(provider)
    const client = await openSocket(proxy.origin, goodHeaders)
    const message = create({ instructions: 'x'.repeat(10_000_000) })
    client.socket.send(message)
    const { facts, request } = await proxy.recorded()
    expect(facts).toMatchObject({ request_bytes: message.length, content_state: 'dropped' })
    expect([request.length, provider.messages[0] === message]).toEqual([0, true])
  })

  test('calls that run at the same time keep their events', async () => {
    const order = [0, 0, 1, 0, 1, 1]
    const streams = ['a', 'b']
    const answers = streams.map((stream_id, index) =>
      responseEvents(`resp_${index}`, `Hello ${index}`).map((event) =>
        JSON.stringify({ ...JSON.parse(event), stream_id }),
      ),
    )
    await using provider = await socketProvider((socket) => {
      if (provider.messages.length < 2) return
      for (const index of order) socket.send(answers[index]?.shift() ?? '')
    })
    await using proxy = await proxyServer(provider)
    const client = await openSocket(proxy.origin, goodHeaders)
    for (const stream_id of streams) client.socket.send(create({ stream_id }))
    await proxy.recorded(1)
    const outputs = proxy.exchanges.map((one) => observationOf(one)?.response_id)
    expect(outputs).toEqual(['resp_0', 'resp_1'])
    expect(proxy.exchanges.map((one) => endingOf(one))).toEqual([complete, complete])
  })

  test('an error of the provider ends the call that it refuses', async () => {
    const error = { type: 'invalid_request_error', code: 'busy', message: 'one at a time' }
    await using provider = await socketProvider((socket) => {
      if (provider.messages.length === 1) socket.send(events[0] ?? '')
      else if (provider.messages.length === 2) {
        socket.send(JSON.stringify({ type: 'error', status: 400, error }))
      } else for (const event of events.slice(1)) socket.send(event)
    })
    await using proxy = await proxyServer(provider)
    const client = await openSocket(proxy.origin, goodHeaders)
    client.socket.send(create())
    await client.got(1)
    client.socket.send(create({ input: 'And again.' }))
    const refused = await proxy.recorded(0)
    client.socket.send(JSON.stringify({ type: 'response.cancel' }))
    const answered = await proxy.recorded(1)
    expect(endingOf(refused)).toEqual({
      ...{ outcome: 'provider_error', status_code: 400, error_type: '400' },
    })
    expect(refused.request.toString()).toContain('And again.')
    expect(observationOf(refused)).toMatchObject({ status: 'error' })
    expect(endingOf(answered)).toEqual(complete)
  })
})

test('calls of two projects are records of their own projects', async () => {
  const scopes = new Set(['proxy:write'] as const)
  const keys: ProjectKeys = {
    authenticate: (key) => ({ key_id: key, project_id: `project of ${key}`, scopes }),
  }
  await using provider = await socketProvider()
  await using proxy = await proxyServer({ ...provider, keys })
  const sent = ['lt_one', 'lt_two']
  const clients = await Promise.all(
    sent.map((key) => openSocket(proxy.origin, { ...goodHeaders, 'x-api-key': key })),
  )
  for (const client of clients) client.socket.send(create())
  await proxy.recorded(1)
  const owners = proxy.exchanges.map(({ facts }) => [facts.key_id, facts.project_id])
  expect(owners.sort()).toEqual(sent.map((key) => [key, `project of ${key}`]))
})

describe('a connection that ends after any number of messages leaves one record for each call', () => {
  const counts = [0, 1, 2, 3]
  const answering = (count: number) =>
    socketProvider((socket) => {
      for (const event of events.slice(0, count)) socket.send(event)
    })
  const ended = (outcome: string, error_type: string, status_code: number) => ({
    ...{ outcome, error_type, status_code },
  })

  test.each(counts)('the client leaves after %i', async (count) => {
    await using provider = await answering(count)
    await using proxy = await proxyServer(provider)
    const client = await openSocket(proxy.origin, goodHeaders)
    client.socket.send(create())
    await client.got(count)
    await expect.poll(() => provider.messages.length).toBe(1)
    client.socket.terminate()
    const record = await proxy.recorded()
    const gone = ended('client_gone', 'client_gone', count === 0 ? 499 : 200)
    expect(endingOf(record)).toEqual(count === 3 ? complete : gone)
    await proxy.proxy.drain()
    expect(proxy.exchanges).toHaveLength(1)
  })

  test.each(counts)('the provider leaves after %i', async (count) => {
    await using provider = await answering(count)
    await using proxy = await proxyServer(provider)
    const client = await openSocket(proxy.origin, goodHeaders)
    client.socket.send(create())
    await client.got(count)
    await expect.poll(() => provider.messages.length).toBe(1)
    provider.sockets[0]?.terminate()
    expect(await client.closed).toMatchObject({ code: 1006 })
    const cut = ended('upstream_cut', 'provider_cut', count === 0 ? 502 : 200)
    expect(endingOf(await proxy.recorded())).toEqual(count === 3 ? complete : cut)
    expect(proxy.exchanges).toHaveLength(1)
  })
})

test.each(['/responses', '/openai/v1/responses', '/v1/v1/responses', '/k/lt_valid/v1/responses'])(
  'a socket opens at %s',
  async (path) => {
    await using provider = await socketProvider()
    await using proxy = await proxyServer(provider)
    const headers = path.startsWith('/k/') ? { authorization: 'Bearer sk-theirs' } : goodHeaders
    const client = await openSocket(proxy.origin, headers, { path })
    client.socket.send(create())
    expect(await client.got(3)).toEqual(events)
    client.socket.close()
  },
)

describe('refused before the socket opens, in the shape of OpenAI', () => {
  const cases: [sent: Record<string, string>, status: number, code: string][] = [
    [{ authorization: 'Bearer sk-1' }, 401, 'credentials_missing'],
    [{ ...goodHeaders, 'x-api-key': 'lt_wrong' }, 401, 'credentials_invalid'],
    [{ ...goodHeaders, 'x-api-key': 'lt_reader' }, 403, 'permission_denied'],
    [{ 'x-api-key': 'lt_valid' }, 401, 'provider_authorization_missing'],
    [{ ...goodHeaders, 'x-provider': 'anthropic' }, 400, 'format_unsupported'],
    [{ ...goodHeaders, 'x-provider': 'none' }, 400, 'unknown_provider'],
    [{ ...goodHeaders, 'x-api-key': 'lt_away' }, 503, 'store_unavailable'],
  ]
  test.each(cases)('%j', async (headers, status, code) => {
    await using provider = await socketProvider()
    await using proxy = await proxyServer(provider)
    const refusal = await refusalOf(openSocket(proxy.origin, headers))
    expect([refusal.status, JSON.parse(refusal.body).error.code]).toEqual([status, code])
    expect(provider.requests).toEqual([])
    expect(proxy.exchanges).toEqual([])
  })

  test('another path, and a GET without an upgrade', async () => {
    await using proxy = await proxyServer()
    const path = '/v1/chat/completions'
    const unknown = await refusalOf(openSocket(proxy.origin, goodHeaders, { path }))
    expect([unknown.status, JSON.parse(unknown.body).error.code]).toEqual([
      405,
      'method_not_allowed',
    ])
    const plain = await fetch(`${proxy.origin}/v1/responses`, { headers: goodHeaders })
    expect([plain.status, await plain.json()]).toMatchObject([400, { error: { param: 'Upgrade' } }])
  })

  test.each([
    ['/v1/models', 400, 'invalid_request'],
    ['/v1/responses/resp_1', 400, 'invalid_request'],
    ['/v1/files/file-1/content', 400, 'invalid_request'],
    ['/k/lt_valid/v1/models', 400, 'invalid_request'],
    ['/openai/v1/models', 400, 'invalid_request'],
    ['/v1/realtime?model=m', 404, 'route_not_found'],
    ['/k/lt_valid/v1/realtime', 404, 'route_not_found'],
  ])('a path without sockets: %s', async (path, status, code) => {
    await using provider = await replayingProvider()
    await using proxy = await proxyServer(provider)
    const headers = { ...goodHeaders, connection: 'Upgrade', upgrade: 'websocket' }
    const answer = await rawPost(`${proxy.origin}${path}`, '', headers, 'GET').answer
    expect([answer.status, answer.headers.connection]).toEqual([status, 'close'])
    expect(JSON.parse(answer.body.toString())).toMatchObject({ error: { code } })
    expect(provider.requests).toEqual([])
  })

  test('the product API, in its shape', async () => {
    const route = defineRoute({
      ...{ method: 'GET', url: '/api/v1/sum', id: 'getSum', summary: 'A sum' },
      ...{ auth: 'public', scope: { level: 'public' }, errors: [], reply: z.unknown() },
      handle: async () => expect.unreachable('the request is refused before'),
    })
    await using proxy = await proxyServer({ routes: [route] })
    const headers = { connection: 'Upgrade', upgrade: 'WebSocket' }
    const answer = await rawPost(`${proxy.origin}/api/v1/sum`, '', headers, 'GET').answer
    expect([answer.status, answer.headers.connection]).toEqual([400, 'close'])
    expect(JSON.parse(answer.body.toString())).toMatchObject({
      code: 'invalid_request',
      errors: [{ pointer: 'Upgrade' }],
    })
  })

  test('by the provider: its answer passes', async () => {
    await using provider = await socketProvider(undefined, { status: 403 })
    await using proxy = await proxyServer(provider)
    const refusal = await refusalOf(openSocket(proxy.origin, goodHeaders))
    expect([refusal.status, refusal.body]).toEqual([403, 'Refused'])
  })

  test('an unreachable provider, and a proxy that stops', async () => {
    const base_urls = { openai: 'http://127.0.0.1:9/v1' }
    await using proxy = await proxyServer({ base_urls })
    expect((await refusalOf(openSocket(proxy.origin, goodHeaders))).status).toBe(502)
    await proxy.proxy.drain()
    expect((await refusalOf(openSocket(proxy.origin, goodHeaders))).status).toBe(503)
  })
})

describe('refused on the socket with an error event, and recorded', () => {
  async function refusedCall(
    { settings = {}, keys }: { settings?: object; keys?: ProjectKeys },
    provider: SocketProvider,
    before: () => void = () => undefined,
  ) {
    await using proxy = await proxyServer({ ...provider, settings, ...(keys && { keys }) })
    const client = await openSocket(proxy.origin, goodHeaders)
    before()
    client.socket.send(create())
    const [text = ''] = await client.got(1)
    return { event: JSON.parse(text), endings: proxy.exchanges.map(endingOf) }
  }

  test('a key that was revoked while the socket was open', async () => {
    await using provider = await socketProvider()
    const scopes = new Set(['proxy:write'] as const)
    let isKnown = true
    const key = { key_id: 'k', project_id: 'p', scopes }
    const keys: ProjectKeys = {
      authenticate: () => Promise.resolve(isKnown ? key : undefined),
    }
    const refused = await refusedCall({ keys }, provider, () => {
      isKnown = false
    })
    expect(refused.event).toMatchObject({
      ...{ type: 'error', status: 401, error: { code: 'credentials_invalid' } },
    })
    expect(refused.endings).toMatchObject([{ outcome: 'refused', status_code: 401 }])
    expect(provider.messages).toEqual([])
  })

  test('more calls than the key may make', async () => {
    await using provider = await socketProvider()
    const refused = await refusedCall({ settings: { requests_per_minute: 1 } }, provider)
    expect(refused.event).toMatchObject({ status: 429, error: { code: 'rate_limited' } })
    expect(refused.endings).toMatchObject([{ outcome: 'refused', status_code: 429 }])
    expect(provider.messages).toEqual([])
  })
})

test('a client that leaves while its key is looked up leaves one record', async () => {
  await using provider = await socketProvider()
  const scopes = new Set(['proxy:write'] as const)
  const found = Promise.withResolvers<{
    key_id: string
    project_id: string
    scopes: typeof scopes
  }>()
  const key = { key_id: 'k', project_id: 'p', scopes }
  let lookups = 0
  const keys: ProjectKeys = {
    authenticate() {
      lookups += 1
      return lookups === 1 ? key : found.promise
    },
  }
  await using proxy = await proxyServer({ ...provider, keys })
  const client = await openSocket(proxy.origin, goodHeaders)
  client.socket.send(create())
  await expect.poll(() => lookups).toBe(2)
  client.socket.terminate()
  found.resolve(key)
  await proxy.recorded()
  await proxy.proxy.drain()
  expect(proxy.exchanges).toHaveLength(1)
})

test('a provider of the file is reached through the guard of outbound requests', async () => {
  await using provider = await socketProvider()
  const { port } = new URL(provider.base_urls.openai)
  const source = `providers:
  - {name: local, base_url: "http://inside.test:${port}/v1", formats: [responses]}
`
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
  const headers = { ...goodHeaders, 'x-provider': 'local' }
  using file = writtenProviders(source)
  await using refusing = await proxyServer({
    ...{ ...provider, ...file, outbound: openOutbound({ allowed: [], resolve }) },
  })
  expect((await refusalOf(openSocket(refusing.origin, headers))).status).toBe(502)
  expect(provider.requests).toEqual([])
})

test('a message longer than a body may be closes the socket', async () => {
  await using provider = await socketProvider()
  await using proxy = await proxyServer({ ...provider, settings: { body_bytes_max: 1_000 } })
  const client = await openSocket(proxy.origin, goodHeaders)
  client.socket.send(create({ instructions: 'x'.repeat(1_000) }))
  expect(await client.closed).toEqual({ code: 1009, reason: 'body_too_large' })
  expect(JSON.parse(client.texts[0] ?? '')).toMatchObject({ type: 'error', status: 413 })
  expect(provider.messages).toEqual([])
})

test('a client that does not read holds the provider back', async () => {
  const part = JSON.stringify({ type: 'response.output_text.delta', delta: 'x'.repeat(100_000) })
  let sent = 0
  await using provider = await socketProvider((socket) => {
    for (; sent < 400; sent += 1) socket.send(part)
    for (const event of events) socket.send(event)
  })
  await using proxy = await proxyServer(provider)
  const client = await openSocket(proxy.origin, goodHeaders)
  client.socket.pause()
  client.socket.send(create())
  await expect.poll(() => provider.messages.length).toBe(1)
  for (let turns = 0; turns < 200; turns += 1) await turn()
  expect(proxy.exchanges).toEqual([])
  client.socket.resume()
  await client.got(403)
  const { facts } = await proxy.recorded()
  expect(facts).toMatchObject({ outcome: 'complete', content_state: 'truncated' })
  expect(observationOf(proxy.exchanges[0])).toMatchObject({ usage_source: 'provider' })
})

test('a client that never reads is left after the idle timeout', async () => {
  const part = JSON.stringify({ type: 'response.output_text.delta', delta: 'x'.repeat(100_000) })
  await using provider = await socketProvider((socket) => {
    for (let sent = 0; sent < 400; sent += 1) socket.send(part)
  })
  await using proxy = await proxyServer({ ...provider, settings: { idle_timeout_ms: 500 } })
  const client = await openSocket(proxy.origin, goodHeaders)
  client.socket.pause()
  client.socket.send(create())
  expect(endingOf(await proxy.recorded())).toMatchObject({
    ...{ outcome: 'client_gone', status_code: 200 },
  })
  expect(proxy.exchanges).toHaveLength(1)
  client.socket.terminate()
})

test('a call without an answer ends after the idle timeout', async () => {
  await using provider = await socketProvider(() => undefined)
  await using proxy = await proxyServer({ ...provider, settings: { idle_timeout_ms: 500 } })
  const client = await openSocket(proxy.origin, goodHeaders)
  client.socket.send(create())
  expect(await client.closed).toEqual({ code: 1001, reason: 'idle' })
  expect(endingOf(await proxy.recorded())).toMatchObject({ outcome: 'timeout', status_code: 504 })
})

describe('when the service stops', () => {
  test('sockets close after their calls', async () => {
    await using provider = await socketProvider((socket) => {
      if (provider.messages.length > 0) socket.send(events[0] ?? '')
    })
    await using proxy = await proxyServer(provider)
    const idle = await openSocket(proxy.origin, goodHeaders)
    const busy = await openSocket(proxy.origin, goodHeaders)
    busy.socket.send(create())
    await busy.got(1)
    const drained = proxy.proxy.drain()
    expect((await idle.closed).code).toBe(1001)
    busy.socket.send(create())
    const [, refused = ''] = await busy.got(2)
    expect(JSON.parse(refused)).toMatchObject({ status: 503, error: { code: 'shutting_down' } })
    for (const event of events.slice(1)) provider.sockets[1]?.send(event)
    expect((await busy.closed).code).toBe(1001)
    await drained
    expect(busy.texts).toHaveLength(4)
    const endings = proxy.exchanges.map((one) => endingOf(one).outcome)
    expect(endings).toEqual(['refused', 'complete'])
  })

  test('calls that do not end are ended', async () => {
    await using provider = await socketProvider((socket) => socket.send(events[0] ?? ''))
    await using proxy = await proxyServer(provider)
    const client = await openSocket(proxy.origin, goodHeaders)
    client.socket.send(create())
    await client.got(1)
    await proxy.proxy.close()
    expect((await client.closed).code).toBe(1001)
    expect(JSON.parse(client.texts[1] ?? '')).toMatchObject({ error: { code: 'shutting_down' } })
    expect(proxy.exchanges.map(endingOf)).toMatchObject([
      { outcome: 'upstream_cut', error_type: 'shutting_down', status_code: 200 },
    ])
  })
})

test('a key file serves sockets, and answers do not show its key', async () => {
  const own = 'sk-of-the-key-file'
  await using provider = await socketProvider((socket) => {
    socket.send(JSON.stringify({ type: 'error', status: 401, error: { message: `not ${own}` } }))
    socket.close(4_000, own)
  })
  const source = `providers:
  - {name: openai, key_file: "{folder}/key", key_for: all}
`
  using file = writtenProviders(source, { keys: { key: own } })
  await using proxy = await proxyServer({ ...provider, ...file })
  const client = await openSocket(proxy.origin, { authorization: 'Bearer lt_provider_key' })
  client.socket.send(create())
  const closed = await client.closed
  expect(provider.requests[0]?.headers.authorization).toBe(`Bearer ${own}`)
  const { facts, request, response } = await proxy.recorded()
  const shown = JSON.stringify([client.texts, closed, facts, String(request), String(response)])
  expect(client.texts[0]).toContain('not ***')
  expect(shown).not.toContain(own)
})
