import { randomUUID } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Api, apiByKey, apiByToken } from '../support/clients/api-reader.ts'
import { eventually } from '../support/eventually.ts'
import { type SingleMachine, startSingleMachine } from '../support/single-machine.ts'

/** Agents that set a base URL and a key, and say nothing else of ours, through the whole product. */
let machine: SingleMachine
let provider: Server
let api: Api
let admin: Api

type Block = { type: string; text?: string; id?: string; name?: string; input?: object }

/** What the provider answers next, by the path of the call. */
let script: (path: string, at: number, body: Record<string, unknown>) => object
let seen: IncomingHttpHeaders[] = []
/** Trace id of the last call of a turn. */
let lastTrace = ''

const usage = { input_tokens: 90, output_tokens: 10, total_tokens: 100 }
const message = (at: number, ...content: Block[]) => ({
  ...{ id: `msg_${at}`, type: 'message', role: 'assistant', model: 'claude-9' },
  ...{ content, usage },
  stop_reason: content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn',
})
const text = (words: string): Block => ({ type: 'text', text: words })
const use = (id: string, name: string, input: object): Block => ({
  type: 'tool_use',
  ...{ id, name, input },
})
const response = (id: string, ...output: object[]) => ({
  ...{ id, object: 'response', status: 'completed', model: 'gpt-5-mini', output, usage },
})
const called = (call_id: string) => ({
  ...{ type: 'function_call', id: `fc_${call_id}`, call_id, name: 'read_file' },
  ...{ arguments: '{"path":"src/app.ts"}', status: 'completed' },
})
const spoken = (words: string) => ({
  ...{ type: 'message', id: 'm', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text: words, annotations: [] }],
})

beforeAll(async () => {
  let calls = 0
  provider = createServer(async (request, answer) => {
    const body = (await json(request)) as Record<string, unknown>
    const [path = ''] = (request.url ?? '').split('?', 1)
    calls += 1
    seen.push(request.headers)
    answer.writeHead(200, { 'content-type': 'application/json' })
    answer.end(JSON.stringify(script(path, calls, body)))
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  machine = await startSingleMachine({
    env: {
      LOOPTRACE_PROXY_KEY_CACHE_TTL_MS: '0',
      LOOPTRACE_OPENAI_BASE_URL: `${base}/v1`,
      LOOPTRACE_ANTHROPIC_BASE_URL: `${base}/v1`,
      LOOPTRACE_GEMINI_BASE_URL: `${base}/v1beta/openai`,
    },
  })
  const running = { api_url: machine.service.base_url, login: machine.login }
  api = apiByKey(running)
  admin = await apiByToken(running)
})
afterAll(async () => {
  await machine?.[Symbol.asyncDispose]()
  provider?.close()
})

function anthropic(headers: Record<string, string> = {}): Anthropic {
  return new Anthropic({
    ...{ apiKey: 'sk-ant-provider', baseURL: machine.service.base_url, maxRetries: 0 },
    defaultHeaders: { 'X-Looptrace-Key': machine.login.project_key, ...headers },
  })
}

function openai(headers: Record<string, string> = {}): OpenAI {
  return new OpenAI({
    ...{ apiKey: 'sk-provider', baseURL: `${machine.service.base_url}/v1`, maxRetries: 0 },
    defaultHeaders: { 'X-API-Key': machine.login.project_key, ...headers },
  })
}

type Task = Record<string, unknown> & { task_id: string; calls: number }

/** The tasks since a time, oldest first, once they have so many calls together. */
async function tasksSince(from: string, calls: number): Promise<Task[]> {
  return eventually('the calls', async () => {
    const { body } = await api.get(`/api/v1/tasks?from=${encodeURIComponent(from)}&limit=100`)
    const tasks = body['tasks'] as Task[]
    const sum = tasks.reduce((total, task) => total + task.calls, 0)
    const byStart = (a: Task, b: Task) =>
      String(a['started_at']).localeCompare(String(b['started_at']))
    return sum === calls && tasks.toSorted(byStart)
  })
}

/** Waits until no task of another test can begin at or after the returned time. */
async function now(): Promise<string> {
  await new Promise((resolve) => setTimeout(resolve, 5))
  return new Date().toISOString()
}

const asked = { model: 'claude-9', max_tokens: 100 }
const tools = [{ name: 'Task', input_schema: { type: 'object' as const } }]

/** Sends a turn of a person with so many tool calls, and then an answer. */
async function takeTurn(
  client: Anthropic,
  messages: Anthropic.MessageParam[],
  { words, steps, metadata }: { words: string; steps: number; metadata?: { user_id: string } },
): Promise<void> {
  messages.push({ role: 'user', content: words })
  script = (_path, at, body) => {
    const sent = body['messages'] as unknown[]
    const isLast = sent.length >= messages.length && left === 0
    left -= 1
    return isLast ? message(at, text('Done.')) : message(at, use(`c${at}`, 'Read', { path: 'a' }))
  }
  let left = steps
  for (let step = 0; step <= steps; step += 1) {
    const { data, response: head } = await client.messages
      .create({ ...{ ...asked, messages, tools }, ...(metadata && { metadata }) })
      .withResponse()
    const { content } = data
    lastTrace = head.headers.get('x-trace-id') ?? ''
    messages.push({ role: 'assistant', content })
    const results = content.flatMap((block) =>
      block.type === 'tool_use'
        ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: 'not found' }]
        : [],
    )
    if (results.length > 0) messages.push({ role: 'user', content: results })
  }
}

test('a loop by a base URL and a key alone is one task, and the loop is found', async () => {
  const from = await now()
  await takeTurn(anthropic(), [], { words: 'Fix the test.', steps: 6 })
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Fix the code.' }]
  script = (_path, at) => response(`resp_${at}`, called(`c${at}`))
  for (let step = 0; step < 7; step += 1) {
    const { output } = await openai().responses.create({
      ...{ model: 'gpt-5-mini', input, store: false },
    })
    for (const item of output) {
      input.push(item as OpenAI.Responses.ResponseInputItem)
      if (item.type !== 'function_call') continue
      input.push({ type: 'function_call_output', call_id: item.call_id, output: 'not found' })
    }
  }
  const tasks = await eventually('one task for each loop', async () => {
    const found = await tasksSince(from, 14)
    return found.length === 2 && found
  })
  expect(tasks.map(({ calls, state }) => [calls, state])).toEqual([
    [7, 'completed'],
    [7, 'completed'],
  ])
  const ofTrace = await api.get(`/api/v1/tasks/${lastTrace}`)
  expect(ofTrace.body).toMatchObject({ task_id: tasks[0]?.task_id, task_rule: 'history' })
  for (const { task_id } of tasks) {
    await eventually('the loop', async () => {
      const { body } = await api.get(`/api/v1/tasks/${encodeURIComponent(task_id)}/loops`)
      return (body['loops'] as unknown[]).length === 1
    })
  }
})

test('a loop of Gemini, whose calls have no ids, and one of chat completions are one task each', async () => {
  const from = await now()
  const google = new GoogleGenAI({
    apiKey: 'google-provider-key',
    httpOptions: {
      baseUrl: machine.service.base_url,
      headers: { 'X-Looptrace-Key': machine.login.project_key },
    },
  })
  const functionCall = { name: 'read_file', args: { path: 'a' } }
  script = (_path, at) => ({
    candidates: [{ content: { role: 'model', parts: [{ functionCall }] }, finishReason: 'STOP' }],
    ...{ modelVersion: 'gemini-2.5-flash', responseId: `r${at}` },
  })
  const contents: object[] = [{ role: 'user', parts: [{ text: 'Fix the test.' }] }]
  for (let step = 0; step < 4; step += 1) {
    const model = 'gemini-2.5-flash'
    const { candidates } = await google.models.generateContent({ model, contents })
    const functionResponse = { name: 'read_file', response: { output: 'not found' } }
    contents.push(candidates?.[0]?.content ?? {}, { role: 'user', parts: [{ functionResponse }] })
  }
  const tool_calls = (id: string) => [
    { id, type: 'function', function: { name: 'read_file', arguments: '' } },
  ]
  script = (_path, at) => {
    const asking = { role: 'assistant', content: null, tool_calls: tool_calls(`call_${at}`) }
    const choices = [{ index: 0, message: asking, finish_reason: 'tool_calls' }]
    return { id: `chatcmpl-${at}`, object: 'chat.completion', model: 'gpt-5-mini', choices }
  }
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Fix it.' }]
  for (let step = 0; step < 4; step += 1) {
    const { choices } = await openai().chat.completions.create({ model: 'gpt-5-mini', messages })
    const [choice] = choices
    if (choice === undefined) throw new Error('no answer')
    messages.push(choice.message)
    for (const { id } of choice.message.tool_calls ?? []) {
      messages.push({ role: 'tool', tool_call_id: id, content: 'not found' })
    }
  }
  const tasks = await eventually('one task for each loop', async () => {
    const found = await tasksSince(from, 8)
    return found.length === 2 && found
  })
  expect(tasks).toMatchObject([
    { calls: 4, task_rule: 'history' },
    { calls: 4, task_rule: 'history' },
  ])
})

test('the traffic of Claude Code: a session is a conversation, a turn a task, sub-agents nest', async () => {
  const from = await now()
  const session = randomUUID()
  const headers = {
    'x-claude-code-session-id': session,
    'user-agent': 'claude-cli/2.1 (external, cli)',
    'x-app': 'cli',
  }
  const metadata = { user_id: `user_0a1b_account_${randomUUID()}_session_${session}` }
  const main = anthropic(headers)
  const messages: Anthropic.MessageParam[] = []
  script = (_path, at) => message(at, text('A title'))
  const title = [{ role: 'user' as const, content: 'Fix the test.' }]
  await main.messages.create({ ...asked, max_tokens: 20, messages: title })
  await takeTurn(main, messages, { words: 'Fix the test.', steps: 2, metadata })
  // The second turn starts a sub-agent, which makes three calls before the turn goes on.
  const prompt = 'Look at the tests.'
  messages.push({ role: 'user', content: 'continue' })
  script = (_path, at) => message(at, use(`t${at}`, 'Task', { description: 'look', prompt }))
  const { content } = await main.messages.create({ ...asked, messages, tools, metadata })
  const inner = anthropic({ ...headers, 'x-claude-code-agent-id': 'a1b2' })
  await takeTurn(inner, [], { words: prompt, steps: 2 })
  messages.push({ role: 'assistant', content })
  const [started] = content
  if (started?.type !== 'tool_use') throw new Error('no tool call')
  const result = { type: 'tool_result' as const, tool_use_id: started.id, content: 'Looked.' }
  messages.push({ role: 'user', content: [result] })
  script = (_path, at) => message(at, text('Done.'))
  await main.messages.create({ ...asked, messages, tools, metadata })

  const tasks = await eventually('two turns', async () => {
    const found = await tasksSince(from, 9)
    return found.length === 2 && found
  })
  expect(tasks).toMatchObject([
    { calls: 4, task_rule: 'claude_code', implicit: true, conversation: { id: session } },
    { calls: 5, task_rule: 'claude_code', implicit: true, conversation: { id: session } },
  ])
  const { body } = await api.post('/api/v2/observability/query', {
    entity: 'observations',
    window: { from, to: new Date(Date.now() + 60_000).toISOString() },
    where: { field: 'attributes.task_rule', op: 'eq', value: 'claude_code' },
    select: ['agent_name', 'attributes'],
  })
  const rows = body['rows'] as { agent_name: string | null }[]
  expect(rows.map(({ agent_name }) => agent_name).filter((name) => name === 'a1b2')).toHaveLength(3)
  expect(rows).toHaveLength(9)
  expect(JSON.stringify(rows)).toContain('request.metadata')
  expect(JSON.stringify(rows)).not.toMatch(/user_0a1b|account/)
})

test('the traffic of Codex, and answers that name the one before', async () => {
  const from = await now()
  const session = randomUUID()
  const codex = openai({
    'session-id': session,
    'thread-id': session,
    'user-agent': 'codex_cli_rs/0.99 (linux)',
    'x-codex-turn-metadata': '{"workspaces":{"/home/ann/secret-plan":{}}}',
  })
  const environment = {
    role: 'user' as const,
    content: '<environment_context>x</environment_context>',
  }
  const input: OpenAI.Responses.ResponseInput = [environment, { role: 'user', content: 'Go.' }]
  for (const step of [0, 1, 2]) {
    script = (_path, at) => response(`r${at}`, step < 2 ? called(`c${at}`) : spoken('Done.'))
    const { output } = await codex.responses.create({
      ...{ model: 'gpt-5-mini', input, store: false, prompt_cache_key: session },
    })
    for (const item of output) {
      input.push(item as OpenAI.Responses.ResponseInputItem)
      if (item.type !== 'function_call') continue
      input.push({ type: 'function_call_output', call_id: item.call_id, output: 'x' })
    }
  }
  const turn = await eventually('the turn', async () => {
    const found = await tasksSince(from, 3)
    return found.length === 1 && found[0]
  })
  expect(turn).toMatchObject({ task_rule: 'codex', conversation: { id: session } })

  const chained = await now()
  let previous_response_id: string | null = null
  for (const step of [0, 1, 2]) {
    script = (_path, at) => response(`resp_${at}_${session}`, spoken(`Answer ${step}`))
    const headers = step === 0 ? { 'X-Task-ID': 'chain', 'X-Conversation-ID': 'talk' } : {}
    const made: OpenAI.Responses.Response = await openai(headers).responses.create({
      ...{ model: 'gpt-5-mini', input: `Question ${step}`, previous_response_id },
    })
    previous_response_id = made.id
  }
  const [chain, ...others] = await eventually('the chain', async () => {
    const found = await tasksSince(chained, 3)
    return found.length === 1 && found
  })
  expect(others).toEqual([])
  expect(chain).toMatchObject({ task_id: 'chain', calls: 3, conversation: { external_id: 'talk' } })
  const { body } = await api.post('/api/v2/observability/query', {
    entity: 'observations',
    window: { from, to: new Date(Date.now() + 60_000).toISOString() },
    select: ['attributes'],
  })
  expect(JSON.stringify(body['rows'])).not.toContain('secret-plan')
})

test('headers that name no session pass, and the call is its own task', async () => {
  const from = await now()
  script = (_path, at) => message(at, text('Hello.'))
  seen = []
  const messages = [{ role: 'user' as const, content: 'a' }]
  const long = 'x'.repeat(300)
  await anthropic({ 'x-session-id': long }).messages.create({ ...asked, messages })
  await anthropic({ 'session-id': 'not codex' }).messages.create({ ...asked, messages })
  const huge = anthropic({ 'x-session-id': 'x'.repeat(1_000_000) })
  await expect(huge.messages.create({ ...asked, messages })).rejects.toThrow(
    /431|fetch failed|Connection/,
  )
  expect(seen.map((headers) => headers['x-session-id'] ?? headers['session-id'])).toEqual([
    long,
    'not codex',
  ])
  const tasks = await tasksSince(from, 2)
  expect(tasks).toMatchObject([
    { calls: 1, task_rule: null, conversation: null },
    { calls: 1, task_rule: null, conversation: null },
  ])
})

test('a capture policy without content changes no task', async () => {
  const from = await now()
  const policy = (content: string) => admin.put('/api/v2/observability/capture-policy', { content })
  expect(await policy('metadata_only')).toMatchObject({ status: 200 })
  await takeTurn(anthropic(), [], { words: 'Fix it without content.', steps: 3 })
  const tasks = await eventually('one task', async () => {
    const found = await tasksSince(from, 4)
    return found.length === 1 && found
  })
  expect(tasks).toMatchObject([{ calls: 4, task_rule: 'history' }])
  const { body } = await api.post('/api/v2/observability/query', {
    entity: 'observations',
    window: { from, to: new Date(Date.now() + 60_000).toISOString() },
    select: ['content_state', 'input', 'attributes'],
  })
  expect(JSON.stringify(body['rows'])).not.toContain('without content')
  await policy('full')
})

test('a project switches a rule off, and a key cannot', async () => {
  const url = `/api/v2/access/projects/${machine.login.project_id}/task-rules`
  const off = ['x_session_id']
  expect((await api.put(url, { off })).status).toBe(401)
  expect((await admin.put(url, { off: ['unknown'] })).status).toBe(400)
  expect(await admin.put(url, { off })).toMatchObject({
    status: 200,
    body: { task_rules_off: off },
  })
  const missing = url.replace(machine.login.project_id, randomUUID())
  expect((await admin.put(missing, { off })).status).toBe(404)
  const messages = [{ role: 'user' as const, content: 'a' }]
  script = (_path, at) => message(at, text('Hello.'))
  await eventually(
    'the proxy follows',
    async () => {
      const from = await now()
      await anthropic({ 'x-session-id': randomUUID() }).messages.create({ ...asked, messages })
      const [task] = await tasksSince(from, 1)
      return task?.['task_rule'] === null
    },
    { timeout_ms: 60_000 },
  )
  await admin.put(url, { off: [] })
}, 90_000)
