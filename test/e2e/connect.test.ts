import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { main } from '../support/bundle.ts'
import { childEnv } from '../support/child-env.ts'

type Result = { status: number; stdout: string; stderr: string }

/** `looptrace connect` as a separate process. */
function connect(env: Record<string, string>, ...more: string[]): Promise<Result> {
  const args = [main, 'connect', ...more]
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env: childEnv(env) }, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr })
    })
  })
}

const key = 'lt_the_key_of_the_test'
const scopes = ['proxy:write', 'ingest:write', 'tasks:read', 'tasks:write']
let reportStatus: number
/** The model calls of the task that the service knows from its second answer on. */
let calls: object[]
let asked: number
/** Other tasks with later activity. */
let busy: object[]
const server = createServer(({ url = '' }, response) => {
  const answer = (status: number, body: object) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  if (url === '/v1/chat/completions') return answer(405, {})
  if (url.startsWith('/api/v1/onboarding/report')) {
    const caller = { scopes, expires_at: null }
    const checked_at = new Date(checked_ms).toISOString()
    return answer(reportStatus, { project_id: 'p-1', checked_at, checks: [], caller })
  }
  if (url.includes('/timeline')) return answer(200, pageOfCalls(new URL(url, 'http://service')))
  asked += 1
  const limit = Number(new URL(url, 'http://service').searchParams.get('limit'))
  const tasks = asked < 2 ? [] : [...busy, { task_id: 'my task', calls: calls.length }]
  return answer(200, { tasks: tasks.slice(0, limit) })
})
let env: Record<string, string>

/** A page of the timeline as the service cuts it: `limit` calls after those of the cursor. */
function pageOfCalls({ searchParams }: URL): object {
  const start = Number(searchParams.get('cursor') ?? 0)
  const end = start + Number(searchParams.get('limit') ?? 50)
  return {
    entries: calls.slice(start, end),
    next_cursor: end < calls.length ? String(end) : null,
  }
}

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  env = { LOOPTRACE_URL: `http://127.0.0.1:${port}`, LOOPTRACE_API_KEY: key }
})
afterAll(() => server.close())
beforeEach(() => {
  ;[reportStatus, calls, asked, busy] = [200, [], 0, []]
})

const checked_ms = Date.now()

const call = (change: object = {}) => ({
  ...{ role: 'model_call', time: new Date(checked_ms + 5_000).toISOString(), status: 'ok' },
  ...{ status_code: 200, error: null, provider: 'openai', model: 'gpt-5-mini' },
  ...{ tokens: { total: 42 }, ...change },
})

test('the lines of a client have the URL of the proxy, and no key', async () => {
  const proxy = { ...env, LOOPTRACE_PROXY_URL: 'https://proxy.example/' }
  const { status, stdout } = await connect(proxy, 'claude-code')
  expect([status, stdout]).toEqual([0, expect.not.stringContaining(key)])
  expect(stdout).toContain('export ANTHROPIC_BASE_URL="https://proxy.example"')
  expect(stdout).toContain('X-Looptrace-Key: $LOOPTRACE_API_KEY')
})

test('the key is printed only with --show-key', async () => {
  const { stdout } = await connect(env, 'openai-node', '--show-key', '-o', 'json')
  expect(JSON.parse(stdout)).toMatchObject({
    name: 'openai-node',
    base_url: `${env['LOOPTRACE_URL']}/v1`,
    lines: expect.arrayContaining([expect.stringContaining(`'X-API-Key': "${key}"`)]),
  })
  const only = await connect(env, 'base-url', '--show-key', '-o', 'json')
  expect(JSON.parse(only.stdout).base_url).toBe(`${env['LOOPTRACE_URL']}/k/${key}`)
  const { LOOPTRACE_URL = '' } = env
  expect(await connect({ LOOPTRACE_URL }, 'codex', '--show-key')).toMatchObject({ status: 2 })
})

test('without a client it lists all; an unknown one is refused with the list', async () => {
  const { status, stdout } = await connect({})
  expect([status, stdout]).toEqual([0, expect.stringMatching(/^gemini-cli +Gemini CLI/m)])
  expect(await connect({}, 'gopher')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('expected one of openai-python'),
  })
})

test('--check waits for a call and says where it is', async () => {
  calls = [call()]
  const { status, stdout } = await connect(env, 'codex', '--check', '--wait', '20')
  expect([status, stdout]).toEqual([0, expect.not.stringContaining(key)])
  expect(stdout).toContain('A call to openai gpt-5-mini arrived, with 42 tokens.')
  expect(stdout).toContain('It is in the task my task.')
})

test('--check sees a call behind thousands of earlier ones of its task', async () => {
  const earlier = call({ time: new Date(checked_ms - 5_000).toISOString() })
  calls = [...Array.from({ length: 2_500 }, () => earlier), call()]
  const { status, stdout } = await connect(env, 'codex', '--check', '--wait', '20')
  expect([status, stdout]).toEqual([0, expect.stringContaining('It is in the task my task.')])
})

test('--check sees a call of a task behind busy tasks without calls', async () => {
  calls = [call()]
  busy = Array.from({ length: 40 }, (_, at) => ({ task_id: `spans ${at}`, calls: 0 }))
  const { status, stdout } = await connect(env, 'codex', '--check', '--wait', '20')
  expect([status, stdout]).toEqual([0, expect.stringContaining('It is in the task my task.')])
})

test.each([
  [401, 'Set the provider’s key'],
  [404, 'check the name of the model'],
  [429, 'limits your calls'],
])('a call that the provider refused with %d says why', async (status_code, advice) => {
  const error = { type: 'invalid_request_error', message: 'no' }
  calls = [call({ status: 'error', status_code, error })]
  const { status, stdout } = await connect(env, 'codex', '--check', '--wait', '20', '-o', 'json')
  expect(status).toBe(1)
  expect(JSON.parse(stdout).check).toMatchObject({
    state: 'refused',
    detail: expect.stringContaining(`${status_code} invalid_request_error: no`),
    advice: [expect.stringContaining(advice)],
  })
})

test('without a new call it says what to look at', async () => {
  calls = [call({ time: new Date(checked_ms - 5_000).toISOString() })]
  const { status, stdout } = await connect(env, 'anthropic-python', '--check', '--wait', '1')
  expect(status).toBe(1)
  expect(stdout).toContain('No call arrived in 1 s.')
  expect(stdout).toContain('the key is not in the header X-Looptrace-Key')
  expect(stdout).toContain('404: the base URL must end in the port, without a path.')
})

test('a key that the service refuses is told at once', async () => {
  reportStatus = 401
  const { status, stdout } = await connect(env, 'codex', '--check', '-o', 'json')
  expect(status).toBe(1)
  expect(JSON.parse(stdout).check).toMatchObject({
    state: 'unconnected',
    advice: [expect.stringContaining('The API does not know the key.')],
  })
})
