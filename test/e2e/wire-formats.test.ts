import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { ResponsesWS } from 'openai/resources/responses/ws'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { type Api, apiByKey } from '../support/clients/api-reader.ts'
import { eventually } from '../support/eventually.ts'
import { type SingleMachine, startSingleMachine } from '../support/single-machine.ts'

/** Agents of three vendors' clients that ask one thing again and again, through the whole product. */
let machine: SingleMachine
let provider: Server
let api: Api

const args = { path: 'src/app.ts' }
const steps = 7

/** Answers each call with the same tool call, in the format of its path. */
function answerOf(path: string, at: number): object {
  if (path.endsWith('/responses')) {
    const call = { type: 'function_call', id: `fc_${at}`, call_id: `c${at}`, name: 'read_file' }
    return {
      ...{ id: `resp_${at}`, object: 'response', status: 'completed', model: 'gpt-5-mini' },
      output: [{ ...call, arguments: JSON.stringify(args), status: 'completed' }],
      usage: { input_tokens: 90, output_tokens: 10, total_tokens: 100 },
    }
  }
  if (path.endsWith('/messages')) {
    return {
      ...{ id: `msg_${at}`, type: 'message', role: 'assistant', model: 'claude-sonnet-4-5' },
      content: [{ type: 'tool_use', id: `c${at}`, name: 'read_file', input: args }],
      ...{ stop_reason: 'tool_use', usage: { input_tokens: 90, output_tokens: 10 } },
    }
  }
  if (path.endsWith('/moderations')) return { id: `modr_${at}`, model: 'omni', results: [] }
  if (path.endsWith('/generations')) {
    const usage = { input_tokens: 50, output_tokens: 4_000, total_tokens: 4_050 }
    return { data: [{ b64_json: 'aGk=' }], usage }
  }
  const content = { role: 'model', parts: [{ functionCall: { name: 'read_file', args } }] }
  return {
    candidates: [{ content, finishReason: 'STOP' }],
    ...{ modelVersion: 'gemini-2.5-flash', responseId: `r${at}` },
    usageMetadata: { promptTokenCount: 90, candidatesTokenCount: 10, totalTokenCount: 100 },
  }
}

beforeAll(async () => {
  let calls = 0
  provider = createServer((request, response) => {
    request.resume().on('end', () => {
      const [path = ''] = (request.url ?? '').split('?', 1)
      calls += 1
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(answerOf(path, calls)))
    })
  })
  new WebSocketServer({ server: provider }).on('connection', (socket: WebSocket) => {
    socket.on('message', () => {
      calls += 1
      const response = answerOf('/v1/responses', calls)
      for (const type of ['response.created', 'response.completed']) {
        socket.send(JSON.stringify({ type, response }))
      }
    })
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  machine = await startSingleMachine({
    env: {
      LOOPTRACE_OPENAI_BASE_URL: `${base}/v1`,
      LOOPTRACE_ANTHROPIC_BASE_URL: `${base}/v1`,
      LOOPTRACE_GEMINI_BASE_URL: `${base}/v1beta/openai`,
    },
  })
  api = apiByKey({ api_url: machine.service.base_url, login: machine.login })
})
afterAll(async () => {
  await machine?.[Symbol.asyncDispose]()
  provider?.close()
})

const result = 'file not found'
const headersOf = (task: string) => ({ 'X-API-Key': machine.login.project_key, 'X-Task-ID': task })

async function runResponses(task: string): Promise<void> {
  const openai = new OpenAI({
    ...{ apiKey: 'sk-provider', baseURL: `${machine.service.base_url}/v1` },
    defaultHeaders: headersOf(task),
  })
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Fix the test.' }]
  for (let step = 0; step < steps; step += 1) {
    const { output } = await openai.responses.create({ model: 'gpt-5-mini', input })
    for (const item of output) {
      input.push(item as OpenAI.Responses.ResponseInputItem)
      if (item.type !== 'function_call') continue
      input.push({ type: 'function_call_output', call_id: item.call_id, output: result })
    }
  }
}

/** An agent that sends only what is new: the provider holds the history. */
async function runStateful(task: string): Promise<void> {
  const openai = new OpenAI({
    ...{ apiKey: 'sk-provider', baseURL: `${machine.service.base_url}/v1` },
    defaultHeaders: headersOf(task),
  })
  let input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Fix the test.' }]
  let before: string | undefined
  for (let step = 0; step < steps; step += 1) {
    const { id, output } = await openai.responses.create({
      ...{ model: 'gpt-5-mini', instructions: 'You fix code.', input },
      ...(before !== undefined && { previous_response_id: before }),
    })
    before = id
    input = output.flatMap((item) =>
      item.type === 'function_call'
        ? [{ type: 'function_call_output', call_id: item.call_id, output: result }]
        : [],
    )
  }
}

/** An agent that keeps one socket open for all its calls. */
async function runSocket(task: string): Promise<void> {
  const baseURL = `${machine.service.base_url}/v1`
  const openai = new OpenAI({ apiKey: 'sk-provider', baseURL })
  const socket = new ResponsesWS(openai, { headers: headersOf(task) })
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Fix the test.' }]
  for (let step = 0; step < steps; step += 1) {
    const answer = new Promise<OpenAI.Responses.Response>((resolve, reject) => {
      socket.once('response.completed', ({ response }) => resolve(response))
      socket.once('error', reject)
    })
    socket.send({ type: 'response.create', model: 'gpt-5-mini', input })
    for (const item of (await answer).output) {
      input.push(item as OpenAI.Responses.ResponseInputItem)
      if (item.type !== 'function_call') continue
      input.push({ type: 'function_call_output', call_id: item.call_id, output: result })
    }
  }
  socket.close()
}

async function runMessages(task: string): Promise<void> {
  const { 'X-API-Key': ours, ...more } = headersOf(task)
  const anthropic = new Anthropic({
    ...{ apiKey: 'sk-ant-provider', baseURL: machine.service.base_url },
    defaultHeaders: { 'X-Looptrace-Key': ours, ...more },
  })
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Fix the test.' }]
  for (let step = 0; step < steps; step += 1) {
    const { content } = await anthropic.messages.create({
      ...{ model: 'claude-sonnet-4-5', max_tokens: 100, messages },
    })
    messages.push({ role: 'assistant', content })
    const used = content.filter((block) => block.type === 'tool_use')
    messages.push({
      role: 'user',
      content: used.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: result })),
    })
  }
}

async function runGenerateContent(task: string): Promise<void> {
  const { 'X-API-Key': ours, ...more } = headersOf(task)
  const google = new GoogleGenAI({
    apiKey: 'google-provider-key',
    httpOptions: {
      baseUrl: machine.service.base_url,
      headers: { 'X-Looptrace-Key': ours, ...more },
    },
  })
  const contents: object[] = [{ role: 'user', parts: [{ text: 'Fix the test.' }] }]
  for (let step = 0; step < steps; step += 1) {
    const { candidates } = await google.models.generateContent({
      model: 'gemini-2.5-flash',
      contents,
    })
    contents.push(candidates?.[0]?.content ?? {})
    const response = { name: 'read_file', response: { output: result } }
    contents.push({ role: 'user', parts: [{ functionResponse: response }] })
  }
}

test.each([
  ['responses', runResponses],
  ['socket', runSocket],
  ['stateful', runStateful],
  ['messages', runMessages],
  ['generate_content', runGenerateContent],
])('an agent by %s: its calls, tokens and loop are those of its task', async (name, run) => {
  await run(name)
  const task = await eventually('the calls', async () => {
    const { status, body } = await api.get(`/api/v1/tasks/${name}`)
    return status === 200 && body['calls'] === steps && body
  })
  expect(task).toMatchObject({ calls: steps, tokens: { total: steps * 100 }, unpriced_calls: 0 })
  await eventually('the loop', async () => {
    const { body } = await api.get(`/api/v1/tasks/${name}/loops`)
    return (body['loops'] as unknown[]).length === 1
  })
  const { body } = await api.get(`/api/v1/tasks/${name}/findings`)
  expect(body['findings']).toMatchObject([{ kind: 'loop', type: 'repeat_call' }])
})

test('images and moderation in a task are steps of it: no call, no finding, and the loop is found', async () => {
  const openai = new OpenAI({
    ...{ apiKey: 'sk-provider', baseURL: `${machine.service.base_url}/v1` },
    defaultHeaders: headersOf('pictures'),
  })
  await openai.moderations.create({ input: 'Fix the test.' })
  await runResponses('pictures')
  await openai.images.generate({ model: 'gpt-image-1', prompt: 'a green test' })
  await openai.files.list()
  await eventually('the loop', async () => {
    const { body } = await api.get('/api/v1/tasks/pictures/loops')
    return Array.isArray(body['loops']) && body['loops'].length === 1
  })
  const rows = await eventually('all rows', async () => {
    const now_ms = Date.now()
    const { body } = await api.post('/api/v2/observability/query', {
      entity: 'observations',
      window: {
        from: new Date(now_ms - 3_600_000).toISOString(),
        to: new Date(now_ms + 60_000).toISOString(),
      },
      where: { field: 'task_id', op: 'eq', value: 'pictures' },
      select: ['endpoint', 'type', 'content_state', 'input', 'output'],
      limit: 50,
    })
    const found = body['rows'] as Record<string, unknown>[] | undefined
    return found !== undefined && found.length >= steps + 2 && found
  })
  const passed = rows.filter(({ endpoint }) => endpoint !== 'responses')
  const none = { content_state: 'none', input: null, output: null }
  expect(
    passed.toSorted((a, b) => (String(a['endpoint']) < String(b['endpoint']) ? -1 : 1)),
  ).toEqual([
    { endpoint: 'images', type: 'span', ...none },
    { endpoint: 'moderations', type: 'guardrail', ...none },
  ])
  const { body: task } = await api.get('/api/v1/tasks/pictures')
  expect(task).toMatchObject({ calls: steps, tokens: { total: steps * 100 } })
  const { body } = await api.get('/api/v1/tasks/pictures/findings')
  expect(body['findings']).toMatchObject([{ kind: 'loop', type: 'repeat_call' }])
})

test('an agent whose spans have no content: its loop is found in log records that come later', async () => {
  const trace = '5b8efff798038103d269b633813fc60c'
  const start = BigInt(Date.now() - 60_000) * 1_000_000n
  const text = (stringValue: string) => ({ stringValue })
  const at = (step: number) => start + BigInt(step) * 1_000_000_000n
  const place = (step: number) => ({ traceId: trace, spanId: `00f067aa0ba9000${step}` })
  const spans = Array.from({ length: steps }, (_, step) => ({
    ...place(step),
    ...{ name: 'chat gpt-4o', kind: 3 },
    ...{ startTimeUnixNano: `${at(step)}`, endTimeUnixNano: `${at(step) + 500_000_000n}` },
    attributes: [{ key: 'gen_ai.operation.name', value: text('chat') }],
  }))
  await send('/v1/traces', { resourceSpans: [{ scopeSpans: [{ spans }] }] })
  const id = `${trace.slice(0, 8)}-${trace.slice(8, 12)}-${trace.slice(12, 16)}-${trace.slice(16, 20)}-${trace.slice(20)}`
  const summary = await eventually('the verdict', async () => {
    const { status, body } = await api.get(`/api/v1/tasks/${id}`)
    return status === 200 && (body['verdict'] as { summary: string } | null)?.summary
  })
  expect(summary).toContain('checks did not run')
  const history: object[] = [{ role: 'user', content: 'Fix the test.' }]
  const logRecords = Array.from({ length: steps }, (_, step) => {
    const called = { name: 'read_file', arguments: JSON.stringify(args) }
    const call = { id: `c${step}`, type: 'function', function: called }
    const asked = { role: 'assistant', tool_calls: [call] }
    const sent = history.map((message) => [`gen_ai.${Object(message).role}.message`, message])
    history.push(asked, { role: 'tool', id: `c${step}`, content: result })
    return [...sent, ['gen_ai.choice', { index: 0, message: asked }]].map(
      ([eventName, body], nth) => ({
        ...place(step),
        ...{ timeUnixNano: `${at(step) + BigInt(nth)}`, eventName },
        body: text(JSON.stringify(body)),
      }),
    )
  }).flat()
  await send('/v1/logs', { resourceLogs: [{ scopeLogs: [{ logRecords }] }] })
  await eventually('the loop', async () => {
    const { body } = await api.get(`/api/v1/tasks/${id}/loops`)
    return (body['loops'] as unknown[]).length === 1
  })
})

async function send(path: string, body: object): Promise<void> {
  const response = await fetch(`${machine.service.base_url}${path}`, {
    method: 'POST',
    headers: { 'X-API-Key': machine.login.project_key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(response.status).toBe(200)
}
