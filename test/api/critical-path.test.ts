import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import type { Json } from '../support/query-api.ts'
import { keyOf } from '../support/task-api.ts'
import { type GivenRow, openTraceApi, type TraceApi } from '../support/trace-api.ts'

let api: TraceApi
beforeAll(async () => {
  api = await openTraceApi()
})
afterAll(() => api[Symbol.asyncDispose]())

const path = (trace_id: string, query = '') => `traces/${trace_id}/critical-path?${query}`

/** An agent that waits for a plan, then for the slower of two parallel searches. */
const rows = (slower_ms: number, task_name: string): GivenRow[] => [
  { id: 'agent', at: 0, took: 100 + slower_ms, type: 'agent', name: 'agent', task_name },
  {
    ...{ id: 'plan', parent: 'agent', at: 10, took: 40, type: 'generation', name: 'plan' },
    ...{ input_uncached_tokens: 30, cost_usd: '0.3', task_name },
  },
  { id: 'web', parent: 'agent', at: 60, took: slower_ms, type: 'tool', name: 'web', task_name },
  {
    ...{ id: 'docs', parent: 'agent', at: 60, took: 20, type: 'generation', name: 'docs' },
    ...{ input_uncached_tokens: 70, cost_usd: '0.1', task_name },
  },
]

describe('the path of a trace', () => {
  test('in time, tokens and money, with slack', async () => {
    const trace_id = await api.store(rows(60, 'one'))
    const { status, body } = await api.get(path(trace_id))
    expect(status).toBe(200)
    expect(body).toMatchObject({
      trace_id,
      root: { node_id: 'agent', duration_ms: 160 },
      roots: 1,
      segments_total: 5,
      next_cursor: null,
      used: {
        tokens: { path: 30, trace: 100, share: 0.3 },
        cost_usd: { path: '0.3', trace: '0.4', share: 0.75 },
      },
      slack: [{ node_id: 'docs', slack_ms: 40 }],
      what_if: null,
      aggregate: null,
    })
    const inOrder = body.segments.map((each: Json) => [each.node_id, each.duration_ms])
    expect(inOrder).toEqual([
      ['agent', 10],
      ['plan', 40],
      ['agent', 10],
      ['web', 60],
      ['agent', 40],
    ])
    const parts = body.nodes.map((each: Json) => [each.node_id, each.on_path_ms, each.saves_ms])
    expect(parts).toEqual([
      ['agent', 60, 80],
      ['web', 60, 30],
      ['plan', 40, 20],
    ])
    expect(body.operations[1]).toMatchObject({ type: 'tool', name: 'web', share: 0.375 })
  })

  test.each([
    ['what_if=web', { saves_ms: 30, duration_ms: 130, slack_ms: 0, observations: 1 }],
    ['what_if=web&faster_percent=90', { saves_ms: 40, duration_ms: 120 }],
    ['what_if_name=docs', { saves_ms: 0, slack_ms: null }],
  ])('%s', async (query, expected) => {
    const trace_id = await api.store(rows(60, 'one'))
    const { body } = await api.get(path(trace_id, query))
    expect(body.what_if).toMatchObject(expected)
  })

  test('is read page by page, until the trace changes', async () => {
    const trace_id = await api.store(rows(60, 'one'))
    const first = await api.get(path(trace_id, 'limit=3'))
    const next = `limit=3&cursor=${first.body.next_cursor}`
    const second = await api.get(path(trace_id, next))
    expect(second.body.segments.map((each: Json) => each.node_id)).toEqual(['web', 'agent'])
    expect(second.body.next_cursor).toBeNull()
    await api.store([{ id: 'more', parent: 'agent', at: 5, took: 1 }], trace_id)
    expect((await api.get(path(trace_id, next))).body.code).toBe('invalid_cursor')
  })

  test('starts at a given root', async () => {
    const trace_id = await api.store([
      { id: 'short', at: 0, took: 5 },
      { id: 'long', at: 0, took: 9 },
    ])
    const { body } = await api.get(path(trace_id))
    expect(body).toMatchObject({ root: { node_id: 'long' }, roots: 2 })
    const short = await api.get(path(trace_id, 'root=short'))
    expect(short.body.root).toMatchObject({ node_id: 'short', duration_ms: 5 })
  })
})

test('the paths of a task name, with share and confidence', async () => {
  const task_name = `task ${newId()}`
  const trace_id = await api.store(rows(60, task_name))
  await api.store(rows(20, task_name))
  await api.store(rows(140, task_name))
  await api.store(rows(900, 'another'))
  const { body } = await api.get(path(trace_id, 'aggregate=task_name'))
  expect(body.aggregate).toMatchObject({ task_name, traces: 3, truncated: false })
  expect(body.aggregate.mean_duration_ms).toBeCloseTo(173.333, 2)
  const web = body.aggregate.operations.find(({ name }: Json) => name === 'web')
  expect(web.traces).toBeGreaterThanOrEqual(2)
  expect(web.confidence).toBeGreaterThan(0.2)
  expect(web.confidence).toBeLessThan(1)
  expect(web.share_low).toBeLessThan(web.share)
  expect(web.share_high).toBeGreaterThan(web.share)
  const two = await api.get(path(trace_id, 'aggregate=task_name&traces=2'))
  expect(two.body.aggregate.traces).toBe(2)
  const nameless = await api.store([{ id: 'a', at: 0, took: 1 }])
  expect((await api.get(path(nameless, 'aggregate=task_name'))).body.aggregate).toBeNull()
})

describe('refuses', () => {
  test('traces of others', async () => {
    const trace_id = await api.store(rows(60, 'one'))
    const stranger = await api.get(path(trace_id), keyOf(newId(), 'traces:read'))
    expect(stranger).toMatchObject({ status: 404, body: { code: 'trace_not_found' } })
    expect((await api.get(path(trace_id), {})).status).toBe(401)
    expect((await api.get(path(trace_id), keyOf(api.project_id, 'tasks:read'))).status).toBe(403)
  })

  test.each([
    ['what_if=nobody', 404],
    ['root=web', 404],
    ['faster_percent=101', 400],
    ['what_if=web&what_if_name=web', 400],
    ['aggregate=model', 400],
    ['aggregate=task_name&to=2000-01-01T00:00:00Z', 400],
    ['traces=101', 400],
    ['limit=0', 400],
    ['cursor=x', 400],
    ['other=1', 400],
  ])('%s', async (query, status) => {
    const trace_id = await api.store(rows(60, 'one'))
    expect((await api.get(path(trace_id, query))).status).toBe(status)
  })
})
