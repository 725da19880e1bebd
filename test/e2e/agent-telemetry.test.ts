import { beforeAll, expect, test } from 'vitest'
import {
  claudeCodeSession,
  codexSession,
  geminiCliSession,
  logsOf,
  plainPairs,
} from '../support/agent-logs.ts'
import { type Api, apiByKey } from '../support/clients/api-reader.ts'
import { eventually } from '../support/eventually.ts'
import { logsProtobuf, type PlainLogs, type PlainMetrics } from '../support/otlp-messages.ts'
import { type SharedMachine, sharedMachine } from '../support/shared-machine.ts'

let machine: SharedMachine
let api: Api
beforeAll(async () => {
  machine = await sharedMachine()
  api = apiByKey({ api_url: machine.service.base_url, login: machine.login })
})

async function send(path: string, body: string | Buffer, type = 'application/json') {
  const { base_url } = machine.service
  const answer = await fetch(`${base_url}/k/${machine.login.project_key}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': type },
    body: typeof body === 'string' ? body : new Uint8Array(body),
  })
  expect([answer.status, await answer.text()]).toEqual([200, type.endsWith('json') ? '{}' : ''])
}

type Task = { task_id: string; name: string; calls: number; conversation: { external_id: string } }

async function tasksOf(session: string): Promise<Task[]> {
  const { body } = await api.get('/api/v1/tasks?limit=50')
  const tasks = (body['tasks'] as Task[]) ?? []
  return tasks.filter(({ conversation }) => conversation?.external_id === session)
}

const window = { from: '2026-09-21T00:00:00Z', to: '2026-09-22T00:00:00Z' }

async function sumOf(query: object): Promise<Record<string, unknown>[]> {
  const path = '/api/v2/observability/query/aggregate'
  const { status, body } = await api.post(path, { window, ...query })
  expect([status, body]).toMatchObject([200, {}])
  return body['rows'] as Record<string, unknown>[]
}

test('sessions in batches, late, twice and in two encodings are stored exactly once', async () => {
  const sessions = [claudeCodeSession(), codexSession(), geminiCliSession()]
  const items = sessions.reduce((sum, { records }) => sum + records.length, 0)
  const halves = sessions.flatMap((session): PlainLogs[] => {
    const half = Math.ceil(session.records.length / 2)
    return [
      logsOf(session, session.records.slice(half)),
      logsOf(session, session.records.slice(0, half)),
    ]
  })
  for (const request of halves) await send('/v1/logs', JSON.stringify(request))
  for (const request of halves) {
    await send('/v1/logs', logsProtobuf(request), 'application/x-protobuf')
  }
  const ledger = await eventually('the items', async () => {
    const { body } = await api.get('/api/v2/observability/ledger')
    const otlp = (body['paths'] as Record<string, unknown>[]).find(({ path }) => path === 'otlp')
    return Number(otlp?.['stored']) >= items * 2 && otlp
  })
  expect(ledger).toMatchObject({ accepted: items * 2, rejected: 0, pending: 0, lost: 0 })

  const claude = await eventually('two tasks of Claude Code', async () => {
    const tasks = await tasksOf('b7a3c1d0-session')
    return tasks.length === 2 && tasks
  })
  expect(claude.map(({ name, calls }) => `${name} ${calls}`).toSorted()).toEqual([
    'Claude Code 1',
    'Claude Code 2',
  ])
  expect(await tasksOf('0199-codex')).toMatchObject([{ name: 'Codex', calls: 2 }])
  expect(await tasksOf('gemini-session')).toMatchObject([{ name: 'Gemini CLI', calls: 2 }])

  const count = { fn: 'count', as: 'n' }
  const reported = { fn: 'sum', field: 'cost_reported_usd', as: 'usd' }
  const [row] = await sumOf({
    entity: 'observations',
    where: { field: 'agent_name', op: 'eq', value: 'Claude Code' },
    measures: [count, reported],
  })
  expect(row).toMatchObject({ n: 6 })
  expect(Number(row?.['usd'])).toBeCloseTo(0.0303, 9)
})

test('errors beside the paths of Langfuse keep the form of the product APIs', async () => {
  const { base_url } = machine.service
  const typeOf = async (path: string) => {
    const answer = await fetch(`${base_url}${path}`)
    return [answer.status, answer.headers.get('content-type')?.split(';')[0]]
  }
  for (const path of ['/api/nothing', '/api/v2/nothing', '/api/v1/nothing', '/nothing']) {
    expect([path, ...(await typeOf(path))]).toEqual([path, 404, 'application/problem+json'])
  }
  expect(await typeOf('/api/public/nothing')).toEqual([404, 'application/json'])
  expect(await typeOf('/api/public/health')).toEqual([200, 'application/json'])
})

test('metrics are a signal that a query sums, and change no cost', async () => {
  const point = (type: string, asInt: string) => ({
    timeUnixNano: '1790000060000000000',
    attributes: plainPairs({ 'session.id': 'b7a3c1d0-session', type }),
    asInt,
  })
  const dataPoints = [point('added', '12'), point('added', '3'), point('removed', '4')]
  const name = 'claude_code.lines_of_code.count'
  const metrics = [{ name, sum: { aggregationTemporality: 1, dataPoints } }]
  const request: PlainMetrics = { resourceMetrics: [{ scopeMetrics: [{ metrics }] }] }
  await send('/v1/metrics', JSON.stringify(request))
  await send('/v1/metrics', JSON.stringify(request))
  const rows = await eventually('the points', async () => {
    const found = await sumOf({
      entity: 'events',
      where: { field: 'name', op: 'eq', value: name },
      measures: [
        { fn: 'sum', field: 'attributes.metric.value', as: 'lines' },
        { fn: 'count', as: 'n' },
      ],
      group_by: ['attributes.type'],
    })
    return found.length === 2 && found
  })
  expect(rows).toMatchObject([
    { 'attributes.type': 'added', lines: 15, n: 2 },
    { 'attributes.type': 'removed', lines: 4, n: 1 },
  ])
  expect(await tasksOf('b7a3c1d0-session')).toHaveLength(2)
})
