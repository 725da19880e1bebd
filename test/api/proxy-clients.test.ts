import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { type ProxyServer, proxyServer } from '../support/proxy-server.ts'
import {
  json,
  type ReplayingProvider,
  replayingProvider,
  stream,
} from '../support/replaying-provider.ts'
import { hasSharedFixtures, readFixture } from '../support/shared-fixtures.ts'

type Session<Body> = {
  exchanges: [
    {
      request: { body: Body }
      response: { status: number; headers: Record<string, string>; body: string }
    },
  ]
  expect: [{ output_text: string }]
}

/** A recorded session of one call; the provider answers with its bytes. */
function replay<Body>(provider: ReplayingProvider, path: string) {
  const session = readFixture<Session<Body>>(`providers/${path}.json`)
  const [{ request, response }] = session.exchanges
  const { pieces } = stream(response.body)
  provider.answer({ status: response.status, headers: response.headers, pieces })
  return { request: request.body, body: response.body, expected: session.expect[0] }
}

/** A fetch that keeps the bytes of each answer. */
function keepingFetch() {
  const bodies: Promise<string>[] = []
  const keep: typeof fetch = async (...asked) => {
    const answer = await fetch(...asked)
    bodies.push(answer.clone().text())
    return answer
  }
  return { fetch: keep, last: () => bodies.at(-1) }
}

async function started() {
  const provider = await replayingProvider()
  const proxy = await proxyServer(provider)
  return {
    provider,
    proxy,
    [Symbol.asyncDispose]: async () => {
      await proxy[Symbol.asyncDispose]()
      await provider[Symbol.asyncDispose]()
    },
  }
}

/** The keys that the provider got, as the text of its headers. */
function keysAt({ requests }: ReplayingProvider): unknown {
  const headers = requests.at(-1)?.headers ?? {}
  const { authorization, 'x-api-key': anthropic, 'x-goog-api-key': google } = headers
  expect(JSON.stringify(requests.map(({ rawHeaders, url }) => [rawHeaders, url]))).not.toContain(
    'lt_',
  )
  return [authorization, anthropic, google].filter((value) => value !== undefined)
}

async function recordedFacts(proxy: ProxyServer, index: number) {
  const { facts, response } = await proxy.recorded(index)
  return { ...facts, text: Buffer.from(response).toString() }
}

const recorded = test.skipIf(!hasSharedFixtures)

describe('the client of OpenAI', () => {
  type Asked = OpenAI.Responses.ResponseCreateParamsNonStreaming
  const openai = (proxy: ProxyServer, options: object = {}) =>
    new OpenAI({
      apiKey: 'sk-provider-key',
      baseURL: `${proxy.origin}/v1`,
      defaultHeaders: { 'X-API-Key': 'lt_valid' },
      maxRetries: 0,
      ...options,
    })

  recorded('calls Responses, whole and streamed', async () => {
    await using on = await started()
    const kept = keepingFetch()
    const client = openai(on.proxy, { fetch: kept.fetch })
    const whole = replay<Asked>(on.provider, 'responses/responses-plain')
    const answer = await client.responses.create(whole.request)
    expect(answer).toMatchObject({ output_text: whole.expected.output_text })
    expect(await kept.last()).toBe(whole.body)
    expect(keysAt(on.provider)).toEqual(['Bearer sk-provider-key'])
    const streamed = replay<Asked>(on.provider, 'responses/responses-reasoning-stream')
    const types: string[] = []
    const events = await client.responses.create({ ...streamed.request, stream: true })
    for await (const { type } of events) types.push(type)
    expect(types.at(-1)).toBe('response.completed')
    expect(await kept.last()).toBe(streamed.body)
    const facts = await recordedFacts(on.proxy, 1)
    expect(facts).toMatchObject({ endpoint: 'responses', streamed: true, outcome: 'complete' })
    expect(facts.text).toBe(streamed.body)
  })

  test('calls embeddings, and lists models, by a base URL with the key', async () => {
    await using on = await started()
    const client = openai(on.proxy, {
      baseURL: `${on.proxy.origin}/k/lt_valid/v1`,
      defaultHeaders: {},
    })
    on.provider.answer(json({ object: 'list', data: [{ index: 0, embedding: [0.5] }], model: 'e' }))
    const { data } = await client.embeddings.create({
      model: 'e',
      input: 'a',
      encoding_format: 'float',
    })
    expect(data[0]?.embedding).toEqual([0.5])
    on.provider.answer(json({ object: 'list', data: [{ id: 'gpt-9', object: 'model' }] }))
    expect((await client.models.list()).data[0]?.id).toBe('gpt-9')
    expect(keysAt(on.provider)).toEqual(['Bearer sk-provider-key'])
    expect((await recordedFacts(on.proxy, 0)).endpoint).toBe('embeddings')
  })

  test('shows our errors, also in the middle of a stream and of an unknown path', async () => {
    await using on = await started()
    const ask = (client: OpenAI) =>
      client.responses.create({ model: 'm', input: 'a', stream: true })
    await expect(ask(openai(on.proxy, { defaultHeaders: {} }))).rejects.toThrow(
      /401 X-API-Key is missing: send a project key/,
    )
    const unknown = openai(on.proxy).fineTuning.jobs.list()
    await expect(unknown).rejects.toThrow(/404 There is no \/v1\/fine_tuning/)
    on.provider.answer({ ...stream('event: response.created\ndata: {"type":"x"}\n\n'), cut: true })
    const events = await ask(openai(on.proxy))
    const reading = async () => {
      for await (const _event of events);
    }
    await expect(reading()).rejects.toThrow(/closed the connection before the answer was complete/)
  })
})

describe('the client of Anthropic', () => {
  const anthropic = (proxy: ProxyServer, options: object = {}) =>
    new Anthropic({
      apiKey: 'sk-ant-api03-key',
      authToken: null,
      baseURL: proxy.origin,
      defaultHeaders: { 'X-Looptrace-Key': 'lt_valid' },
      maxRetries: 0,
      ...options,
    })

  recorded('calls Messages, whole and streamed, and counts tokens', async () => {
    await using on = await started()
    const kept = keepingFetch()
    const client = anthropic(on.proxy, { fetch: kept.fetch })
    const whole = replay<Anthropic.MessageCreateParamsNonStreaming>(
      on.provider,
      'messages/messages-structured',
    )
    const answer = await client.messages.create({ ...whole.request, model: 'claude-9' })
    expect(answer).toMatchObject({ type: 'message' })
    expect(await kept.last()).toBe(whole.body)
    const streamed = replay<Anthropic.MessageCreateParamsNonStreaming>(
      on.provider,
      'messages/messages-text-stream',
    )
    const text = await client.messages
      .stream({ ...streamed.request, model: 'claude-9' })
      .finalText()
    expect(text.trim()).toBe(streamed.expected.output_text.trim())
    expect(await kept.last()).toBe(streamed.body)
    expect(keysAt(on.provider)).toEqual(['sk-ant-api03-key'])
    const facts = await recordedFacts(on.proxy, 1)
    expect(facts).toMatchObject({ endpoint: 'messages', streamed: true, outcome: 'complete' })
    expect(facts.text).toBe(streamed.body)
    on.provider.answer(json({ input_tokens: 12 }))
    const messages = [{ role: 'user' as const, content: 'a' }]
    expect(await client.messages.countTokens({ model: 'm', messages })).toEqual({
      input_tokens: 12,
    })
    expect((await recordedFacts(on.proxy, 2)).endpoint).toBe('messages.count_tokens')
    expect(on.provider.requests.at(-1)?.headers['anthropic-version']).toMatch(/^20\d\d-/)
  })

  const messages = [{ role: 'user' as const, content: 'a' }]
  const ask = { model: 'm', max_tokens: 9, messages }
  const answered = json({ id: 'msg_1', type: 'message', role: 'assistant', content: [] })

  test.each<[string, object, string[]]>([
    [
      'our key in a header of another API',
      { defaultHeaders: { 'api-key': 'lt_valid' } },
      ['sk-ant-api03-key'],
    ],
    [
      'a token of a person',
      { apiKey: null, authToken: 'sk-ant-oat01-token' },
      ['Bearer sk-ant-oat01-token'],
    ],
    [
      'both keys in one',
      { apiKey: 'sk-ant-api03-key, lt_valid', defaultHeaders: {} },
      ['sk-ant-api03-key'],
    ],
  ])('with %s', async (_name, options, keys) => {
    await using on = await started()
    on.provider.answer(answered)
    await anthropic(on.proxy, options).messages.create(ask)
    expect(keysAt(on.provider)).toEqual(keys)
  })

  test('lists models, by a base URL with the key', async () => {
    await using on = await started()
    on.provider.answer(json({ data: [{ type: 'model', id: 'claude-9' }], has_more: false }))
    const baseURL = `${on.proxy.origin}/k/lt_valid`
    const { data } = await anthropic(on.proxy, { baseURL, defaultHeaders: {} }).models.list()
    expect(data[0]?.id).toBe('claude-9')
    expect(on.provider.requests[0]?.url).toBe('/anthropic/v1/models')
  })

  test('shows our errors, also in the middle of a stream and of an unknown path', async () => {
    await using on = await started()
    const failed = anthropic(on.proxy, { defaultHeaders: {} }).messages.create(ask)
    await expect(failed).rejects.toBeInstanceOf(Anthropic.AuthenticationError)
    await expect(failed).rejects.toThrow(/X-API-Key is missing: send a project key/)
    const unknown = anthropic(on.proxy).get('/v1/unknown')
    await expect(unknown).rejects.toThrow(/There is no \/v1\/unknown/)
    on.provider.answer({ ...stream('event: ping\ndata: {"type":"ping"}\n\n'), cut: true })
    await expect(anthropic(on.proxy).messages.stream(ask).finalText()).rejects.toThrow(
      /closed the connection before the answer was complete/,
    )
  })
})

describe('the client of Gemini', () => {
  const gemini = (proxy: ProxyServer, options: object = {}) =>
    new GoogleGenAI({
      apiKey: 'AIza-provider-key',
      httpOptions: { baseUrl: proxy.origin, headers: { 'X-Looptrace-Key': 'lt_valid' } },
      ...options,
    })

  recorded('calls generateContent, whole and streamed, and counts tokens', async () => {
    await using on = await started()
    const { models } = gemini(on.proxy)
    const whole = replay(on.provider, 'gemini/gemini-structured')
    const asked = { model: 'gemini-2.5-flash', contents: 'Hello' }
    const answer = await models.generateContent(asked)
    expect(answer.text?.trim()).toBe(whole.expected.output_text.trim())
    expect(keysAt(on.provider)).toEqual(['AIza-provider-key'])
    const streamed = replay(on.provider, 'gemini/gemini-text-stream')
    let text = ''
    for await (const chunk of await models.generateContentStream(asked)) text += chunk.text ?? ''
    expect(text.trim()).toBe(streamed.expected.output_text.trim())
    const facts = await recordedFacts(on.proxy, 1)
    expect(facts).toMatchObject({
      endpoint: 'generate_content',
      path_model: 'gemini-2.5-flash',
      streamed: true,
      outcome: 'complete',
    })
    expect(facts.text).toBe(streamed.body)
    on.provider.answer(json({ totalTokens: 7 }))
    expect((await models.countTokens(asked)).totalTokens).toBe(7)
    expect((await recordedFacts(on.proxy, 2)).endpoint).toBe('generate_content.count_tokens')
  })

  recorded('calls Interactions, streamed, by a base URL with the key', async () => {
    await using on = await started()
    const client = gemini(on.proxy, { httpOptions: { baseUrl: `${on.proxy.origin}/k/lt_valid` } })
    const streamed = replay(on.provider, 'interactions/interactions-plain-stream')
    const events = await client.interactions.create({
      model: 'gemini-2.5-flash',
      input: 'Hello',
      stream: true,
    })
    const types: string[] = []
    for await (const { event_type } of events) types.push(event_type)
    expect(types).toContain('interaction.completed')
    const facts = await recordedFacts(on.proxy, 0)
    expect(facts).toMatchObject({ endpoint: 'interactions', streamed: true, outcome: 'complete' })
    expect(facts.text).toBe(streamed.body)
    expect(keysAt(on.provider)).toEqual(['AIza-provider-key'])
  })

  test('shows our errors', async () => {
    await using on = await started()
    const { models } = gemini(on.proxy, { httpOptions: { baseUrl: on.proxy.origin } })
    await expect(models.generateContent({ model: 'm', contents: 'a' })).rejects.toThrow(
      /X-API-Key is missing: send a project key/,
    )
  })
})
