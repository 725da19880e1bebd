import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { markDue } from '../../src/capabilities/detection/index.ts'
import { createRowReader } from '../../src/capabilities/edge/otlp/mapping/read-again.ts'
import { ingestMeters } from '../../src/capabilities/ingest/meters.ts'
import {
  type RepairPorts,
  repairProject,
  shownCounts,
} from '../../src/capabilities/ingest/repair/repair-traces.ts'
import { settleTraces } from '../../src/capabilities/ingest/traces/settle-traces.ts'
import { createPricing } from '../../src/capabilities/records/pricing/index.ts'
import {
  openClickHouseRepairStore,
  openClickHouseStore,
} from '../../src/capabilities/storage/index.ts'
import type { Observation } from '../../src/model/observation.ts'
import type { ColumnarServer } from '../../src/platform/columnar/index.ts'
import { openRelational, type TaskTables } from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { allTenants } from '../support/all-tenants.ts'
import { migratedClickHouse } from '../support/clickhouse.ts'
import { noErasures } from '../support/ingest.ts'
import {
  earlierContract,
  mappedRequest,
  otlpRequest,
  otlpSpan,
  spanStart,
  storedFrom,
  testMapper,
} from '../support/otlp-spans.ts'
import { testPostgres } from '../support/postgres.ts'

const { db } = openRelational<TaskTables>({
  scope: allTenants,
  url: await testPostgres(),
  pool_max: 4,
  connect_timeout_ms: 10_000,
  statement_timeout_ms: 10_000,
  logger: createLogger({ role: 'test', level: 'silent' }),
})
const pricing = createPricing()
const mapper = testMapper({ pricing, contract: earlierContract })
let columnar: ColumnarServer
let ports: RepairPorts
let stale: bigint[] = []

beforeAll(async () => {
  columnar = await migratedClickHouse()
  ports = {
    ...{ db, markDue, large_from: 1_000, erased: noErasures },
    store: openClickHouseStore({ columnar }),
    rows: openClickHouseRepairStore({ columnar }),
    meters: ingestMeters(createMetrics()),
    setSecondOwners: async () => undefined,
    eraseSecondRows: async () => undefined,
    markStale: async (_project, starts) => {
      stale.push(...starts)
    },
    readAgain: createRowReader({ pricing }),
  }
})
afterAll(async () => {
  await columnar.close()
  await db.destroy()
})

const trace_id = '0198c0de-0000-7000-8000-000000000032'
const day_ns = 86_400_000_000_000n

const usage = {
  ...{ 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'openai' },
  ...{ 'gen_ai.request.model': 'gpt-5-mini', 'gen_ai.usage.output_tokens': 10 },
  ...{ 'gen_ai.usage.input_tokens': 13_675, 'gen_ai.usage.input_cached_tokens': 9_216 },
}

/** Spans of two people in one trace, as the earlier version stored them; Bob's call became Ann's. */
function oldRows(project_id: string): Observation[] {
  const named = (user: string, task: string) => ({ 'user.id': user, 'looptrace.task.id': task })
  const span = (span_id: string, parent_span_id: string, attributes: object, after = 0n) =>
    otlpSpan({ ...attributes } as never, {
      ...{ trace_id, span_id, parent_span_id },
      ...{ start_time: spanStart + after, end_time: spanStart + after + 1_000_000_000n },
    })
  const agent = { 'gen_ai.operation.name': 'invoke_agent' }
  const spans = [
    span('a000000000000000', '', { ...agent, ...named('ann', 'T-ann') }),
    span('a000000000000001', 'a000000000000000', usage),
    // A framework and the library below it report one call.
    span('a000000000000002', 'a000000000000001', usage),
    // Bob's agent began on the evening before.
    span('b000000000000000', '', { ...agent, ...named('bob', 'T-bob') }, -day_ns / 2n),
    span('b000000000000001', 'b000000000000000', usage),
    // Its agent never came.
    span('c000000000000001', 'c000000000000000', usage),
  ]
  const origin = { ...mappedRequest, project_id }
  return mapper.traces(otlpRequest(spans), origin).records.observations.map((draft) => {
    const row = storedFrom(draft)
    const isGuessed = ['b000000000000001', 'c000000000000001'].includes(row.observation_id)
    return isGuessed ? { ...row, task_id: 'T-ann', task_implicit: false, user_id: 'ann' } : row
  })
}

async function tasksOf(project_id: string) {
  const tasks = await db
    .selectFrom('tasks')
    .select(['task_id', 'user_id', 'calls', 'merged_calls', 'total_tokens', 'cost_usd'])
    .where('project_id', '=', project_id)
    .orderBy('task_id')
    .execute()
  return tasks.map((task) => ({ ...task, cost_usd: Number(task.cost_usd) }))
}

test('stored rows get the owners and costs of today, once, and a dry run changes nothing', async () => {
  const project_id = randomUUID()
  const foreign = randomUUID()
  const old = oldRows(project_id)
  const { store } = ports
  await store.insert([...old, ...oldRows(foreign)], { token: randomUUID() })
  await settleTraces(ports, old)
  await settleTraces(ports, oldRows(foreign))
  const before = await tasksOf(project_id)
  const asked = { project_id, signal: AbortSignal.timeout(60_000) }
  stale = []

  const counted = await repairProject(ports, { ...asked, is_applied: false })
  expect(await tasksOf(project_id)).toEqual(before)
  expect(stale).toEqual([])
  const one = 0.25 * 4_459 + 0.025 * 9_216 + 2 * 10
  const cost = (calls: number) => expect.closeTo((calls * one) / 1e6, 9)
  expect(counted).toMatchObject({ observations: 6, costs: 4, merged: 0, owners: 2 })
  expect(counted).toMatchObject({ owners_unknown: 1, too_large: 0 })

  const applied = await repairProject(ports, { ...asked, is_applied: true })
  expect(shownCounts(applied)).toEqual(shownCounts(counted))
  expect(Number(shownCounts(applied).cost_usd_after)).toEqual(cost(3))
  expect(new Set(stale)).toEqual(new Set([spanStart]))
  expect(await tasksOf(project_id)).toEqual([
    { task_id: trace_id, user_id: null, calls: 1, merged_calls: 0, ...sums(cost(1), 1) },
    { task_id: 'T-ann', user_id: 'ann', calls: 1, merged_calls: 1, ...sums(cost(1), 1) },
    { task_id: 'T-bob', user_id: 'bob', calls: 1, merged_calls: 0, ...sums(cost(1), 1) },
  ])
  const window = { trace_id, limit: 10 }
  const rows = await store.traceObservations(project_id, window)
  expect(
    rows.map(({ observation_id, user_id }) => `${observation_id[0]} ${user_id}`).sort(),
  ).toEqual(['a ann', 'a ann', 'a ann', 'b bob', 'b bob', 'c '])

  const again = await repairProject(ports, { ...asked, is_applied: true })
  expect(again).toMatchObject({ observations: 6, costs: 0, merged: 0, owners: 0 })
  // Another project has the same ids, and is as it was.
  expect(await store.traceObservations(foreign, window)).toEqual(
    expect.arrayContaining([expect.objectContaining({ user_id: 'ann', task_id: 'T-ann' })]),
  )
  expect(await tasksOf(foreign)).toEqual(before)
})

/** The first call works; the second one, under the locks, ends the process. */
function firstOnly<T extends (...asked: never[]) => unknown>(work: T, kill: () => unknown): T {
  let calls = 0
  return ((...asked: never[]) => (calls++ === 0 ? work(...asked) : kill())) as T
}

function sums(cost_usd: unknown, calls: number) {
  return { total_tokens: calls * 13_685, cost_usd }
}

test('only rows of the window change, and a killed repair is ended by the next', async () => {
  const project_id = randomUUID()
  const old = oldRows(project_id)
  await ports.store.insert(old, { token: randomUUID() })
  await settleTraces(ports, old)
  const asked = { project_id, is_applied: true, signal: AbortSignal.timeout(60_000) }
  const later = await repairProject(ports, { ...asked, from: spanStart + day_ns })
  expect(later).toMatchObject({ traces: 0, observations: 0 })

  const kill = () => Promise.reject(new Error('killed'))
  const afterUsage = { ...ports.rows, traceRows: firstOnly(ports.rows.traceRows, kill) }
  await expect(repairProject({ ...ports, rows: afterUsage }, asked)).rejects.toThrow('killed')
  await expect(repairProject({ ...ports, setSecondOwners: kill }, asked)).rejects.toThrow('killed')
  await repairProject(ports, asked)
  const tasks = await tasksOf(project_id)
  expect(tasks.map(({ task_id, calls, total_tokens }) => [task_id, calls, total_tokens])).toEqual([
    [trace_id, 1, 13_685],
    ['T-ann', 1, 13_685],
    ['T-bob', 1, 13_685],
  ])
  expect(new Set(tasks.map(({ cost_usd }) => cost_usd.toFixed(9)))).toEqual(
    new Set(['0.001365150']),
  )
})
