import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runPython } from '../python.ts'
import { quarterOf } from '../suite/budget.ts'
import { type Api, apiByKey, apiByToken } from './api-reader.ts'
import type { ClientShape } from './client-shape.ts'
import { guideSuite } from './guide-suite.ts'
import { nodeChecks } from './node-checks.ts'
import { heardBefore } from './node-outcome.ts'
import { pythonCases } from './python-cases.ts'
import { modelCalls, readTask, shownTask, taskPath } from './shown-task.ts'

/**
 * Runs the real client packages against a service: they get what the provider sends, and the
 * product API shows what happened.
 */
export function clientSuite(running: () => ClientShape): void {
  let at: Setting
  beforeAll(async () => {
    const shape = running()
    const token = await apiByToken(shape)
    at = { shape, apis: { key: apiByKey(shape), token }, lags_ms: [] }
  })
  afterAll(() => {
    if (at === undefined) return
    const sorted = at.lags_ms.toSorted((a, b) => a - b).map(Math.round)
    console.log(
      `from the end of a call to its being readable: median ${sorted[sorted.length >> 1]} ms,`,
      `longest ${sorted.at(-1)} ms of ${sorted.length}`,
    )
  })
  describe('the openai package of Node', () => nodeSuite(() => at))
  describe('the openai package of Python', () => pythonSuite(() => at))
  describe('the guide to the first trace', () => guideSuite(() => at.shape))
}

/** Shared state of a suite's tests. */
type Setting = { shape: ClientShape; apis: { key: Api; token: Api }; lags_ms: number[] }

const provider_key = 'provider-key'

/** Agent headers of every call; each task has its own conversation. */
const agentHeaders = { 'X-Task-Name': 'client check', 'X-User-ID': 'user-7' }
const conversationOf = (task_id: string) => `talk of ${task_id}`

function nodeSuite(setting: () => Setting): void {
  const direct = () =>
    new OpenAI({
      baseURL: setting().shape.provider.base_urls.openai,
      apiKey: provider_key,
      maxRetries: 0,
    })
  const proxied = (task_id: string) =>
    new OpenAI({
      baseURL: `${setting().shape.proxy_url}/v1`,
      apiKey: provider_key,
      maxRetries: 0,
      defaultHeaders: {
        'X-API-Key': setting().shape.login.project_key,
        'X-Task-ID': task_id,
        'X-Conversation-ID': conversationOf(task_id),
        ...agentHeaders,
      },
    })

  test.concurrent.each(quarterOf(nodeChecks))('$name', async ({ name, run, shows, task = {} }) => {
    const task_id = `node ${name}`
    const given = plain(await run(direct()))
    const got = plain(await run(proxied(task_id)))
    expect(given).toMatchObject(plainObject(shows))
    expect(got).toEqual(given)
    await expectShown(setting(), { task_id, ...counts(task) })
  })

  test('answers have the headers of the provider, and the trace', async () => {
    const task_id = 'node headers'
    const body = { model: 'gpt-4.1-mini', messages: [{ role: 'user' as const, content: 'plain:' }] }
    const given = await direct().chat.completions.create(body).withResponse()
    const got = await proxied(task_id).chat.completions.create(body).withResponse()
    expect(got.request_id).toBe(given.request_id)
    expect(ofProvider(got.response.headers)).toEqual(ofProvider(given.response.headers))
    const trace_id = got.response.headers.get('x-trace-id')
    const shown = await expectShown(setting(), { task_id, ...counts({}) })
    expect(shown.traces.map((trace) => trace['trace_id'])).toEqual([trace_id])
  })

  test('a stream that the provider cuts ends with an error that says so', async () => {
    const task_id = 'node cut'
    const body = {
      model: 'gpt-4.1-mini',
      messages: [{ role: 'user' as const, content: 'cut:' }],
      stream: true as const,
    }
    const given = await heardBefore(direct().chat.completions.create(body))
    const got = await heardBefore(proxied(task_id).chat.completions.create(body))
    expect(given).toMatchObject({ error: { name: 'TypeError' } })
    expect(got).toMatchObject({ error: { name: 'APIError', code: 'provider_cut' } })
    expect(plain(got.chunks)).toEqual(plain(given.chunks))
    await expectShown(setting(), { task_id, ...counts({ errors: 1 }) })
  })

  test.each(['anthropic', 'gemini'] as const)('another provider: %s', async (provider) => {
    const task_id = `node ${provider}`
    const headers = { 'X-Provider': provider }
    const baseURL = setting().shape.provider.base_urls[provider]
    const body = { model: 'm-1', messages: [{ role: 'user' as const, content: 'tools:' }] }
    const given = await direct().withOptions({ baseURL }).chat.completions.create(body)
    const got = await proxied(task_id).chat.completions.create(body, { headers })
    expect(plain(got)).toEqual(plain(given))
    const shown = await expectShown(setting(), { task_id, ...counts({}) })
    expect(shown.task['providers']).toEqual([provider])
  })

  test('a wrong project key is an AuthenticationError of the service', async () => {
    const client = proxied('node wrong key').withOptions({
      defaultHeaders: { 'X-API-Key': 'lt_wrong123_0000000000000000000000000000' },
    })
    const call = client.chat.completions.create({ model: 'm-1', messages: [] })
    await expect(call).rejects.toThrow(OpenAI.AuthenticationError)
    await expect(call).rejects.toMatchObject({ code: 'credentials_invalid' })
  })

  /** Sends one call of a task. */
  const say = (task_id: string, content: string) =>
    proxied(task_id).chat.completions.create({
      model: 'gpt-4.1-mini',
      messages: [{ role: 'user', content }],
    })

  test('a task is completed with the key, another one failed with a token', async () => {
    const { apis } = setting()
    for (const task_id of ['node ends well', 'node ends badly']) {
      await say(task_id, 'plain: hello')
      await expectShown(setting(), { task_id, ...counts({}) })
    }
    const done = await apis.key.put(`${taskPath('node ends well')}/complete`, { note: 'as sent' })
    expect(done).toMatchObject({ status: 200, body: { state: 'completed', end_note: 'as sent' } })
    const failed = await apis.token.put(`${taskPath('node ends badly')}/fail`)
    expect(failed).toMatchObject({ status: 200, body: { state: 'failed' } })
    const contrary = await apis.key.put(`${taskPath('node ends badly')}/complete`)
    expect(contrary).toMatchObject({ status: 409, body: { code: 'task_state_conflict' } })
  })

  test('a call of an ended task is late activity', async () => {
    const sent = { task_id: 'node ends well', ...counts({ calls: 2 }) }
    const { choices } = await say(sent.task_id, 'plain: once more')
    expect(choices).toHaveLength(1)
    const { task, timeline } = await expectShown(setting(), sent)
    expect(task).toMatchObject({ state: 'completed', late_activity: true })
    const changes = timeline.entries.flatMap((entry) => entry['change'] ?? [])
    expect(changes).toEqual(['created', 'completed', 'late_activity'])
  })
}

function pythonSuite(setting: () => Setting): void {
  let result: PythonResult
  beforeAll(async () => {
    const { provider, proxy_url, login } = setting().shape
    const headers = { 'X-API-Key': login.project_key, ...agentHeaders }
    const sides = {
      direct: { base_url: provider.base_urls.openai, headers: {} },
      proxied: { base_url: `${proxy_url}/v1`, headers },
    }
    result = JSON.parse(await runPython('client_checks.py', [JSON.stringify(sides)]))
  })

  test.concurrent.each(quarterOf(pythonCases))('$name', async ({ name, shows, task = {} }) => {
    const { direct, proxied } = result.cases[name] ?? {}
    expect(direct).toMatchObject(shows)
    expect(proxied).toEqual(name === 'cut stream' ? cutByProvider(direct) : direct)
    await expectShown(setting(), { task_id: `python ${name}`, ...counts(task) })
  })

  test('every case was checked', () => {
    expect(Object.keys(result.cases).toSorted()).toEqual(
      pythonCases.map(({ name }) => name).toSorted(),
    )
  })

  test('raw answers have the headers of the provider, and the trace', async () => {
    const { direct, proxied } = result.headers
    expect(proxied.map((headers) => ofProvider(Object.entries(headers)))).toEqual(
      direct.map((headers) => ofProvider(Object.entries(headers))),
    )
    const sent = { task_id: 'python raw', ...counts({ calls: 3, errors: 1 }) }
    const { traces } = await expectShown(setting(), sent)
    expect(new Set(traces.map((trace) => trace['trace_id']))).toEqual(
      new Set(proxied.map((headers) => headers['x-trace-id'])),
    )
  })
}

/** An answer's headers without those of the connection, which differs, and without ours. */
function ofProvider(headers: Iterable<[string, string]>): Record<string, string> {
  const ours = ['x-trace-id', 'x-ingest-request-id', 'date', 'connection', 'keep-alive']
  return Object.fromEntries([...headers].filter(([name]) => !ours.includes(name)))
}

type PythonResult = {
  cases: Record<string, { direct?: unknown; proxied?: unknown }>
  headers: Record<'direct' | 'proxied', Record<string, string>[]>
}

/** The service reports what the provider omitted. */
function cutByProvider(direct: unknown): object {
  const error = expect.objectContaining({ class: 'APIError', code: 'provider_cut' })
  return { ...(direct as object), error }
}

type Counts = { calls: number; errors: number; cancelled: number }

function counts(given: Partial<Counts>): Counts {
  return { calls: 1, errors: 0, cancelled: 0, ...given }
}

/** All six endpoints show the task, and show the same to the key and to the token. */
async function expectShown({ apis, lags_ms }: Setting, about: { task_id: string } & Counts) {
  const sent = { ...about, conversation: conversationOf(about.task_id) }
  const { shown, lag_ms } = await shownTask(apis.key, sent)
  lags_ms.push(lag_ms)
  expect(await readTask(apis.token, sent)).toEqual(shown)
  const { task_id, conversation, calls, errors, cancelled } = sent
  const { task, listed, timeline, listed_conversation, traces } = shown
  expect(task).toMatchObject({
    task_id,
    name: 'client check',
    user_id: 'user-7',
    conversation: { external_id: conversation },
    calls,
    errors,
    cancelled,
  })
  expect(listed).toEqual(task)
  const { tasks, task_states, tasks_url, ...summary } = shown.conversation
  expect(tasks.find((one) => one['task_id'] === task_id)).toEqual(task)
  expect(listed_conversation).toEqual(summary)
  expect([task_states, tasks_url]).toEqual([expect.any(Object), expect.any(String)])
  expect(timeline.totals).toMatchObject({ calls, errors })
  expect(new Set(modelCalls(timeline).map((call) => call['trace_id']))).toEqual(
    new Set(traces.map((trace) => trace['trace_id'])),
  )
  return shown
}

/** Converts to JSON and back: the packages add methods and hidden fields to their answers. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

function plainObject(value: unknown): object {
  return value as object
}
