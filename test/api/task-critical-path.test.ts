import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { insertFinding } from '../support/findings.ts'
import type { Json } from '../support/query-api.ts'
import { fuzzRuns } from '../support/suite/budget.ts'
import { keyOf } from '../support/task-api.ts'
import { openTaskExplorerApi, type TaskExplorerApi } from '../support/task-explorer-api.ts'

/** The critical path of a task over all its traces. */

let api: TaskExplorerApi
beforeAll(async () => {
  api = await openTaskExplorerApi()
})
afterAll(() => api[Symbol.asyncDispose]())

const pathOf = async (task_id: string, query = '', headers: object = keyOf(api.project_id)) => {
  const url = `${api.url}/api/v1/tasks/${encodeURIComponent(task_id)}/critical-path?${query}`
  const reply = await fetch(url, { headers: headers as Record<string, string> })
  return { status: reply.status, body: (await reply.json()) as Json }
}
const call = {
  type: 'generation',
  name: 'chat',
  input_uncached_tokens: 10,
  cost_usd: '0.1',
} as const

/** Two traces: a turn of 40 ms with a call and a slow tool, 20 ms without anybody, a call of 40 ms. */
async function twoTurns() {
  const task_id = await api.newTask()
  const first = await api.store([
    { id: 'turn', at: 0, took: 40, type: 'agent', name: 'turn', task_id },
    { id: 'ask', parent: 'turn', at: 0, took: 10, ...call, task_id },
    { id: 'tool', parent: 'turn', at: 10, took: 30, type: 'tool', name: 'search', task_id },
    { id: 'beside', parent: 'turn', at: 10, took: 5, ...call, task_id },
  ])
  const second = await api.store([
    { id: 'again', at: 60, took: 40, ...call, task_id },
    { id: 'elsewhere', at: 200, took: 10, ...call, task_id: 'another task' },
  ])
  return { task_id, first, second }
}

test('spans all traces from the first start to the last end, with what nobody worked on', async () => {
  const { task_id, first, second } = await twoTurns()
  const { status, body } = await pathOf(task_id)
  expect(status).toBe(200)
  expect(body).toMatchObject({
    ...{ task_id, roots: 2, truncated: false, segments_total: 4, next_cursor: null },
    root: { node_id: '', trace_id: '', type: 'synthetic', duration_ms: 100 },
    used: { tokens: { path: 20, trace: 30 }, cost_usd: { path: '0.2', trace: '0.3' } },
    slack: [
      { node_id: 'turn', slack_ms: 0 },
      { node_id: 'beside', slack_ms: 25 },
    ],
    ...{ findings: [], findings_total: 0, in_findings: { on_path_ms: 0, share: 0 } },
  })
  const segments = body.segments.map((one: Json) => [one.trace_id, one.node_id, one.duration_ms])
  expect(segments).toEqual([
    [first, 'ask', 10],
    [first, 'tool', 30],
    ['', '', 20],
    [second, 'again', 40],
  ])
  expect(body.nodes.map((one: Json) => [one.node_id, one.saves_ms])).toEqual([
    ['again', 20],
    ['tool', 15],
    ['', 50],
    ['ask', 5],
  ])
})

test('shows what faster steps would save in the whole task, and one root alone', async () => {
  const { task_id } = await twoTurns()
  const faster = await pathOf(task_id, 'what_if=again&faster_percent=100')
  expect(faster.body.what_if).toEqual({
    ...{ observations: 1, faster_percent: 100, saves_ms: 40, duration_ms: 60, slack_ms: 0 },
  })
  const named = await pathOf(task_id, 'what_if_name=chat&faster_percent=100')
  expect(named.body.what_if).toMatchObject({ observations: 3, saves_ms: 50 })
  const turn = await pathOf(task_id, 'root=turn')
  expect(turn.body).toMatchObject({ root: { node_id: 'turn', duration_ms: 40 }, segments_total: 2 })
  for (const query of ['root=nobody', 'what_if=nobody']) {
    const { status, body } = await pathOf(task_id, query)
    expect([status, body.code], query).toEqual([404, 'observation_not_found'])
  }
  expect((await pathOf(task_id, 'what_if=a&what_if_name=b')).status).toBe(400)
})

test('gives each finding its part of the path, and counts shared steps once in the sum', async () => {
  const { task_id, first, second } = await twoTurns()
  const { project_id } = api
  const place = (trace_id: string, observation_id: string) => ({ trace_id, observation_id })
  const add = (places: ReturnType<typeof place>[], more: object = {}) =>
    insertFinding(api.relational.db, { project_id, task_id, places, ...more })
  const turn = await add([place(first, 'turn')], { wasted_tokens: 7, wasted_cost_usd: '0.05' })
  const both = await add([place(first, 'tool'), place(second, 'again')])
  const none = await add([place(first, 'beside')])
  await add([place(first, 'tool')], { state: 'withdrawn' })
  await add([place(newId(), 'gone')])
  const { body } = await pathOf(task_id)
  const parts = body.findings.map((one: Json) => [one.finding_id, one.on_path_ms, one.share])
  expect(parts).toEqual([
    [both, 70, 0.7],
    [turn, 40, 0.4],
    [none, 0, 0],
  ])
  expect(body.findings[1]).toMatchObject({ wasted_tokens: 7, wasted_cost_usd: '0.05' })
  expect(body).toMatchObject({ findings_total: 3, in_findings: { on_path_ms: 80, share: 0.8 } })
  const one = await pathOf(task_id, 'limit=1')
  expect(one.body).toMatchObject({ findings: [{ finding_id: both }], findings_total: 3 })
})

test('its segments page without a gap, and add up to the task', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(50), fc.nat(30), fc.nat(2)), { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 1, max: 4 }),
      async (steps, limit) => {
        const task_id = await api.newTask()
        for (const chosen of [0, 1, 2]) {
          const rows = steps.flatMap(([at, took, trace], index) =>
            trace === chosen ? [{ id: `s${index}`, at, took, ...call, task_id }] : [],
          )
          if (rows.length > 0) await api.store(rows)
        }
        let query = `limit=${limit}`
        let last = ''
        let sum = 0
        for (;;) {
          const { body } = await pathOf(task_id, query)
          for (const { start_time, duration_ms } of body.segments) {
            expect(start_time >= last).toBe(true)
            sum += duration_ms
            last = start_time
          }
          if (body.next_cursor === null) break
          query = `limit=${limit}&cursor=${body.next_cursor}`
        }
        const ends = steps.map(([at, took]) => at + took)
        const starts = steps.map(([at]) => at)
        expect(sum).toBeCloseTo(Math.max(...ends) - Math.min(...starts), 6)
      },
    ),
    { numRuns: fuzzRuns(40) },
  )
})

test('a task without observations has an empty path; other tenants and unknown tasks get 404', async () => {
  const task_id = await api.newTask()
  const { status, body } = await pathOf(task_id)
  expect([status, body]).toMatchObject([200, { root: null, roots: 0, segments: [], findings: [] }])
  expect((await pathOf(`unknown ${newId()}`)).body.code).toBe('task_not_found')
  const { task_id: mine } = await twoTurns()
  const other = await pathOf(mine, '', keyOf(newId()))
  expect([other.status, other.body.code]).toEqual([404, 'task_not_found'])
  expect((await pathOf(mine, '', keyOf(api.project_id, 'query:run'))).status).toBe(403)
})
