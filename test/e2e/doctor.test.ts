import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { main } from '../support/bundle.ts'
import { childEnv } from '../support/child-env.ts'
import { freePort } from '../support/free-port.ts'
import type { Json } from '../support/verification-api.ts'

type Result = { status: number; stdout: string; stderr: string }

/** `looptrace doctor` as a separate process. */
function doctor(env: Record<string, string>, ...more: string[]): Promise<Result> {
  const args = [main, 'doctor', ...more]
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env: childEnv(env) }, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr })
    })
  })
}

const check = (id: string, change: object = {}) => ({
  ...{ id, title: `The ${id}`, state: 'done', required: true, since: null, detail: 'Fine.' },
  ...{ commands: [], ...change },
})

let report: Json
let status: number
let proxyStatus: number
let keys: unknown[] = []
const server = createServer(({ url, headers }, response) => {
  keys.push(headers['x-api-key'])
  const isProxy = url === '/v1/chat/completions'
  response.writeHead(isProxy ? proxyStatus : status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(isProxy ? { error: {} } : report))
})
let env: Record<string, string>

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  env = { LOOPTRACE_URL: `http://127.0.0.1:${port}`, LOOPTRACE_API_KEY: 'lt_the_key_of_the_test' }
})
afterAll(() => server.close())

const scopes = ['proxy:write', 'ingest:write', 'tasks:read', 'tasks:write']
beforeEach(() => {
  ;[status, proxyStatus, keys] = [200, 405, []]
  report = {
    ...{ project_id: 'p-1', checked_at: new Date().toISOString(), checks: [check('first_call')] },
    caller: { kind: 'key', scopes, environment: null, expires_at: null },
  }
})

/** States of the checks by id. */
async function statesOf(more: Record<string, string> = {}): Promise<Record<string, string>> {
  const { stdout } = await doctor({ ...env, ...more }, '-o', 'json')
  return Object.fromEntries(JSON.parse(stdout).checks.map((one: Json) => [one.id, one.state]))
}

test('all done is status 0; the proxy gets no key', async () => {
  const { status: exit, stdout } = await doctor(env)
  expect([exit, stdout]).toEqual([0, expect.stringContaining('Everything is done.')])
  for (const title of ['The API answers', 'The clocks agree', 'The first_call']) {
    expect(stdout).toContain(`done     ${title}`)
  }
  expect(keys.toSorted()).toEqual(['lt_the_key_of_the_test', undefined])
  expect(await statesOf()).toEqual({
    ...{ api_answers: 'done', key_accepted: 'done', key_scopes: 'done', clock_skew: 'done' },
    ...{ proxy_answers: 'done', first_call: 'done' },
  })
})

test('a missing check shows its first command, and is status 1', async () => {
  const commands = [
    { tool: 'curl', text: 'curl one \\\n  -d 2' },
    { tool: 'kubectl', text: 'kubectl three' },
  ]
  report.checks = [check('rule', { state: 'missing', detail: 'Create one.', commands })]
  const { status: exit, stdout } = await doctor(env)
  expect(exit).toBe(1)
  expect(stdout).toContain(
    'missing  The rule\n         Create one.\n           curl one \\\n             -d 2\n',
  )
  expect(stdout).not.toContain('kubectl three')
})

test('a recommended check is status 1 with --strict only', async () => {
  report.checks = [check('archive', { state: 'missing', required: false })]
  expect(await doctor(env)).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('missing  The archive (recommended)'),
  })
  expect(await doctor(env, '--strict')).toMatchObject({ status: 1 })
})

test('an unknown check is not done', async () => {
  report.checks = [check('first_call', { state: 'unknown' })]
  expect(await doctor(env)).toMatchObject({ status: 1 })
})

describe('the connection', () => {
  test('no answer names the address', async () => {
    const url = `http://127.0.0.1:${await freePort()}`
    const { status: exit, stdout } = await doctor({ ...env, LOOPTRACE_URL: url })
    expect([exit, stdout]).toEqual([1, expect.stringContaining(url)])
    expect(stdout).toContain('Set LOOPTRACE_URL to the URL of the API')
  })

  test.each([
    [401, 'key_accepted'],
    [403, 'key_scopes'],
    [404, 'api_answers'],
    [500, 'api_answers'],
  ])('an answer of %d is told by the check %s', async (answered, id) => {
    status = answered
    const states = await statesOf()
    expect(states[id]).toBe('missing')
    const { status: exit, stdout } = await doctor(env)
    expect([exit, stdout]).toEqual([1, expect.not.stringContaining('lt_the_key')])
  })

  test('an answer that is no report', async () => {
    report = { hello: 1 }
    expect(await statesOf()).toMatchObject({ api_answers: 'missing' })
  })

  test('another proxy is asked where LOOPTRACE_PROXY_URL says', async () => {
    const LOOPTRACE_PROXY_URL = `http://127.0.0.1:${await freePort()}`
    expect(await statesOf({ LOOPTRACE_PROXY_URL })).toMatchObject({ proxy_answers: 'missing' })
    proxyStatus = 404
    expect(await statesOf()).toMatchObject({ proxy_answers: 'missing', api_answers: 'done' })
  })

  test('missing scopes, and a key that expires soon', async () => {
    report.caller.scopes = ['tasks:read']
    const { stdout } = await doctor(env)
    expect(stdout).toContain('The key lacks proxy:write, ingest:write, tasks:write.')
    report.caller.scopes = scopes
    report.caller.expires_at = new Date(Date.now() + 86_400_000).toISOString()
    expect(await statesOf()).toMatchObject({ key_scopes: 'missing' })
    report.caller = { ...report.caller, scopes: null, expires_at: null }
    expect(await statesOf()).toMatchObject({ key_scopes: 'done' })
  })

  test.each([
    [-3 * 86_400_000, 'behind'],
    [3 * 86_400_000, 'ahead of'],
  ])('a clock that differs by %d ms', async (skew_ms, side) => {
    report.checked_at = new Date(Date.now() + skew_ms).toISOString()
    const { status: exit, stdout } = await doctor(env)
    expect([exit, stdout]).toEqual([1, expect.stringContaining(`s ${side} that of this machine`)])
  })
})

test('no control character of an answer reaches the terminal', async () => {
  const commands = [{ tool: 'curl', text: 'curl \u001b[2J' }]
  const hostile = { state: 'missing', title: 'a\u001b[2J', detail: 'b\u009b2J\nc', commands }
  report.checks = [check('x', hostile)]
  const { stdout } = await doctor(env)
  expect(stdout).toContain('a\\u001b[2J')
  expect(stdout).toContain('b\\u009b2J\\u000ac')
  expect(stdout).toContain('curl \\u001b[2J')
  for (const control of ['\u001b', '\u009b']) expect(stdout).not.toContain(control)
})

test('a missing key and a wrong URL are status 2', async () => {
  const { LOOPTRACE_URL = '' } = env
  expect(await doctor({ LOOPTRACE_URL })).toMatchObject({
    ...{ status: 2, stderr: expect.stringContaining('LOOPTRACE_API_KEY is not set') },
  })
  expect(await doctor({ ...env, LOOPTRACE_URL: 'x' })).toMatchObject({ status: 2 })
})
