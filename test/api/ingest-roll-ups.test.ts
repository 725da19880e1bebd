import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { markDue } from '../../src/capabilities/detection/index.ts'
import { ingestMeters } from '../../src/capabilities/ingest/meters.ts'
import { refreshOne, startRefreshing } from '../../src/capabilities/ingest/roll-up/large-rollups.ts'
import { computeTaskRollup } from '../../src/capabilities/ingest/roll-up/task-state.ts'
import { collectTouched, isCountedInTask } from '../../src/capabilities/ingest/roll-up/touched.ts'
import { sleep, systemClock } from '../../src/kernel/time.ts'
import type { Observation } from '../../src/model/observation.ts'
import { openRelational, sql, type TaskTables } from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { allTenants } from '../support/all-tenants.ts'
import { eventually } from '../support/eventually.ts'
import { memoryStore } from '../support/memory-store.ts'
import { observationOf } from '../support/observations.ts'
import { testPostgres } from '../support/postgres.ts'
import { rollUpBatch } from '../support/roll-up-batch.ts'
import { fuzzRuns } from '../support/suite/budget.ts'

const meters = ingestMeters(createMetrics())
const logger = createLogger({ role: 'test', level: 'silent' })
const { db } = openRelational<TaskTables>({
  scope: allTenants,
  url: await testPostgres(),
  pool_max: 4,
  connect_timeout_ms: 1_000,
  statement_timeout_ms: 10_000,
  logger,
})
const start_ms = Date.UTC(2026, 5, 1, 12)
const conversation_id = '00000000-0000-4000-8000-0000000000c0'
/** Polls continuously and never pauses. */
const always = {
  refresh_poll_ms: 1,
  refresh_lease_ms: 10_000,
  refresh_rest_ms: 0,
  refresh_rest_factor: 0,
  refresh_busy_share: 1,
}

/** A store with in-memory roll-ups, which a test compares with ClickHouse's. */
function countingStore() {
  const store = memoryStore()
  const asked: string[] = []
  const rowsOf = (project_id: string, task_id: string) =>
    store.rows().filter((row) => row.project_id === project_id && row.task_id === task_id)
  const counting = {
    ...store,
    asked,
    /** Called once, when the next roll-up was read and is not yet returned. */
    whileRollingUp: undefined as (() => Promise<void>) | undefined,
    taskRollups: async (
      project_id: string,
      tasks: readonly { task_id: string; from: bigint }[],
    ) => {
      const rollups = tasks.flatMap(({ task_id, from }) => {
        asked.push(task_id)
        const rows = rowsOf(project_id, task_id).filter(
          (row) => row.start_time >= from && isCountedInTask(row),
        )
        return rows.length === 0 ? [] : [computeTaskRollup(task_id, rows)]
      })
      await between()
      return rollups
    },
    conversationRollups: async (...asked: Parameters<typeof store.conversationRollups>) => {
      const rollups = await store.conversationRollups(...asked)
      await between()
      return rollups
    },
  }
  const between = async () => {
    const { whileRollingUp } = counting
    counting.whileRollingUp = undefined
    await whileRollingUp?.()
  }
  return counting
}

type CountingStore = ReturnType<typeof countingStore>

async function conversationsOf(project_id: string) {
  return db.selectFrom('conversations').selectAll().where('project_id', '=', project_id).execute()
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

/** One of a few observations; the fields that a version may not change follow from its id. */
function rowOf(project_id: string, versionFacts: Told): Observation {
  const { id, task, start, lasts, version, ...fields } = versionFacts
  const place = (id * 7 + task * 3) % 11
  const start_time = BigInt(start_ms + place) * 1_000_000n + BigInt(id % 3)
  return observationOf({
    ...fields,
    project_id,
    trace_id: `00000000-0000-4000-8000-00000000000${task}`,
    observation_id: `o${id}`,
    type: types[id % types.length] ?? 'tool',
    task_id: `t${task}`,
    // One task has calls with and without their own id.
    task_implicit: task === 0 || (task === 1 && id % 2 === 0),
    conversation_id: task === 2 ? '' : conversation_id,
    start_time,
    end_time: start_time + BigInt(lasts) * 1_000_000n,
    message_id: `m${version}`,
    input_uncached_tokens: id + version * 100,
    price_partial: fields.cost_usd === '12.5' ? ['audio'] : [],
  })
}

const types = ['generation', 'tool', 'generation', 'span', 'embedding'] as const

const versionFacts: fc.Arbitrary<Told> = fc.record({
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

const plain: Omit<Told, 'id' | 'task'> = {
  ...{ version: 0, start: 0, lasts: 1, status: 'ok', task_name: '', user_id: '' },
  ...{ release: '', model: 'm', cost_usd: null },
}

type Delivery = { rows: Told[]; dies: string; besideTheNext: boolean }

/** A batch, the number of its deliveries, and where its first delivery dies. */
const delivery: fc.Arbitrary<Delivery> = fc.record({
  rows: fc.array(versionFacts, { minLength: 1, maxLength: 6 }),
  dies: fc.constantFrom('never', 'before the roll-up', 'after the roll-up'),
  besideTheNext: fc.boolean(),
})

test('after any redelivery, re-send, reordering or interruption, roll-ups equal the rows', async () => {
  let added = 0
  const run = async (deliveries: readonly Delivery[]) => {
    const { store, tasks } = await rolledUp(deliveries, { large_from: 1_000 })
    added += tasks.length * deliveries.length - store.asked.length
  }
  await fc.assert(fc.asyncProperty(fc.array(delivery, { minLength: 1, maxLength: 6 }), run), {
    numRuns: fuzzRuns(150),
  })
  expect(added).toBeGreaterThan(0)
})

test('the same holds for large ones, which two workers refresh concurrently', async () => {
  const large = countingStore()
  const workers = [1, 2].map(() =>
    startRefreshing({ ...ports(large), logger, meters, settings: always }),
  )
  const run = async (deliveries: readonly Delivery[]) => {
    await rolledUp(deliveries, { large_from: 2, store: large })
  }
  try {
    await fc.assert(fc.asyncProperty(fc.array(delivery, { minLength: 1, maxLength: 6 }), run), {
      numRuns: fuzzRuns(60),
    })
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()))
  }
})

test('a roll-up that is marked during its refresh stays due, after a pause', async () => {
  const store = countingStore()
  const project_id = randomUUID()
  const rows = [0, 1, 2].map((id) => rowOf(project_id, { ...plain, id, task: 1 }))
  const deliver = async () => {
    await store.insert(rows, { token: randomUUID() })
    await rollUpBatch({ ...ports(store), large_from: 2 }, collectTouched(rows))
  }
  await deliver()
  await deliver()
  store.whileRollingUp = deliver
  const settings = { ...always, refresh_rest_ms: 60_000 }
  expect(await refreshOne(ports(store), settings)).toBeGreaterThanOrEqual(0)
  expect(await refreshOne(ports(store), settings)).toBeGreaterThanOrEqual(0)
  expect(await refreshOne(ports(store), settings)).toBeUndefined()
  const { rows: due } = await sql<{ soon: boolean }>`
    select due_at > now() + interval '50 s' as soon from large_rollups
    where project_id = ${project_id} and due_at is not null`.execute(db)
  expect(due).toEqual([{ soon: true }])
})

test('however many are due, a worker refreshes for at most its share of the time', async () => {
  const store = countingStore()
  const project_id = randomUUID()
  const rows = [1, 2, 3, 4].map((task) => rowOf(project_id, { ...plain, id: task, task }))
  for (let again = 0; again < 2; again += 1) {
    await store.insert(rows, { token: randomUUID() })
    await rollUpBatch({ ...ports(store), large_from: 1 }, collectTouched(rows))
  }
  const refreshed: { begin: number; end: number }[] = []
  const slow = {
    ...store,
    taskRollups: async (...asked: Parameters<typeof store.taskRollups>) => {
      const begin = performance.now()
      await sleep(100)
      const found = await store.taskRollups(...asked)
      refreshed.push({ begin, end: performance.now() })
      return found
    },
  }
  const settings = { ...always, refresh_rest_ms: 60_000, refresh_busy_share: 0.25 }
  const worker = startRefreshing({ ...ports(slow as typeof store), logger, meters, settings })
  await eventually('four refreshes of tasks', () => refreshed.length === 4)
  await worker.stop()
  const pauses = refreshed.slice(1).map(({ begin }, at) => begin - (refreshed[at]?.end ?? 0))
  expect(Math.min(...pauses)).toBeGreaterThan(250)
})

test.each([
  ['are added', 20],
  ['are computed again', 200],
])('sums that no column holds end at the largest value, if they %s', async (_name, each) => {
  const [store, project_id] = [countingStore(), randomUUID()]
  const rows = Array.from({ length: 200 }, (_, id) => ({
    ...rowOf(project_id, { ...plain, id, task: 1, cost_usd: '999999999' }),
    input_uncached_tokens: Number.MAX_SAFE_INTEGER,
    reasoning_tokens: Number.MAX_SAFE_INTEGER,
  }))
  for (let at = 0; at < rows.length; at += each) {
    const some = rows.slice(at, at + each)
    await store.insert(some, { token: randomUUID() })
    await rollUpBatch({ ...ports(store), large_from: 1_000 }, collectTouched(some))
  }
  const most = { total_tokens: Number.MAX_SAFE_INTEGER, cost_usd: '99999999999.000000000' }
  const [task] = await tasksOf(project_id)
  const [conversation] = await conversationsOf(project_id)
  expect(task).toMatchObject({ ...most, input_uncached_tokens: Number.MAX_SAFE_INTEGER })
  expect(conversation).toMatchObject(most)
})

/** Delivers them, then compares all roll-ups with recomputed ones. */
async function rolledUp(
  deliveries: readonly Delivery[],
  { large_from, store = countingStore() }: { large_from: number; store?: CountingStore },
) {
  const project_id = randomUUID()
  const roll = (rows: Observation[]) =>
    rollUpBatch({ ...ports(store), large_from }, collectTouched(rows))
  const deliver = async (rows: Observation[], dies: string) => {
    await store.insert(rows, { token: randomUUID() })
    if (dies !== 'before the roll-up') await roll(rows)
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
  await untilNoneIsDue(project_id)
  const [tasks, conversations] = [await tasksOf(project_id), await conversationsOf(project_id)]
  await db.updateTable('tasks').set({ calls: -1 }).where('project_id', '=', project_id).execute()
  await roll(store.rows().filter((row) => row.project_id === project_id))
  await untilNoneIsDue(project_id)
  const recomputed = await tasksOf(project_id)
  const compared = (row: Readonly<Record<string, unknown>>) =>
    comparable(row, { counted: large_from > 2 })
  expect(tasks.map(compared)).toEqual(recomputed.map(compared))
  const again = await conversationsOf(project_id)
  expect(conversations.map(compared)).toEqual(again.map(compared))
  const [conversation] = conversations
  const said = store.rows().filter((row) => row.project_id === project_id && row.conversation_id)
  expect(conversation?.calls ?? 0).toBe(said.length)
  return { store, tasks }
}

function untilNoneIsDue(project_id: string): Promise<unknown> {
  return eventually('the refresh of large roll-ups', async () => {
    const { rows } = await sql`
      select 1 from large_rollups where project_id = ${project_id} and due_at is not null
    `.execute(db)
    return rows.length === 0
  })
}

function ports(store: CountingStore) {
  return { db, store, markDue, clock: systemClock }
}

/** The state depends on the order in which batches arrived, so it is not compared. */
function comparable(row: Readonly<Record<string, unknown>>, about: { counted: boolean }) {
  const { counted, updated_at, state, ended_at, ...rest } = row
  const isCompared = about.counted && Array.isArray(counted)
  return { ...rest, counted: isCompared ? counted.toSorted() : null }
}
