import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { z } from 'zod'
import {
  type ModelServer,
  materialOf,
  replyChat,
  replyJson,
  serveModel,
} from '../../../test/support/model-server.ts'
import { openOutbound } from '../outbound/index.ts'
import { type ChatQuestion, openChatModel, readAnswer } from './chat-model.ts'
import { type ChatSettings, isSameModel, PaidCallFailed, priceOf } from './model.ts'

const settings: ChatSettings = {
  ...{ name: 'judge-1', type: 'openai', url: '', model: 'gpt-judge', use: ['judge'] },
  ...{ api_key: 'sk-of-the-model', timeout_ms: 2_000 },
  ...{ cents_per_million_input: 100, cents_per_million_output: 400 },
}

const question: ChatQuestion = {
  ...{ instructions: 'Check.', output_tokens_max: 100 },
  data: { claim: 'The fee is 20 euros.' },
  schema: { type: 'object' },
}

function callOf(server: ModelServer, more: Partial<ChatSettings> = {}, outbound = server.outbound) {
  return openChatModel({ ...settings, url: server.url, ...more }, outbound).ask(question)
}

const never = new AbortController().signal
const failure = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(PaidCallFailed)
  return (error as PaidCallFailed).message
}

test('asks with JSON as material, a schema and temperature 0, and books the counted tokens', async () => {
  await using server = await serveModel((response) =>
    replyChat(response, { ok: true }, { prompt_tokens: 30, completion_tokens: 7 }),
  )
  const call = callOf(server)
  const reply = await call.send(never)
  expect(reply).toEqual({
    reply: { content: '{"ok":true}' },
    ...{ input_tokens: 30, output_tokens: 7, nano_dollars: 30_000n + 28_000n },
  })
  expect(call.nano_dollars_max).toBeGreaterThan(reply.nano_dollars)
  const [seen] = server.seen
  expect(seen).toMatchObject({
    path: '/v1/chat/completions',
    authorization: 'Bearer sk-of-the-model',
    body: { model: 'gpt-judge', temperature: 0, response_format: { type: 'json_schema' } },
  })
  expect(seen && materialOf(seen)).toEqual(question.data)
})

test('a query of the URL is kept, and without a key no token is sent', async () => {
  await using server = await serveModel((response) => replyChat(response, '{}'))
  const url = `${server.url}/?api-version=2`
  await callOf(server, { url, api_key: undefined }).send(never)
  expect(server.seen).toMatchObject([
    { path: '/v1/chat/completions?api-version=2', authorization: undefined },
  ])
})

test('the same question has the same key, another model or text has another', () => {
  const keyOf = (more: Partial<ChatSettings>, data = question.data) =>
    openChatModel(
      { ...settings, url: 'http://a.test', ...more },
      openOutbound({ allowed: [] }),
    ).ask({ ...question, data }).key
  expect(keyOf({})).toBe(keyOf({}))
  const keys = [keyOf({}), keyOf({ model: 'other' }), keyOf({}, { claim: 'Another.' })]
  expect(new Set(keys).size).toBe(3)
})

test.each([
  ['temperature', 'temperature', undefined],
  ['response_format', 'response_format', undefined],
  ['max_tokens', 'max_tokens', 100],
])(
  'a model that refuses %s is asked again without it, once for ever',
  async (param, field, max) => {
    await using server = await serveModel((response, { body }) =>
      body[field] === undefined
        ? replyChat(response, '{}')
        : replyJson(response, { error: { message: `Unsupported parameter: '${param}'.` } }, 400),
    )
    const model = openChatModel({ ...settings, url: server.url }, server.outbound)
    await model.ask(question).send(never)
    await model.ask(question).send(never)
    expect(server.seen).toHaveLength(3)
    expect(server.seen.at(-1)?.body['max_completion_tokens']).toBe(max)
  },
)

test('a model that refuses everything is asked at most once for each parameter', async () => {
  const message = 'temperature, response_format and max_tokens are wrong'
  await using server = await serveModel((response) =>
    replyJson(response, { error: { message } }, 400),
  )
  expect(await failure(callOf(server).send(never))).toBe('model judge-1: the endpoint answered 400')
  expect(server.seen).toHaveLength(4)
})

test.each([
  [429, 3],
  [500, 2],
  [503, 2],
])('%i is tried again, up to the third attempt', async (status, attempts) => {
  await using server = await serveModel((response, _, attempt) =>
    attempt < attempts ? replyJson(response, {}, status) : replyChat(response, '{}'),
  )
  await callOf(server).send(never)
  expect(server.seen).toHaveLength(attempts)
})

test('a busy model that asks for a long wait is not waited for', async () => {
  await using server = await serveModel((response) =>
    response.writeHead(429, { 'retry-after': '86400' }).end(),
  )
  expect(await failure(callOf(server).send(never))).toContain('answered 429')
  expect(server.seen).toHaveLength(1)
})

test('an end of the run ends the wait between attempts', async () => {
  const ending = new AbortController()
  await using server = await serveModel((response) => {
    replyJson(response, {}, 503)
    setImmediate(() => ending.abort(new Error('the run ended')))
  })
  await expect(callOf(server).send(ending.signal)).rejects.toThrow('the run ended')
  expect(server.seen).toHaveLength(1)
})

test('an endpoint that counts too many tokens is believed up to the bound', async () => {
  const usage = { prompt_tokens: 1e12, completion_tokens: 1e12 }
  await using server = await serveModel((response) => replyChat(response, '{}', usage))
  const call = callOf(server)
  const { nano_dollars, output_tokens } = await call.send(never)
  expect(output_tokens).toBe(100)
  expect(nano_dollars).toBeLessThanOrEqual(call.nano_dollars_max * 2n)
})

test.each([
  ['no count', undefined],
  ['a negative count', { prompt_tokens: -5, completion_tokens: -5 }],
  ['a count in words', { prompt_tokens: 'many', completion_tokens: 3 }],
])('a reply with %s costs the bound', async (_what, usage) => {
  await using server = await serveModel((response) => replyChat(response, '{}', usage))
  const call = callOf(server)
  expect(await call.send(never)).toMatchObject({
    ...{ input_tokens: null, output_tokens: null, nano_dollars: call.nano_dollars_max },
  })
})

test('an endpoint that repeats its key does not show it to readers of calls', async () => {
  await using server = await serveModel((response, { authorization }) =>
    replyChat(response, { quote: `${authorization} sk-of-the-model` }),
  )
  const { reply } = await callOf(server).send(never)
  expect(reply).toEqual({ content: '{"quote":"Bearer *** ***"}' })
})

test('a reply is storable: without NUL and lone surrogates, and bounded', async () => {
  await using server = await serveModel((response) =>
    replyChat(response, `a\0b\ud800${'c'.repeat(100_000)}`),
  )
  const { reply } = await callOf(server).send(never)
  expect(String(reply['content']).slice(0, 5)).toBe('ab\ufffdcc')
  expect(String(reply['content']).length).toBeLessThanOrEqual(32_000)
})

test.each([
  ['no JSON', (server: Responder) => server.end('<html>'), 'the reply is not a chat completion'],
  ['no choice', (server: Responder) => server.end('{"choices":[]}'), 'not a chat completion'],
  ['a redirect', (server: Responder) => server.writeHead(302, metadata).end(), 'answered 302'],
  ['100 MB', (server: Responder) => endless(server), 'its reply exceeds 4194304 bytes'],
  ['a bomb', (server: Responder) => server.writeHead(200, gzip).end(bomb), 'its reply exceeds'],
])('%s fails with a reason that has no address', async (_what, answer, reason) => {
  await using server = await serveModel((response) => answer(response))
  const message = await failure(callOf(server).send(never))
  expect(message).toContain(reason)
  expect(message).not.toMatch(/127\.0\.0\.1|sk-of/)
})

test.each([
  ['stalls', () => undefined],
  ['drips', (response: Responder) => drip(response)],
])('an endpoint that %s ends at its time-out', async (_what, answer) => {
  await using server = await serveModel((response) => answer(response))
  const call = callOf(server, { timeout_ms: 200 })
  expect(await failure(call.send(never))).toBe('model judge-1: it did not answer in time')
  expect(server.seen).toHaveLength(1)
})

test.each([
  ['refuses', (server: Responder) => replyJson(server, {}, 401), false],
  ['answers garbage', (server: Responder) => server.end('<html>'), true],
  ['stalls', () => undefined, true],
] as const)('a model that %s costs nothing or the bound: %s', async (_what, answer, isCharged) => {
  await using server = await serveModel((response) => void answer(response))
  const call = callOf(server, { timeout_ms: 300 })
  const nano_dollars = isCharged ? call.nano_dollars_max : 0n
  await expect(call.send(never)).rejects.toMatchObject({ nano_dollars })
})

test('a model that cannot be reached costs nothing', async () => {
  const server = await serveModel(() => undefined)
  await server[Symbol.asyncDispose]()
  await expect(callOf(server).send(never)).rejects.toMatchObject({
    ...{ nano_dollars: 0n, message: 'model judge-1: the connection failed' },
  })
})

test('a private address that no setting allows gets no request', async () => {
  await using server = await serveModel((response) => replyChat(response, '{}'))
  const guarded = openOutbound({ allowed: [] })
  const message = await failure(callOf(server, {}, guarded).send(never))
  expect(message).toContain('LOOPTRACE_OUTBOUND_ALLOWED')
  expect(server.seen).toEqual([])
})

test.each([
  ['{"a":1}', { a: 1 }],
  ['```json\n{"a":1}\n```', { a: 1 }],
  ['{"a":1,"__proto__":{"polluted":true},"constructor":1}', { a: 1 }],
  ['Sure: {"a":1}', undefined],
  ['{"a":"1"}', undefined],
  ['[1]', undefined],
])('an answer %s is read as %j', (content, expected) => {
  const answer = readAnswer({ content }, z.object({ a: z.number() }))
  expect(answer).toEqual(expected)
  expect(Object.keys(answer ?? {})).toEqual(Object.keys(expected ?? {}))
  expect({}).not.toHaveProperty('polluted')
})

test.each([
  ['gpt-4o', 'openai/gpt-4o-2024-08-06', true],
  ['gpt-4o', 'gpt-4o-mini', false],
  ['claude-3.5-sonnet-latest', 'us.anthropic.claude-3-5-sonnet-20241022-v2:0', true],
  ['claude-3-5-sonnet', 'claude-3-5-haiku', false],
  ['gpt-3.5-turbo-0125', 'GPT-3.5-Turbo', true],
  ['models/gemini-2.5-pro', 'gemini-2.5-pro-preview-05-06', true],
  ['llama3:70b', 'llama3', true],
  ['', '', false],
])('%s and %s are the same model: %s', (one, other, expected) => {
  expect([isSameModel(one, other), isSameModel(other, one)]).toEqual([expected, expected])
})

test('prices are exact', () => {
  expect([priceOf(1, 15), priceOf(1_000_000, 60.5), priceOf(3, 0.05), priceOf(0, 1)]).toEqual([
    ...[150n, 605_000_000n, 2n, 0n],
  ])
})

type Responder = Parameters<Parameters<typeof serveModel>[0]>[0]

const metadata = { location: 'http://169.254.169.254/latest/meta-data' }
const gzip = { 'content-encoding': 'gzip' }
const bomb = gzipSync(Buffer.alloc(100 * 2 ** 20))

function endless(response: Responder): void {
  const part = Buffer.alloc(2 ** 20, 'a')
  const send = (left: number) => {
    if (left === 0 || response.destroyed) return void response.end()
    response.write(part, () => send(left - 1))
  }
  send(100)
}

function drip(response: Responder): void {
  response.writeHead(200)
  const timer = setInterval(() => response.write(' '), 20)
  response.on('close', () => clearInterval(timer))
}
