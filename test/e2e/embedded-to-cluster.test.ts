import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, apiByKey, apiByToken } from '../support/clients/api-reader.ts'
import { type Cluster, type FirstLogin, startCluster } from '../support/cluster.ts'
import { eventually } from '../support/eventually.ts'
import { scrape } from '../support/metrics.ts'
import { rawPost } from '../support/raw-post.ts'
import { beginRole, runRole } from '../support/service.ts'
import { type SingleMachine, startSingleMachine } from '../support/single-machine.ts'

/**
 * `looptrace move` on the wire: an embedded installation with data is killed with messages in its
 * queue, and moved into the stores of a cluster by a command that is killed three times.
 */
let machine: SingleMachine
let cluster: Cluster
let before: Answers

const settings = { LOOPTRACE_HTTP_RATE_PER_MINUTE_MAX: '0' }
const patience = { timeout_ms: 60_000 }

beforeAll(async () => {
  // The stores of the cluster start beside the machine.
  const filled = Promise.withResolvers<void>()
  const starting = startCluster({
    env: settings,
    fill: async (target) => {
      await filled.promise
      return moveWithKills(target)
    },
  })
  const filling = startFilledMachine()
  filling.then(filled.resolve, filled.reject)
  ;[cluster] = await Promise.all([starting, filling])
})

afterAll(async () => {
  await cluster?.stop()
  await machine?.[Symbol.asyncDispose]()
})

async function startFilledMachine(): Promise<void> {
  machine = await startSingleMachine({ first: true, env: { ...settings, LOOPTRACE_DEMO: '1' } })
  before = await fillMachine()
  await stopWithFullQueue()
}

const trace_id = '5b8efff798038103d269b633813fc60c'

/** Fills the machine over its proxy, OTLP and API, and returns what it answers then. */
async function fillMachine(): Promise<Answers> {
  const { service, login } = machine
  const api = await apiByToken({ api_url: service.base_url, login })
  expect(await complete(service.base_url, 'by-proxy')).toBe(200)
  const nanos = (BigInt(Date.now()) * 1_000_000n).toString()
  const attributes = [{ key: 'gen_ai.operation.name', value: { stringValue: 'chat' } }]
  const span = { traceId: trace_id, spanId: 'eee19b7ec3c1b174', name: 'chat', attributes }
  const spans = [{ ...span, startTimeUnixNano: nanos, endTimeUnixNano: nanos }]
  const otlp = await fetch(`${service.base_url}/v1/traces`, {
    method: 'POST',
    headers: { 'x-api-key': login.project_key, 'content-type': 'application/json' },
    body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }),
  })
  expect(otlp.status).toBe(200)
  const policy = { days: { observations: 400 }, environments: [], archive_before_delete: false }
  expect((await api.put('/api/v2/observability/retention-policy', policy)).status).toBe(200)
  const hold = { kind: 'user', value: 'ada', reason: 'case 12' }
  expect((await api.post('/api/v2/observability/legal-holds', hold)).status).toBe(201)
  await eventually('the sample', () => service.output().includes('See the loop'), patience)
  return eventually('all records', async () => readSettled(api), patience)
}

async function complete(url: string, task: string): Promise<number> {
  const body = { model: 'gpt-4.1-mini', messages: [{ role: 'user', content: 'Hello' }] }
  const headers = { authorization: 'Bearer provider-key', 'x-task-id': task }
  const key = { 'x-api-key': machine.login.project_key }
  const { answer } = await rawPost(`${url}/v1/chat/completions`, body, { ...headers, ...key })
  return (await answer).status
}

type Answers = Record<string, unknown>

/** Paths whose answers depend on the data of each store. */
const paths = [
  '/api/v1/tasks',
  '/api/v1/tasks/refund-1042',
  '/api/v1/tasks/refund-1042/timeline',
  '/api/v1/tasks/refund-1042/loops',
  '/api/v1/tasks/by-proxy/timeline',
  '/api/v2/observability/retention-policy',
  '/api/v2/observability/legal-holds',
]

async function readAll(api: Api): Promise<Answers> {
  const answers: Answers = {}
  for (const path of paths) answers[path] = await api.get(path)
  return answers
}

/** Returns the answers when two readings in a row are equal and have the records of all paths. */
async function readSettled(api: Api): Promise<Answers | undefined> {
  const [first, second] = [await readAll(api), await readAll(api)]
  const text = JSON.stringify(second)
  const isComplete = !text.includes('"status":404') && text.includes('"loops":[{')
  const pending = /"pending":[1-9]/.test(text)
  return JSON.stringify(first) === text && isComplete && !pending ? second : undefined
}

/** Kills the service while ClickHouse is frozen, so that accepted calls remain in the queue. */
async function stopWithFullQueue(): Promise<void> {
  const clickhouse = await machine.clickHousePid()
  process.kill(clickhouse, 'SIGSTOP')
  expect(await complete(machine.service.base_url, 'in-the-queue')).toBe(200)
  await eventually('a message', async () => (await pendingMessages()) > 0, patience)
  await machine.service.kill()
  process.kill(clickhouse, 'SIGKILL')
}

async function pendingMessages(): Promise<number> {
  const metrics = await scrape(machine.service.management_url)
  return metrics('looptrace_queue_messages', { state: 'pending' })
}

/** Runs the move and kills it at three lines of its output; then runs it to its end. */
async function moveWithKills(target: Record<string, string>): Promise<FirstLogin> {
  const env = await moveSettings(target)
  await expectRefusals(env)
  await killMoveAt('"moved":"metadata"', env)
  const [migrate] = await Promise.all([
    runRole('migrate', target),
    killMoveAt('"table":"observations"', env),
  ])
  expect([migrate.status, migrate.output]).toEqual([1, expect.stringContaining('looptrace move')])
  await killMoveAt('"moved":"rows"', env)
  const end = await runRole('move', env)
  expect([end.status, end.output]).toEqual([0, expect.stringContaining('"moved":"all"')])
  const again = await runRole('move', env)
  expect([again.status, again.output]).toEqual([
    0,
    expect.stringContaining('this move is complete'),
  ])
  return machine.login
}

async function killMoveAt(line: string, env: Record<string, string>): Promise<void> {
  const role = beginRole('move', env)
  await eventually(line, () => role.output().includes(line), patience)
  role.signal('SIGKILL')
  await role.ended
}

async function moveSettings(target: Record<string, string>): Promise<Record<string, string>> {
  const { directory } = machine
  target['LOOPTRACE_SECRET_KEY'] = (await readFile(join(directory, 'secret-key'), 'utf8')).trim()
  return { ...target, LOOPTRACE_DATA_DIRECTORY: directory }
}

/** Each refusal names what to do, and none writes anything: the move works after them. */
async function expectRefusals(env: Record<string, string>): Promise<void> {
  const refuse = async (changed: Record<string, string>, words: string) => {
    const { status, stderr } = await runRole('move', { ...env, ...changed })
    expect([status, stderr]).toEqual([1, expect.stringContaining(words)])
  }
  await Promise.all([
    refuse({ LOOPTRACE_DATA_DIRECTORY: tmpdir() }, 'not the data folder'),
    refuse({ LOOPTRACE_SECRET_KEY: 'another key, which is long enough' }, 'does not decrypt'),
  ])
  const dry = await runRole('move --dry-run', env)
  expect([dry.status, dry.output]).toEqual([
    0,
    expect.stringMatching(/"would_move":"messages","messages":[1-9]/),
  ])
}

describe('after the move', () => {
  test('the same questions have the same answers, with the old key and the old password', async () => {
    const running = { api_url: cluster.api.base_url, login: machine.login }
    const { status } = await apiByKey(running).get('/api/v1/tasks/by-proxy')
    expect(status).toBe(200)
    const api = await apiByToken(running)
    await eventually(
      'the message of the queue',
      async () => (await api.get('/api/v1/tasks/in-the-queue')).body['calls'] === 1,
      patience,
    )
    const after = await readAll(api)
    for (const path of paths.filter((each) => !each.endsWith('tasks'))) {
      expect([path, after[path]]).toEqual([path, before[path]])
    }
    const [old, now] = [before, after].map((answers) => tasksIn(answers))
    expect(now?.filter((task) => task !== 'in-the-queue')).toEqual(old)
    expect(now).toContain('in-the-queue')
  })

  test('new calls continue the same project', async () => {
    expect(await complete(cluster.proxy.base_url, 'by-proxy')).toBe(200)
    const api = apiByKey({ api_url: cluster.api.base_url, login: machine.login })
    const calls = async () => (await api.get('/api/v1/tasks/by-proxy')).body['calls'] === 2
    expect(await eventually('two calls', calls, patience)).toBe(true)
  })

  test('the old installation starts again, and has its data and its queue', async () => {
    await cluster.stop()
    await machine.service.start({ LOOPTRACE_DEMO: '0' })
    const api = await apiByToken({ api_url: machine.service.base_url, login: machine.login })
    await eventually(
      'its own message',
      async () => (await api.get('/api/v1/tasks/in-the-queue')).body['calls'] === 1,
      patience,
    )
    const after = await readAll(api)
    const path = '/api/v1/tasks/refund-1042/timeline'
    expect(after[path]).toEqual(before[path])
  })
})

function tasksIn(answers: Answers): unknown[] {
  const { body } = answers['/api/v1/tasks'] as { body: { tasks: { task_id: string }[] } }
  return body.tasks.map(({ task_id }) => task_id)
}
