import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { main } from '../support/bundle.ts'
import { childEnv } from '../support/child-env.ts'
import { accessToken } from '../support/clients/api-reader.ts'
import { eventually } from '../support/eventually.ts'
import { type SingleMachine, startSingleMachine } from '../support/single-machine.ts'

/** The commands that print what the API knows, against a service with the sample agents. */
let machine: SingleMachine
let env: Record<string, string>
const running: ChildProcess[] = []

beforeAll(async () => {
  machine = await startSingleMachine({ env: { LOOPTRACE_DEMO: '1' }, first: true })
  const { base_url } = machine.service
  env = { LOOPTRACE_URL: base_url, LOOPTRACE_API_KEY: machine.login.project_key, TZ: 'Asia/Tokyo' }
  await eventually('the verdicts', () => machine.service.output().includes('See the loop'), {
    timeout_ms: 120_000,
  })
})
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL')
  await machine[Symbol.asyncDispose]()
})

type Result = { status: number; stdout: string; stderr: string }

function looptrace(args: readonly string[], more: Record<string, string> = {}): Promise<Result> {
  const options = { env: childEnv({ ...env, ...more }) }
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], options, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr })
    })
  })
}

async function call(path: string, body?: object, headers: Record<string, string> = {}) {
  const response = await fetch(new URL(path, env['LOOPTRACE_URL']), {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(headers['authorization'] === undefined && { 'x-api-key': machine.login.project_key }),
      ...{ 'content-type': 'application/json', ...headers },
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return response.json()
}

/** Sends a model call of a task through the proxy. */
async function complete(task: string): Promise<void> {
  const response = await fetch(new URL('/v1/chat/completions', env['LOOPTRACE_URL']), {
    method: 'POST',
    headers: {
      ...{ 'x-api-key': machine.login.project_key, authorization: 'Bearer sk-test' },
      ...{ 'content-type': 'application/json', 'x-task-id': task },
    },
    body: JSON.stringify({ model: 'gpt-4.1-mini', messages: [{ role: 'user', content: 'Hi' }] }),
  })
  expect(response.status).toBe(200)
  await response.text()
}

/** An access token of the first administrator. */
const personToken = () => accessToken({ api_url: machine.service.base_url, login: machine.login })

test('tasks: filtered by the API, as a table with the zone, and as the answer', async () => {
  const { status, stdout } = await looptrace(['tasks', '--finding-kind', 'loop'])
  expect(status).toBe(0)
  expect(stdout).toMatch(
    /^TASK +STATE +SEVERITY .*\nrefund-1042 +completed +high +7 .*5 times in a row/,
  )
  expect(stdout).toContain('1 task.\nTimes are in Asia/Tokyo.')
  const { stdout: json } = await looptrace(['tasks', '-o', 'json'])
  expect(JSON.parse(json)).toEqual(await call('/api/v1/tasks'))
  const all = await looptrace(['tasks', '--all', '--limit', '1', '-o', 'json'])
  const { tasks, next_cursor } = JSON.parse(all.stdout)
  expect(tasks).toEqual(JSON.parse(json).tasks)
  expect(next_cursor).toBeNull()
  const { stdout: page } = await looptrace(['tasks', '--limit', '1'])
  const [, cursor = ''] = /--cursor (\S+)/.exec(page) ?? []
  expect((await looptrace(['tasks', '--limit', '1', '--cursor', cursor])).stdout).toContain(
    'refund',
  )
})

test('task and trace: the loop as one line, and the tree of a step', async () => {
  const { stdout } = await looptrace(['task', 'refund-1042'])
  expect(stdout).toMatch(/^ +2–6 +×5 +\+.*\n +! high: repeat_call\n +→ search_policy /m)
  const { stdout: full } = await looptrace(['task', 'refund-1042', '--full'])
  expect(full.match(/→ search_policy /g)).toHaveLength(5)
  const { stdout: json } = await looptrace(['task', 'refund-1042', '-o', 'json'])
  const { task, findings, timeline } = JSON.parse(json)
  expect(task).toEqual(await call('/api/v1/tasks/refund-1042'))
  expect(findings).toEqual(await call('/api/v1/tasks/refund-1042/findings'))
  expect(timeline).toEqual(await call('/api/v1/tasks/refund-1042/timeline?limit=1000'))
  const [{ trace_id }] = findings.findings[0].places
  const tree = await looptrace(['trace', trace_id])
  expect(tree.stdout).toMatch(
    /\nNAME .*\nchat .* generation .*\n\nIts task: looptrace task refund-1042\n/,
  )
})

test('query: rows, CSV, an aggregate, an explanation and a saved query', async () => {
  const rows = await looptrace([
    ...['query', '{"entity":"tasks","select":["task_id","calls"]}', '--last', '24h'],
    ...['--all', '--limit', '1', '-o', 'csv'],
  ])
  expect(rows.stdout).toBe('task_id,calls\r\nrefund-1043,5\r\nrefund-1042,7\r\n')
  const measured = ['query', 'entity: tasks\nmeasures: [{fn: count, as: n}]', '--last', '24h']
  expect((await looptrace(measured)).stdout).toMatch(/^N\n2\n\n1 row\.\nAnswered by postgres /)
  const explained = await looptrace([...measured, '--explain'])
  expect(explained.stdout).toMatch(
    /^aggregate, class aggregate\n\nSTORE .*[\s\S]*\nSTATEMENT\n {2}select/im,
  )
  const body = { entity: 'tasks', window: { last: '24h' }, select: ['task_id'] }
  const where = { field: 'task_id', op: 'eq', value: { $param: 'task' } }
  const parameters = [{ name: 'task', type: 'text', required: true }]
  const saved = { name: 'one task', visibility: 'project', kind: 'query', parameters }
  await call(
    '/api/v2/observability/saved-queries',
    { ...saved, body: { ...body, where } },
    { authorization: `Bearer ${await personToken()}`, 'x-project-id': machine.login.project_id },
  )
  const run = ['query', '--saved', 'one task', '--param', 'task=refund-1042']
  expect((await looptrace(run)).stdout).toMatch(/^TASK_ID\nrefund-1042\n/)
  const wrong = await looptrace(['query', '--saved', 'one tsk'])
  expect(wrong).toMatchObject({ status: 2, stderr: expect.stringContaining('mean "one task"?') })
})

test('incidents: listed, shown, acknowledged and resolved with the token of a person', async () => {
  const token = await personToken()
  const person = { LOOPTRACE_ACCESS_TOKEN: token, LOOPTRACE_PROJECT_ID: machine.login.project_id }
  const by = { authorization: `Bearer ${token}`, 'x-project-id': machine.login.project_id }
  const run = (args: readonly string[]) => looptrace(args, { ...person, LOOPTRACE_API_KEY: '' })
  const condition = { signal: 'tokens', window: '1m', threshold: 0 }
  const timing = { interval: '10s', delay: '0s', grouping: { wait: '0s' } }
  const rule = { name: 'chatty', severity: 'low', condition, ...timing, notify: [] }
  expect(await call('/api/v2/observability/incidents/rules', rule, by)).toMatchObject({
    name: 'chatty',
  })
  await complete('costs-tokens')
  const isOpen = async () => (await run(['incidents', '--state', 'open'])).stdout.includes('chatty')
  await eventually('an incident', isOpen, { timeout_ms: 60_000 })
  expect((await run(['incidents', '1'])).stdout).toMatch(
    /^#1 {2}[\s\S]*\nTIMELINE\nAT .*\n.* opened /,
  )
  expect((await run(['incidents', 'ack', '1', '99', '--note', 'mine'])).stdout).toBe(
    '#1: acknowledged\n#99: does not exist in this project\n',
  )
  expect((await run(['incidents', 'resolve', '1'])).stdout).toMatch(/^#1 .*: resolved\n$/)
  const refused = await looptrace(['incidents', 'ack', '1'])
  expect(refused).toMatchObject({ status: 3, stderr: expect.stringContaining('incidents:write') })
})

test('a mistyped command, option or value is answered with the nearest one', async () => {
  for (const [args, hint] of [
    [['taks'], 'Did you mean "looptrace tasks"?'],
    [['tasks', '--sevrity-min', 'high'], 'Did you mean "--severity-min"?'],
    [['tasks', '--state', 'runing'], 'Did you mean "running"?'],
    [['incidents', 'akc', '1'], 'Did you mean "ack"?'],
  ] as const) {
    const { status, stdout, stderr } = await looptrace(args)
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toContain(hint)
  }
})

test('without credentials, or with wrong ones, the message says so', async () => {
  const none = await looptrace(['tasks'], { LOOPTRACE_API_KEY: '' })
  expect(none).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('LOOPTRACE_ACCESS_TOKEN'),
  })
  const wrong = await looptrace(['tasks'], { LOOPTRACE_API_KEY: 'lt_wrong' })
  expect(wrong).toMatchObject({ status: 3, stderr: expect.stringContaining('401') })
  const missing = await looptrace(['task', 'none'])
  expect(missing).toMatchObject({ status: 3, stderr: expect.stringContaining('404') })
})

test('tail prints tasks as they change, survives a restart, and ends at SIGINT', async () => {
  const args = [main, 'tail', '--last', '1', '--interval', '1', '-o', 'json']
  const child = spawn(process.execPath, args, { env: childEnv(env) })
  running.push(child)
  const ended = once(child, 'exit')
  const printed = { out: '', err: '' }
  child.stdout.on('data', (data) => {
    printed.out += data
  })
  child.stderr.on('data', (data) => {
    printed.err += data
  })
  const patience = { timeout_ms: 90_000 }
  const ids = () =>
    printed.out.split('\n').flatMap((line) => (line ? JSON.parse(line).task_id : []))
  await eventually('the newest task', () => ids().length === 1, patience)
  await complete('seen-by-tail')
  await eventually('the new task', () => ids().includes('seen-by-tail'), patience)
  await machine.service.stop()
  await eventually('the outage', () => printed.err.includes('trying again'), patience)
  await machine.service.start()
  await eventually('the end of the outage', () => printed.err.includes('answers again'), patience)
  child.kill('SIGINT')
  expect(await ended).toEqual([0, null])
})
