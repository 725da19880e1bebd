import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rollUp } from '../../src/capabilities/observability/ingest/roll-up/roll-up.ts'
import { taskRollupOf } from '../../src/capabilities/observability/ingest/roll-up/rollup-of-rows.ts'
import {
  countsInTask,
  touchedBy,
} from '../../src/capabilities/observability/ingest/roll-up/touched.ts'
import type { Observation } from '../../src/model/observation.ts'
import { openRelational, type TaskTables } from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { memoryStore } from '../support/memory-store.ts'
import { observationOf } from '../support/observations.ts'
import { testPostgres } from '../support/postgres.ts'

const { db } = openRelational<TaskTables>({
  url: await testPostgres(),
  pool_max: 4,
  connect_timeout_ms: 1_000,
  statement_timeout_ms: 10_000,
  logger: createLogger({ role: 'test', level: 'silent' }),
})
const start_ms = Date.UTC(2026, 5, 1, 12)

/** A store whose roll-ups are those of rows, which a test holds against ClickHouse's. */
function countingStore() {
  const store = memoryStore()
  const asked: string[] = []
  const rowsOf = (project_id: string, task_id: string) =>
    store.rows().filter((row) => row.project_id === project_id && row.task_id === task_id)
  return {
    ...store,
    asked,
    rowsOf,
    taskRollups: async (project_id: string, tasks: readonly { task_id: string; from: bigint }[]) =>
      tasks.flatMap(({ task_id, from }) => {
        asked.push(task_id)
        const rows = rowsOf(project_id, task_id).filter(
          (row) => row.start_time >= from && countsInTask(row),
        )
        return rows.length === 0 ? [] : [taskRollupOf(task_id, rows)]
      }),
  }
}

async function tasksOf(project_id: string) {
  return db
    .selectFrom('tasks')
    .selectAll()
    .where('project_id', '=', project_id)
    .orderBy('task_id')
    .execute()
}

type Told = { id: number; version: number; task: number; start: number; lasts: number } & Pick<
  Observation,
  'task_name' | 'user_id' | 'status' | 'model' | 'cost_usd' | 'release'
>

/** One of few observations; what a version may not change follows from its id. */
function rowOf(project_id: string, told: Told): Observation {
  const { id, task, start, lasts, version, ...fields } = told
  const place = (id * 7 + task * 3) % 11
  const start_time = BigInt(start_ms + place) * 1_000_000n + BigInt(id % 3)
  return observationOf({
    ...fields,
    project_id,
    trace_id: `00000000-0000-4000-8000-00000000000${task}`,
    observation_id: `o${id}`,
    type: types[id % types.length] ?? 'tool',
    task_id: `t${task}`,
    // One task has calls with and without an id of their own.
    task_implicit: task === 0 || (task === 1 && id % 2 === 0),
    conversation_id: '',
    start_time,
    end_time: start_time + BigInt(lasts) * 1_000_000n,
    message_id: `m${version}`,
    input_uncached_tokens: id + version * 100,
  })
}

const types = ['generation', 'tool', 'generation', 'span', 'embedding'] as const

const told: fc.Arbitrary<Told> = fc.record({
  id: fc.nat({ max: 9 }),
  version: fc.nat({ max: 1 }),
  task: fc.nat({ max: 2 }),
  start: fc.constant(0),
  lasts: fc.nat({ max: 9 }),
  task_name: fc.constantFrom('', 'a', 'b'),
  user_id: fc.constantFrom('', 'u1', 'u2'),
  release: fc.constantFrom('', 'r1'),
  status: fc.constantFrom('ok' as const, 'error' as const),
  model: fc.constantFrom('', 'm-\u00e9', 'M', 'm'),
  cost_usd: fc.constantFrom(null, '0.000000001', '12.5'),
})

type Delivery = { rows: Told[]; dies: string; besideTheNext: boolean }

/** A batch, how often it is delivered, and where its first delivery dies. */
const delivery: fc.Arbitrary<Delivery> = fc.record({
  rows: fc.array(told, { minLength: 1, maxLength: 6 }),
  dies: fc.constantFrom('never', 'before the roll-up', 'after the roll-up'),
  besideTheNext: fc.boolean(),
})

test('whatever is redelivered, sent again, reordered or cut short, roll-ups are those of the rows', async () => {
  let added = 0
  const run = async (deliveries: readonly Delivery[]) => {
    const project_id = randomUUID()
    const store = countingStore()
    const deliver = async (rows: Observation[], dies: string) => {
      await store.insert(rows, { token: randomUUID() })
      if (dies !== 'before the roll-up') await rollUp({ db, store }, touchedBy(rows))
    }
    const late: Observation[][] = []
    let beside: Promise<void>[] = []
    for (const { rows: toldRows, dies, besideTheNext } of deliveries) {
      const rows = toldRows.map((one) => rowOf(project_id, one))
      beside.push(deliver(rows, dies))
      if (!besideTheNext) {
        await Promise.all(beside)
        beside = []
      }
      if (dies !== 'never') late.push(rows)
    }
    await Promise.all(beside)
    for (const rows of late.toReversed()) await deliver(rows, 'never')
    const tasks = await tasksOf(project_id)
    added += tasks.length * deliveries.length - store.asked.length
    await db.updateTable('tasks').set({ calls: -1 }).where('project_id', '=', project_id).execute()
    const all = store.rows()
    await rollUp({ db, store }, touchedBy(all))
    const recomputed = await tasksOf(project_id)
    expect(tasks.map(comparable)).toEqual(recomputed.map(comparable))
  }
  await fc.assert(fc.asyncProperty(fc.array(delivery, { minLength: 1, maxLength: 6 }), run), {
    numRuns: 150,
  })
  expect(added).toBeGreaterThan(0)
})

type Task = Awaited<ReturnType<typeof tasksOf>>[number] & { counted?: number[] | null }

/** The state follows the order in which batches came, so it is not what is compared. */
function comparable({ counted, updated_at, state, ended_at, ...task }: Task) {
  return { ...task, counted: counted?.toSorted() }
}
