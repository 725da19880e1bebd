import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { plainPairs } from '../support/agent-logs.ts'
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

test('calls that are exported at their begin and at their end at once are shown as they ended', async () => {
  const start_ms = Date.now() - 60_000
  const calls = Array.from({ length: 40 }, (_, at) => ({
    id: at + 1,
    start: `${start_ms + at}000000`,
  }))
  const spanOf = (call: { id: number; start: string }, usage: Record<string, number>) => ({
    traceId: 'be91'.padEnd(32, '0'),
    spanId: String(call.id).padStart(16, '0'),
    name: 'chat gpt-4o',
    startTimeUnixNano: call.start,
    endTimeUnixNano: call.start,
    attributes: plainPairs({
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'gpt-4o',
      'looptrace.task.id': 'begun and ended',
      ...usage,
    }),
  })
  const ended = { 'gen_ai.usage.input_tokens': 7, 'gen_ai.usage.output_tokens': 3 }
  const spans = calls.flatMap((call) => [spanOf(call, {}), spanOf(call, ended)])
  await exportTraces({ resourceSpans: [{ scopeSpans: [{ spans }] }] })
  const tokens = calls.map(() => 10)
  await eventually('the calls', async () => (await callsOf('begun and ended')).length === 40)
  for (const direction of ['asc', 'desc'] as const) {
    const rows = await callsOf('begun and ended', direction)
    expect([direction, rows.map(({ total_tokens }) => total_tokens)]).toEqual([direction, tokens])
  }
  const { body } = await api.get('/api/v1/tasks/begun%20and%20ended')
  expect(body).toMatchObject({ calls: 40, tokens: { total: 400 } })
})

test('calls of a batch that the next batch completes are shown as completed', async () => {
  const start_ms = Date.now() - 60_000
  const observations = Array.from({ length: 25 }, (_, at) => ({
    trace_id: randomUUID(),
    observation_id: `call ${at}`,
    task_id: 'completed by a batch',
    type: 'generation',
    start_time: new Date(start_ms + at).toISOString(),
    end_time: new Date(start_ms + at).toISOString(),
    model: 'gpt-4o',
  }))
  const usage = { input_uncached_tokens: 7, output_visible_tokens: 3 }
  for (const observation of observations) {
    await sendBatch({ idempotency_key: randomUUID(), observations: [observation] })
    const completed = { ...observation, ...usage }
    await sendBatch({ idempotency_key: randomUUID(), observations: [completed] })
  }
  const task_id = 'completed by a batch'
  await eventually('the calls', async () => (await callsOf(task_id)).length === 25)
  await sleep(1_000)
  for (const direction of ['asc', 'desc'] as const) {
    const tokens = (await callsOf(task_id, direction)).map(({ total_tokens }) => total_tokens)
    expect([direction, tokens]).toEqual([direction, observations.map(() => 10)])
  }
})

async function sendBatch(body: object): Promise<void> {
  const { status, body: answer } = await api.post('/api/v2/observability/ingest', body)
  if (status !== 202) throw new Error(`${status} ${JSON.stringify(answer)}`)
}

async function exportFixture(path: string): Promise<void> {
  await exportTraces(readFixture(path))
  await sleep(500)
}

async function exportTraces(request: unknown): Promise<void> {
  const answer = await fetch(`${machine.service.base_url}/v1/traces`, {
    method: 'POST',
    headers: { 'X-API-Key': machine.login.project_key, 'content-type': 'application/json' },
    body: JSON.stringify(request),
  })
  expect(answer.status).toBe(200)
}

type Row = {
  observation_id: string
  counted_with: string
  source: string
  total_tokens: number | null
  cost_usd: string | null
}

type Direction = 'asc' | 'desc'

/** The calls that count, by their starts. */
function callsOf(task_id: string, direction: Direction = 'desc'): Promise<Row[]> {
  return observations(task_id, true, direction)
}

/** The calls that count, or the further rows of them, by their starts. */
async function observations(
  task_id: string,
  is_call: boolean,
  direction: Direction = 'desc',
): Promise<Row[]> {
  const now_ms = Date.now()
  const { status, body } = await api.post('/api/v2/observability/query', {
    ...{ entity: 'observations', limit: 100, order_by: [{ field: 'start_time', direction }] },
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
