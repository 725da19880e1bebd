import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import OpenAI, { toFile } from 'openai'
import { describe, expect, test } from 'vitest'
import { exchangeToObservation } from '../../src/capabilities/records/exchanges/mapping/exchange-to-records.ts'
import { createPricing } from '../../src/capabilities/records/pricing/index.ts'
import type { Exchange } from '../../src/model/exchange.ts'
import { writtenProviders } from '../support/providers-file.ts'
import { goodHeaders } from '../support/proxy.ts'
import { type ProxyServer, proxyServer } from '../support/proxy-server.ts'
import { rawPost } from '../support/raw-post.ts'
import {
  json,
  type ReplayedAnswer,
  replayingProvider,
  stream,
} from '../support/replaying-provider.ts'

const clientOf = (proxy: ProxyServer) =>
  new OpenAI({
    ...{ apiKey: 'sk-theirs', baseURL: `${proxy.origin}/v1`, maxRetries: 0 },
    defaultHeaders: { 'X-API-Key': 'lt_valid' },
  })

/** Every byte, so that a text on the way would change them. */
const bytes = Buffer.from(Array.from({ length: 4_096 }, (_, at) => (at * 7) % 256))
const binary: ReplayedAnswer = { headers: { 'content-type': 'audio/mpeg' }, pieces: [bytes] }

/** The row that the worker stores. */
function rowOf(exchange: Exchange) {
  return exchangeToObservation(exchange, 'm-1', {
    ...{ pricing: createPricing(), countTokens: () => 1_000, response_bytes_max: 1_000_000 },
  })
}

const secret = 'a picture of Ada'

describe('the client of OpenAI', () => {
  test('makes images: their tokens are recorded, and neither prompt nor picture', async () => {
    await using provider = await replayingProvider()
    await using proxy = await proxyServer(provider)
    const usage = { input_tokens: 50, output_tokens: 4_160, total_tokens: 4_210 }
    provider.answer(json({ created: 1, data: [{ b64_json: 'aGk=' }], usage }))
    const asked = { model: 'gpt-image-1', prompt: secret, user: 'Ada' }
    const made = await clientOf(proxy).images.generate(asked)
    expect(made.data).toEqual([{ b64_json: 'aGk=' }])
    expect(provider.requests[0]?.url).toBe('/openai/v1/images/generations')
    expect(JSON.parse(provider.requests[0]?.body.toString() ?? '')).toEqual(asked)
    const row = rowOf(await proxy.recorded())
    expect(row).toMatchObject({
      ...{ endpoint: 'images', type: 'span', name: 'images gpt-image-1', provider: 'openai' },
      ...{ model_requested: 'gpt-image-1', status: 'ok', outcome: 'complete' },
      ...{ input: '', output: '', content_state: 'none', usage_source: 'provider' },
      ...{ input_uncached_tokens: 50, output_visible_tokens: 4_160 },
    })
    expect(row.attributes).not.toHaveProperty('request.prompt')
    expect(Object.values(row.attributes).join()).not.toMatch(/Ada|aGk/)
  })

  test('speaks and transcribes: bytes pass, no sound is kept', async () => {
    await using provider = await replayingProvider()
    await using proxy = await proxyServer(provider)
    const openai = clientOf(proxy)
    provider.answer(binary)
    const spoken = await openai.audio.speech.create({
      ...{ model: 'tts-1', input: secret, voice: 'alloy' },
    })
    expect(Buffer.from(await spoken.arrayBuffer())).toEqual(bytes)
    const speech = await proxy.recorded()
    expect(speech.response).toHaveLength(0)
    expect(rowOf(speech)).toMatchObject({
      ...{ endpoint: 'audio', type: 'span', model_requested: 'tts-1', status: 'ok' },
      ...{ usage_source: 'none', content_state: 'none', response_bytes: bytes.length },
    })
    provider.answer(json({ text: secret, usage: { type: 'duration', seconds: 3 } }))
    const heard = await openai.audio.transcriptions.create({
      ...{ model: 'whisper-1', file: await toFile(bytes, 'ada.mp3') },
    })
    expect(heard.text).toBe(secret)
    expect(provider.requests[1]?.body.includes(bytes)).toBe(true)
    const transcription = await proxy.recorded(1)
    expect(transcription.request).toHaveLength(0)
    expect(JSON.stringify(rowOf(transcription), noBigInt)).not.toContain(secret)
    expect(rowOf(transcription)).toMatchObject({ status: 'ok', output: '', usage_source: 'none' })
  })

  test('a large answer passes, and is not read for usage', async () => {
    await using provider = await replayingProvider()
    await using proxy = await proxyServer(provider)
    const body = JSON.stringify({
      data: [{ b64_json: 'a'.repeat(300_000) }],
      usage: { input_tokens: 1 },
    })
    provider.answer(json(body))
    const answer = await rawPost(`${proxy.origin}/v1/images/edits`, {}, goodHeaders).answer
    expect(answer.body.toString()).toBe(body)
    const exchange = await proxy.recorded()
    expect(exchange.response).toHaveLength(0)
    expect(rowOf(exchange)).toMatchObject({ status: 'ok', usage_source: 'none' })
  })

  test('moderates: a step of its own type, told from images', async () => {
    await using provider = await replayingProvider()
    await using proxy = await proxyServer(provider)
    provider.answer(json({ id: 'modr_1', model: 'omni-moderation-latest', results: [] }))
    const answer = await clientOf(proxy).moderations.create({ input: secret })
    expect(answer.id).toBe('modr_1')
    const row = rowOf(await proxy.recorded())
    expect(row).toMatchObject({
      ...{ endpoint: 'moderations', type: 'guardrail', response_id: 'modr_1', input: '' },
      ...{ model: 'omni-moderation-latest', status: 'ok' },
    })
    expect(JSON.stringify(row, noBigInt)).not.toContain(secret)
  })

  test('keeps files, batches and stores, which are counted and not recorded', async () => {
    await using provider = await replayingProvider()
    await using proxy = await proxyServer(provider)
    const openai = clientOf(proxy)
    provider.answer(({ method, url }) => {
      if (url.endsWith('/content')) return binary
      if (method === 'DELETE') return json({ id: 'file-1', object: 'file', deleted: true })
      return json({ id: 'file-1', object: 'list', data: [{ id: 'file-1' }], has_more: false })
    })
    const file = await toFile(bytes, 'batch.jsonl')
    expect((await openai.files.create({ file, purpose: 'batch' })).id).toBe('file-1')
    expect((await openai.files.list({ limit: 2 })).data).toEqual([{ id: 'file-1' }])
    const content = await openai.files.content('file-1')
    expect(Buffer.from(await content.arrayBuffer())).toEqual(bytes)
    expect((await openai.files.delete('file-1')).deleted).toBe(true)
    expect((await openai.batches.list()).data).toHaveLength(1)
    await openai.vectorStores.create({ name: 'v' })
    await openai.conversations.create({})
    expect(provider.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /openai/v1/files',
      'GET /openai/v1/files?limit=2',
      'GET /openai/v1/files/file-1/content',
      'DELETE /openai/v1/files/file-1',
      'GET /openai/v1/batches',
      'POST /openai/v1/vector_stores',
      'POST /openai/v1/conversations',
    ])
    expect(provider.requests[0]?.body.includes(bytes)).toBe(true)
    expect(provider.requests[0]?.headers['content-type']).toMatch(
      /^multipart\/form-data; boundary=/,
    )
    const metrics = (await proxy.metrics.expose()).body
    expect(metrics).toMatch(/_calls_total\{[^}]*endpoint="files"[^}]*\} 4/)
    expect(proxy.exchanges).toEqual([])
  })
})

function noBigInt(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}

test('an order of documents comes from a provider of the file', async () => {
  await using provider = await replayingProvider()
  using file = writtenProviders(`providers:
  - {name: cohere, base_url: "${provider.origin}/v2", formats: [rerank]}
`)
  await using proxy = await proxyServer({ ...provider, ...file })
  const usage = { prompt_tokens: 9, total_tokens: 9 }
  provider.answer(json({ id: 'r1', model: 'rerank-4', results: [], usage }))
  const body = JSON.stringify({ model: 'rerank-4', query: secret, documents: [secret] })
  const answer = await fetch(`${proxy.origin}/v1/rerank`, {
    ...{ method: 'POST', body },
    headers: { ...goodHeaders, 'content-type': 'application/json', 'x-provider': 'cohere' },
  })
  expect(await answer.json()).toMatchObject({ id: 'r1' })
  expect(provider.requests[0]).toMatchObject({ url: '/v2/rerank', body: Buffer.from(body) })
  const row = rowOf(await proxy.recorded())
  expect(row).toMatchObject({ type: 'retriever', model: 'rerank-4', input_uncached_tokens: 9 })
  expect(JSON.stringify(row, noBigInt)).not.toContain(secret)
})

describe('without X-Provider, the client tells whose API it means', () => {
  const anthropic = { 'anthropic-version': '2023-06-01', 'x-api-key': 'sk-ant-1' }
  const google = { 'x-goog-api-key': 'AIza1' }
  const cases: [call: string, sent: Record<string, string>, url: string][] = [
    ['POST /v1/files', anthropic, '/anthropic/v1/files'],
    [
      'GET /v1/messages/batches/b_1/results',
      anthropic,
      '/anthropic/v1/messages/batches/b_1/results',
    ],
    ['POST /v1/agents', anthropic, '/anthropic/v1/agents'],
    ['PATCH /v1/agents/a_1', { authorization: 'Bearer sk-ant-1' }, '/anthropic/v1/agents/a_1'],
    ['DELETE /v1/sessions/s_1', anthropic, '/anthropic/v1/sessions/s_1'],
    ['GET /v1beta/files/f_1', google, '/gemini/v1beta/files/f_1'],
    ['GET /files', google, '/gemini/v1/files'],
    ['POST /v1beta/batches/b_1:cancel', google, '/gemini/v1beta/batches/b_1:cancel'],
    ['GET /openai/v1/files', { authorization: 'Bearer sk' }, '/openai/v1/files'],
    ['GET /batches?after=b_1', { authorization: 'Bearer sk' }, '/openai/v1/batches?after=b_1'],
  ]
  test.each(cases)('%s', async (call, sent, url) => {
    await using provider = await replayingProvider()
    await using proxy = await proxyServer(provider)
    const [method = '', path = ''] = call.split(' ')
    const headers = { 'x-looptrace-key': 'lt_valid', ...sent }
    const answer = await rawPost(`${proxy.origin}${path}`, '', headers, method).answer
    expect(answer.status).toBe(200)
    expect(provider.requests.map((one) => [one.method, one.url])).toEqual([[method, url]])
  })

  test('a provider without such paths is named in the error', async () => {
    await using proxy = await proxyServer()
    const headers = { ...goodHeaders, 'x-provider': 'openai' }
    const answer = await rawPost(`${proxy.origin}/v1/agents`, {}, headers).answer
    expect(answer.status).toBe(400)
    expect(answer.body.toString()).toContain('openai does not speak agents, expected anthropic')
  })
})

describe('no other path of a provider is reached', () => {
  test.each([
    ...['/v1/files/../../admin', '/v1/files/..', '/v1/files/%2e%2e/admin', '/v1/files/a%2Fb'],
    ...['/v1/files/%252e%252e', '/v1/files//admin', '/v1/files/', '/v1/files/a%5Cb', '/files/..'],
    ...['/v1/files/lt_valid', '/v1/files/f:%2e%2e%2fadmin', '/v1/files/%ff', '/v1/files/a;b'],
    ...['/v1/filesystem', '//v1/files', '/v1//files', '/v1/models/../files', '/v1/unknown/files'],
    ...['http://elsewhere.example/v1/files', '/api/v1/files', '/api/v1/batches'],
  ])('GET %s', async (target) => {
    await using provider = await replayingProvider()
    await using proxy = await proxyServer(provider)
    const { hostname, port } = new URL(proxy.origin)
    const socket = connect({ host: hostname, port: Number(port) })
    const head = [`GET ${target} HTTP/1.1`, 'Host: 127.0.0.1', 'Connection: close']
    const keys = ['X-API-Key: lt_valid', 'Authorization: Bearer sk-theirs']
    socket.end([...head, ...keys, '', ''].join('\r\n'))
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 40[04] /)
    expect(provider.requests).toEqual([])
  })

  test('a method that no API has there gets 405', async () => {
    await using proxy = await proxyServer()
    for (const [method, path] of [
      ['PUT', '/v1/files/f_1'],
      ['GET', '/v1/images/generations'],
    ]) {
      const answer = await rawPost(`${proxy.origin}${path}`, {}, goodHeaders, method).answer
      expect(answer.status).toBe(405)
    }
  })

  test('other paths say what is served', async () => {
    await using proxy = await proxyServer()
    const answer = await rawPost(`${proxy.origin}/v1/unknown`, {}, goodHeaders).answer
    expect(answer.status).toBe(404)
    expect(answer.body.toString()).toContain('/v1/moderations')
  })
})

describe('as for other calls', () => {
  test('a redirect passes, and is not followed', async () => {
    await using provider = await replayingProvider()
    await using proxy = await proxyServer(provider)
    const location = `${provider.origin}/elsewhere`
    provider.answer({ status: 302, headers: { location }, pieces: [] })
    const path = `${proxy.origin}/v1/files/f_1/content`
    const answer = await rawPost(path, {}, goodHeaders, 'GET').answer
    expect([answer.status, answer.headers.location]).toEqual([302, location])
    expect(provider.requests).toHaveLength(1)
  })

  test('hop-by-hop headers stay, and a deletion without a body stays one', async () => {
    await using provider = await replayingProvider()
    await using proxy = await proxyServer(provider)
    provider.answer({ status: 204, pieces: [] })
    const headers = { ...goodHeaders, connection: 'x-hop', 'x-hop': '1', te: 'trailers' }
    const path = `${proxy.origin}/v1/files/f_1`
    expect((await rawPost(path, '', headers, 'DELETE').answer).status).toBe(204)
    const [sent] = provider.requests
    expect([sent?.headers['x-hop'], sent?.headers['te'], sent?.body.length]).toEqual([
      ...[undefined, undefined, 0],
    ])
    const metrics = (await proxy.metrics.expose()).body
    expect(metrics).toMatch(/endpoint="files",provider="openai",outcome="complete"/)
    expect(metrics).not.toContain('malformed_answer')
  })

  test('a body beyond the limit is refused, also an upload', async () => {
    await using provider = await replayingProvider()
    await using proxy = await proxyServer({ ...provider, settings: { body_bytes_max: 1_000 } })
    const headers = { ...goodHeaders, 'content-type': 'multipart/form-data; boundary=b' }
    const answer = await rawPost(`${proxy.origin}/v1/files`, 'x'.repeat(1_001), headers).answer
    expect(answer.status).toBe(413)
    expect(provider.requests).toEqual([])
  })

  test('errors of a provider, and a client that leaves a stream, are recorded', async () => {
    await using provider = await replayingProvider()
    await using proxy = await proxyServer(provider)
    const path = `${proxy.origin}/v1/audio/transcriptions`
    provider.answer(json({ error: { message: 'no such model', type: 'invalid' } }, 404))
    expect((await rawPost(path, {}, goodHeaders).answer).status).toBe(404)
    expect(rowOf(await proxy.recorded())).toMatchObject({
      ...{ status: 'error', outcome: 'provider_error', error_message: 'no such model', output: '' },
    })
    const until = new Promise<void>((resolve) => setTimeout(resolve, 2_000).unref())
    provider.answer({ ...stream('data: {"delta":"Ada"}\n\n'), until })
    const call = rawPost(path, {}, goodHeaders)
    await call.firstBytes
    call.leave()
    const left = rowOf(await proxy.recorded(1))
    expect(left).toMatchObject({ outcome: 'client_gone', output: '', content_state: 'none' })
  })
})
