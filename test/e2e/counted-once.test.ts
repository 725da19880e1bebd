import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { type Api, apiByKey } from '../support/clients/api-reader.ts'
import { instrumentedScript } from '../support/clients/instrumented/instrumented-script.ts'
import { runInstrumented } from '../support/clients/instrumented/run-libraries.ts'
import { eventually } from '../support/eventually.ts'
import { hasSharedFixtures, readFixture } from '../support/shared-fixtures.ts'
import { type SharedMachine, sharedMachine } from '../support/shared-machine.ts'

const program = fileURLToPath(
  new URL('../support/clients/instrumented/openllmetry-proxied.ts', import.meta.url),
)
let machine: SharedMachine
let api: Api

beforeAll(async () => {
  machine = await sharedMachine({ script: instrumentedScript })
  api = apiByKey({ api_url: machine.service.base_url, login: machine.login })
})

type Task = {
  calls: number
  merged_calls: number
  errors: number
  user_id: string
  tokens: { total: number }
  cost_usd: string
}

/** Runs the program, and returns its task once it is as expected, with the calls of the provider. */
async function runAgent(task_id: string, expected: Partial<Task>, ...more: string[]) {
  const { base_url } = machine.service
  const before = (await machine.provider.seen()).requests.length
  const args = [`${base_url}/v1`, machine.login.project_key, task_id, ...more]
  await runInstrumented(machine, program, args)
  const { requests } = await machine.provider.seen()
  expect(requests.length - before).toBe(expected.calls)
  let task: Task | undefined
  await eventually(
    'the task with the calls of the provider',
    async () => {
      const { body } = await api.get(`/api/v1/tasks/${encodeURIComponent(task_id)}`)
      task = body as unknown as Task
      return Object.entries(expected).every(([name, value]) => task?.[name as keyof Task] === value)
    },
    { timeout_ms: 20_000 },
  ).catch((error: Error) => {
    throw new Error(`${error.message}: ${JSON.stringify(task)}`)
  })
  return task
}

test('the proxy and an instrumentation see the same calls: each counts once', async () => {
  const expected = { calls: 4, merged_calls: 4, errors: 0, user_id: 'ada' }
  const task = await runAgent('in one trace', expected, 'traceparent')
  const calls = await observations('in one trace', true)
  expect(calls).toHaveLength(4)
  expect(calls.every(({ source }) => source === 'proxy')).toBe(true)
  const total = calls.reduce((sum, call) => sum + (call.total_tokens ?? 0), 0)
  expect(task?.tokens.total).toBe(total)
  const cost = calls.reduce((sum, call) => sum + Number(call.cost_usd ?? 0), 0)
  expect(Number(task?.cost_usd)).toBeCloseTo(cost, 9)
  const merged = await observations('in one trace', false)
  const ids = calls.map(({ observation_id }) => observation_id)
  expect(merged.map(({ counted_with }) => counted_with).toSorted()).toEqual(ids.toSorted())
})

test('in traces of their own they do too, in the task that the agent names', async () => {
  await runAgent('in other traces', { calls: 4, merged_calls: 4, errors: 0, user_id: 'ada' })
  const calls = await observations('in other traces', true)
  expect(calls.map(({ source }) => source)).toEqual(Array.from({ length: 4 }, () => 'proxy'))
  const { body } = await api.get('/api/v1/tasks?limit=50')
  const ids = (body['tasks'] as { task_id: string }[]).map(({ task_id }) => task_id)
  expect(ids.toSorted()).toEqual(['in one trace', 'in other traces'])
})

test.runIf(hasSharedFixtures)('spans of two instrumentations of one call', async () => {
  await exportFixture('reports/d01-nested-generations.otlp.json')
  const task = await eventually('the call in its task', async () => {
    const { status, body } = await api.get('/api/v1/tasks/bug-d01')
    return status === 200 && (body as unknown as Task)
  })
  expect(task).toMatchObject({ calls: 1, merged_calls: 1 })
  expect(Number(task.cost_usd)).toBeCloseTo(0.00056, 9)
  const { body } = await api.get('/api/v1/tasks/bug-d01/turns')
  expect(body).toMatchObject({ total: 1, turns: [{ counted_once: true }] })
})

test.runIf(hasSharedFixtures)(
  'a child that is exported three seconds before its root',
  async () => {
    await exportFixture('reports/o01-child-first.otlp.json')
    await exportFixture('reports/o01-root-later.otlp.json')
    const task = await eventually('the call in its task', async () => {
      const { status, body } = await api.get('/api/v1/tasks/bug-o01')
      return status === 200 && body['calls'] === 1 && body
    })
    expect(task).toMatchObject({ user_id: 'bob' })
    expect(JSON.stringify(task)).toContain('S-1')
  },
)

async function exportFixture(path: string): Promise<void> {
  const answer = await fetch(`${machine.service.base_url}/v1/traces`, {
    method: 'POST',
    headers: { 'X-API-Key': machine.login.project_key, 'content-type': 'application/json' },
    body: JSON.stringify(readFixture(path)),
  })
  expect(answer.status).toBe(200)
  await sleep(500)
}

type Row = {
  observation_id: string
  counted_with: string
  source: string
  total_tokens: number | null
  cost_usd: string | null
}

/** The calls that count, or the further rows of them. */
async function observations(task_id: string, is_call: boolean): Promise<Row[]> {
  const now_ms = Date.now()
  const { status, body } = await api.post('/api/v2/observability/query', {
    ...{ entity: 'observations', limit: 100 },
    select: ['observation_id', 'counted_with', 'source', 'total_tokens', 'cost_usd'],
    where: {
      and: [
        { field: 'is_call', op: 'eq', value: is_call },
        { field: 'task_id', op: 'eq', value: task_id },
        { field: 'type', op: 'eq', value: 'generation' },
      ],
    },
    window: {
      from: new Date(now_ms - 3_600_000).toISOString(),
      to: new Date(now_ms + 60_000).toISOString(),
    },
  })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body['rows'] as Row[]
}
