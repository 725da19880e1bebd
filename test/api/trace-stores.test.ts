import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ChooseStore } from '../../src/capabilities/query/index.ts'
import { openHotRowWriter } from '../../src/capabilities/storage/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { isoFromNs } from '../../src/kernel/time.ts'
import type { Observation } from '../../src/model/observation.ts'
import type { Json } from '../support/query-api.ts'
import { openTaskExplorerApi, type TaskExplorerApi } from '../support/task-explorer-api.ts'
import { type GivenRow, observationsOf } from '../support/trace-api.ts'
import { traceStartNs } from '../support/trace-rows.ts'

let api: TaskExplorerApi
let store: 'clickhouse' | 'postgres'
type HotDb = Parameters<typeof openHotRowWriter>[0]
const asked: Parameters<ChooseStore>[0][] = []

beforeAll(async () => {
  api = await openTaskExplorerApi({
    chooseStore: async (question) => {
      asked.push(question)
      const passed_over = { store: 'postgres', reason: 'it is too old' } as const
      const choice = { candidates: [], order: [store], fallback: false }
      return store === 'clickhouse' ? { ...choice, passed_over } : choice
    },
  })
})
afterAll(async () => {
  await api[Symbol.asyncDispose]()
})

const rows: GivenRow[] = [
  { id: 'root', at: 0, took: 90, type: 'agent', input_uncached_tokens: 12, cost_usd: '0.5' },
  {
    ...{ id: 'call', parent: 'root', at: 5, took: 20, type: 'generation', name: 'chat' },
    ...{ input_uncached_tokens: 12, cost_usd: '0.000000001', time_to_first_token_ms: 1.5 },
  },
  { id: 'tool', parent: 'root', at: 30, took: 40, type: 'tool', status: 'error' },
  { id: 'orphan', parent: 'gone', at: 60, took: -1 },
]

/** Both are compared without the fields about the store itself. */
const compared = ({ served_by, fallback_reason, stats, ...body }: Json) => body

test.each([
  'explorer',
  'explorer?view=outline',
  'explorer?name=chat',
  'explorer?q=chat',
  'critical-path?what_if=tool',
])('both stores return the same: %s', async (path) => {
  const { project_id } = api
  const trace_id = newId()
  await storeInBoth(observationsOf(rows, { project_id, trace_id }))
  const answers: Json[] = []
  for (const each of ['clickhouse', 'postgres'] as const) {
    store = each
    const { status, body } = await api.get(`traces/${trace_id}/${path}`)
    expect([status, body.served_by]).toEqual([200, each])
    expect(body.fallback_reason).toBe(each === 'clickhouse' ? 'it is too old' : null)
    answers.push(compared(body))
  }
  expect(answers[1]).toEqual(answers[0])
})

test.each(['', 'view=outline', 'q=chat', 'depth=1&limit=1'])(
  'both stores return the same of a task: %s',
  async (query) => {
    const { project_id } = api
    const task_id = await api.newTask()
    const inTask = rows.map((row) => ({ ...row, task_id }))
    const outer: GivenRow = { id: 'gone', at: 0, took: 99, task_id: 'another' }
    await storeInBoth([
      ...observationsOf([...inTask, outer], { project_id, trace_id: newId() }),
      ...observationsOf(inTask, { project_id, trace_id: newId() }),
    ])
    const answers: Json[] = []
    for (const each of ['clickhouse', 'postgres'] as const) {
      store = each
      const { status, body } = await api.explore(task_id, query)
      expect([status, body.served_by]).toEqual([200, each])
      answers.push(compared(body))
    }
    expect(answers[1]).toEqual(answers[0])
    expect(answers[0]?.summary.marks).toMatchObject({ outer_parent: 1, orphan: 1 })
  },
)

async function storeInBoth(observations: readonly Observation[]): Promise<void> {
  await api.insert(observations)
  // The tables of the hot window are in the same database.
  const db: unknown = api.relational.db
  await openHotRowWriter(db as HotDb).write(
    'hot_observations',
    observations.map((row) => ({ row, ingested_at_ms: 1 })),
  )
}

test('the routing is asked for the class, and for the given window', async () => {
  store = 'clickhouse'
  const trace_id = await api.store(rows)
  asked.length = 0
  const [from, to] = [traceStartNs, traceStartNs + 50_000_000n]
  const query = new URLSearchParams({ from: isoFromNs(from), to: isoFromNs(to) })
  const { body } = await api.get(`traces/${trace_id}/explorer?${query}`)
  expect(body.summary.rollup.observations).toBe(3)
  expect(asked[0]).toMatchObject({
    ...{ project_id: api.project_id, query_class: 'explorer', entity: 'observations' },
    window: { from, to },
  })
})
