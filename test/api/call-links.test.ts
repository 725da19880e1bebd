import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { markDue } from '../../src/capabilities/detection/index.ts'
import { ingestMeters } from '../../src/capabilities/ingest/meters.ts'
import { computeTaskRollup } from '../../src/capabilities/ingest/roll-up/task-state.ts'
import { recentTracesChore } from '../../src/capabilities/ingest/traces/recent-traces.ts'
import { settleTraces } from '../../src/capabilities/ingest/traces/settle-traces.ts'
import type { CallLinks } from '../../src/capabilities/records/call-task/index.ts'
import { taskNamed } from '../../src/capabilities/tasks/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { Observation } from '../../src/model/observation.ts'
import { taskRuleAttribute } from '../../src/model/task-rules.ts'
import { openRelational, sql, type TaskTables } from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { allTenants } from '../support/all-tenants.ts'
import { noErasures } from '../support/ingest.ts'
import { type MemoryStore, memoryStore, type StoreMoment } from '../support/memory-store.ts'
import { observationOf } from '../support/observations.ts'
import { testPostgres } from '../support/postgres.ts'
import { fuzzRuns } from '../support/suite/budget.ts'

/** Calls of different traces that continue each other, as workers settle them. */
const { db } = openRelational<TaskTables>({
  scope: allTenants,
  url: await testPostgres(),
  pool_max: 6,
  connect_timeout_ms: 10_000,
  statement_timeout_ms: 10_000,
  logger: createLogger({ role: 'test', level: 'silent' }),
})
const meters = ingestMeters(createMetrics())
const start = BigInt(Date.UTC(2026, 5, 1, 12)) * 1_000_000n
const second_ns = 1_000_000_000n

function openStore(): MemoryStore {
  const store = memoryStore()
  store.taskRollups = async (project_id, tasks) => {
    await store.at('before rollup', [])
    const rollups = tasks.flatMap(({ task_id }) => {
      const own = store.rows().filter((row) => row.task_id === task_id)
      const counted = own.filter((row) => row.project_id === project_id)
      return counted.length === 0 ? [] : [computeTaskRollup(task_id, counted)]
    })
    await store.at('after rollup', [])
    return rollups
  }
  return store
}

type Call = { row: Observation; links: CallLinks }

/** Stores a batch and settles it, as a worker does. */
async function deliver(
  store: MemoryStore,
  calls: readonly Call[],
  onDb: typeof db = db,
): Promise<void> {
  await store.insert(
    calls.map(({ row }) => row),
    { token: randomUUID() },
  )
  const setSecondOwners = async () => undefined
  const eraseSecondRows = async () => undefined
  const more = { setSecondOwners, eraseSecondRows, erased: noErasures, large_from: 1_000 }
  const heads = calls.map(({ row, links }) => ({ ...row, links }))
  await settleTraces({ db: onDb, store, markDue, meters, ...more }, heads)
}

type Said = Partial<Pick<Observation, 'task_id' | 'user_id' | 'task_implicit'>>

function callOf(
  project_id: string,
  { at, said = {}, links }: { at: number; said?: Said; links: Partial<CallLinks> },
): Call {
  const trace_id = randomUUID()
  const row = observationOf({
    ...{ project_id, trace_id, observation_id: `c${at}`, source: 'proxy' as const },
    start_time: start + BigInt(at) * second_ns,
    ...{ task_id: trace_id, task_implicit: true, ...said },
  })
  return { row, links: { gives: [], wants: '', ...links } }
}

async function callsByTask(project_id: string): Promise<Record<string, number>> {
  const tasks = await db
    .selectFrom('tasks')
    .select(['task_id', 'calls'])
    .where('project_id', '=', project_id)
    .execute()
  return Object.fromEntries(tasks.map(({ task_id, calls }) => [task_id, calls]))
}

test('a chain of answers is one task, in any order of arrival', async () => {
  const orders = [
    [0, 1, 2, 3],
    [3, 2, 1, 0],
    [1, 3, 0, 2],
  ]
  for (const order of orders) {
    const [store, project_id] = [openStore(), randomUUID()]
    const calls = order.map((at) => {
      const said = at === 0 ? { task_id: 'T', task_implicit: false, user_id: 'ann' } : {}
      const links = { gives: [`response:r${at}`], wants: at === 0 ? '' : `response:r${at - 1}` }
      return callOf(project_id, { at, said, links })
    })
    for (const call of calls) await deliver(store, [call])
    expect(await callsByTask(project_id)).toEqual({ T: 4 })
    expect(store.rows().map(({ user_id }) => user_id)).toEqual(['ann', 'ann', 'ann', 'ann'])
  }
})

test('the links of a batch are followed once', async () => {
  const [store, project_id] = [openStore(), randomUUID()]
  const walks: number[] = []
  const counted = db.withPlugin({
    transformQuery: ({ node }) => {
      if (node.kind === 'RawNode' && node.sqlFragments.join('').includes('recursive reached')) {
        walks.push(node.parameters.length)
      }
      return node
    },
    transformResult: async ({ result }) => result,
  })
  const said = { task_id: 'T', task_implicit: false }
  const first = callOf(project_id, { at: 0, said, links: { gives: ['response:a'] } })
  const second = callOf(project_id, {
    at: 1,
    links: { gives: ['response:b'], wants: 'response:a' },
  })
  const third = callOf(project_id, { at: 2, links: { wants: 'response:b' } })
  await deliver(store, [first], counted)
  await deliver(store, [third], counted)
  expect(walks).toHaveLength(2)
  await deliver(store, [second], counted)
  expect(walks).toHaveLength(3)
  expect(await callsByTask(project_id)).toEqual({ T: 3 })
})

test('another project with the same names stays apart', async () => {
  const [store, ours, theirs] = [openStore(), randomUUID(), randomUUID()]
  const giver = callOf(ours, { at: 0, links: { gives: ['response:r0'] } })
  const wanting = callOf(theirs, { at: 1, links: { wants: 'response:r0' } })
  await deliver(store, [giver, wanting])
  await deliver(store, [wanting])
  expect(await callsByTask(ours)).toEqual({ [giver.row.task_id]: 1 })
  expect(await callsByTask(theirs)).toEqual({ [wanting.row.task_id]: 1 })
})

test('a sub-agent that was stored first leaves its own task', async () => {
  const [store, project_id] = [openStore(), randomUUID()]
  const inner = [1, 2].map((at) => {
    const said = { task_id: 'claude_code:s:a1' }
    return callOf(project_id, { at, said, links: { wants: 'prompt:p' } })
  })
  await deliver(store, inner)
  expect(await callsByTask(project_id)).toEqual({ 'claude_code:s:a1': 2 })
  const said = { task_id: 'claude_code:s:1-x' }
  await deliver(store, [callOf(project_id, { at: 0, said, links: { gives: ['prompt:p'] } })])
  expect(await callsByTask(project_id)).toEqual({ 'claude_code:s:1-x': 3 })
})

test('runs whose tool calls have the same ids stay apart in time', async () => {
  const [store, project_id] = [openStore(), randomUUID()]
  const calls = [0, 1, 2, 10, 11, 12, 9_000].map((at) => {
    const isFirst = at % 10 === 0 && at < 100
    const links = isFirst ? { gives: ['history:h'] } : { wants: 'history:h' }
    return callOf(project_id, { at, links })
  })
  for (const call of calls.toReversed()) await deliver(store, [call])
  expect(Object.values(await callsByTask(project_id)).toSorted()).toEqual([1, 3, 3])
})

test('notes of links are dropped after a day', async () => {
  const [store, project_id] = [openStore(), randomUUID()]
  await deliver(store, [callOf(project_id, { at: 0, links: { gives: ['response:r0'] } })])
  const notes = async () => {
    const { rows } = await sql`select from recent_links where project_id = ${project_id}`.execute(
      db,
    )
    return rows.length
  }
  await recentTracesChore({ db }).run(new AbortController().signal)
  expect(await notes()).toBe(1)
  await sql`update recent_links set seen_on = current_date - 2
    where project_id = ${project_id}`.execute(db)
  await recentTracesChore({ db }).run(new AbortController().signal)
  expect(await notes()).toBe(0)
})

test('a trace leads to the task that its call joined, also after its notes are gone', async () => {
  const [store, project_id] = [openStore(), newId()]
  store.observationsAt = async (_project, places) =>
    store.rows().filter((row) => places.some((one) => one.trace_id === row.trace_id))
  const now_ns = BigInt(Date.now()) * 1_000_000n
  const sent = (at: number, { wants = '', ...said }: Said & { wants?: string }) => {
    const links = { gives: [`response:${at}`], wants }
    const { row } = callOf(project_id, { at, said, links })
    const trace_id = newId()
    const attributes = wants === '' ? {} : { [taskRuleAttribute]: 'response_id' }
    const task_id = said.task_id ?? trace_id
    const start_time = now_ns + BigInt(at)
    return { row: { ...row, trace_id, attributes, task_id, start_time }, links }
  }
  const named = { task_id: 'order-7', task_implicit: false }
  const calls = [
    sent(0, named),
    sent(1, { wants: 'response:0' }),
    sent(2, { task_id: 'history:1' }),
    sent(3, { wants: 'response:2' }),
  ]
  for (const call of calls) await deliver(store, [call])
  const found = () =>
    Promise.all(
      calls.map(({ row }) =>
        taskNamed({ db, store }, project_id, row.trace_id).then(
          ({ task_id }) => task_id,
          ({ code }) => code,
        ),
      ),
    )
  const recent = await found()
  expect(recent).toEqual(['task_not_found', 'order-7', 'history:1', 'history:1'])
  await sql`delete from recent_traces where project_id = ${project_id}`.execute(db)
  expect(await found()).toEqual(recent)
})

type Told = { after: number; isLinked: boolean; said: Said }

const told: fc.Arbitrary<Told> = fc.record({
  after: fc.nat(),
  isLinked: fc.boolean(),
  said: fc.constantFrom<Said>(
    ...[{}, {}, {}, { user_id: 'ann' }, { task_id: 'claude_code:s:1-x' }],
    { task_id: 'T', task_implicit: false },
  ),
})

const moments: readonly (StoreMoment | 'never')[] = [
  ...['never', 'never', 'after insert', 'before owners', 'after owners'],
  ...['before rollup', 'after rollup'],
] as const

const batch = fc.record({
  rows: fc.array(fc.nat(), { minLength: 1, maxLength: 4 }),
  dies: fc.constantFrom(...moments),
  beside: fc.boolean(),
})

class Killed extends Error {}

/** Calls in order of their starts, and the tasks and users that follow by the naive model. */
function worldOf(project_id: string, tellings: readonly Told[]) {
  const calls: Call[] = []
  const expected: { task_id: string; user_id: string }[] = []
  for (const [at, { after, isLinked, said }] of tellings.entries()) {
    const before = isLinked && at > 0 ? after % at : undefined
    const wants = before === undefined ? '' : `response:${project_id} ${before}`
    const links = { gives: [`response:${project_id} ${at}`], wants }
    const call = callOf(project_id, { at, said, links })
    const above = expected[before ?? -1]
    expected.push({
      task_id: call.row.task_implicit ? (above?.task_id ?? call.row.task_id) : call.row.task_id,
      user_id: call.row.user_id || (above?.user_id ?? ''),
    })
    calls.push(call)
  }
  return { calls, expected }
}

test('any order, repeat and kill, and two workers, end in the tasks of the naive model', async () => {
  const world = fc.tuple(
    fc.array(told, { minLength: 2, maxLength: 9 }),
    fc.array(batch, { minLength: 1, maxLength: 6 }),
  )
  const run = async ([tellings, batches]: [
    Told[],
    (typeof batch extends fc.Arbitrary<infer B> ? B : never)[],
  ]) => {
    const [store, project_id] = [openStore(), randomUUID()]
    const { calls, expected } = worldOf(project_id, tellings)
    const all = batches.map(({ rows }) =>
      [...new Set(rows.map((place) => place % calls.length))].flatMap(
        (place) => calls[place] ?? [],
      ),
    )
    const rest = calls.filter((call) => all.every((some) => !some.includes(call)))
    let dying: StoreMoment | 'never' = 'never'
    store.at = (moment) => {
      if (moment !== dying) return
      dying = 'never'
      throw new Killed()
    }
    const again: Call[][] = []
    let beside: Promise<void>[] = []
    for (const [at, { dies, beside: isBeside }] of batches.entries()) {
      dying = dies
      const some = all[at] ?? []
      beside.push(deliver(store, some).catch(() => void again.push(some)))
      if (isBeside) continue
      await Promise.all(beside)
      beside = []
    }
    await Promise.all(beside)
    dying = 'never'
    for (const some of again.toReversed()) await deliver(store, some)
    if (rest.length > 0) await deliver(store, rest)
    const stored = new Map(store.rows().map((row) => [row.trace_id, row]))
    const actual = calls.map(({ row }) => {
      const { task_id = '', user_id = '' } = stored.get(row.trace_id) ?? {}
      return { task_id, user_id }
    })
    expect(actual).toEqual(expected)
    const counts = Map.groupBy(expected, ({ task_id }) => task_id)
    expect(await callsByTask(project_id)).toEqual(
      Object.fromEntries([...counts].map(([task_id, own]) => [task_id, own.length])),
    )
  }
  await fc.assert(fc.asyncProperty(world, run), { numRuns: fuzzRuns(150), endOnFailure: true })
}, 240_000)
