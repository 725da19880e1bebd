import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { policyBody } from '../../src/capabilities/verification/policy/rules.ts'
import { policyTable } from '../../src/capabilities/verification/policy/store.ts'
import {
  type PolicyDeps,
  type PolicySettings,
  verifyQuietTasksChore,
} from '../../src/capabilities/verification/policy/verify-quiet-tasks.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { agentRun } from '../corpus/agent-run.ts'
import { tokenOf } from '../support/task-api.ts'
import { openVerificationApi, type VerificationApi } from '../support/verification-api.ts'

let api: VerificationApi
beforeAll(async () => {
  api = await openVerificationApi()
})
afterAll(() => api?.[Symbol.asyncDispose]())
// A pass looks at every project with a policy, also at those of earlier tests.
afterEach(() => api.db.deleteFrom('verification_policies').execute())

const put = (project_id: string, body: object, headers: Record<string, string> = {}) =>
  api.call('PUT', '/policy', {
    ...{ project_id, body, headers: { ...tokenOf('admin', project_id), ...headers } },
  })

describe('the policy', () => {
  test('is off by default; a change has all fields, and a version', async () => {
    const project = await api.bench.newProject()
    const first = await api.get(project, '/policy')
    expect(first).toEqual({
      ...{ status: 200, etag: expect.stringMatching(/^"0-/) },
      body: {
        ...{ project_id: project, enabled: false, sample_percent: 100, task_names: null },
        ...{ verifiers: null, budget_usd_per_day: null, min_interval: null, version: 0 },
        ...{ updated_at: null, updated_by: null },
      },
    })
    const rules = {
      ...{ enabled: true, sample_percent: 12.5, task_names: ['support*'], min_interval: '10m' },
      ...{ budget_usd_per_day: '2.50', verifiers: ['kb', { name: 'web', options: {} }] },
    }
    const set = await put(project, rules, { 'if-match': '"0"' })
    expect(set).toMatchObject({
      ...{ status: 200, etag: '"1"' },
      body: { ...rules, version: 1, updated_by: 'user:user-1' },
    })
    expect((await api.get(project, '/policy')).body).toEqual(set.body)
    expect((await api.get(project, '/config')).body.policy).toEqual(set.body)
    expect(await put(project, {}, { 'if-match': '"0"' })).toMatchObject({
      ...{ status: 412, body: { code: 'precondition_failed' } },
    })
    expect(await put(project, {}, { 'if-match': '"1"' })).toMatchObject({
      ...{ status: 200, etag: '"2"', body: { enabled: false, task_names: null } },
    })
    const other = await api.bench.newProject()
    expect((await api.get(other, '/policy')).body).toMatchObject({ version: 0, enabled: false })
  })

  test.each<[object, string]>([
    [{ sample_percent: 101 }, '/sample_percent'],
    [{ sample_percent: -1 }, '/sample_percent'],
    [{ sample_percent: '5' }, '/sample_percent'],
    [{ enabled: 'yes' }, '/enabled'],
    [{ task_names: [] }, '/task_names'],
    [{ task_names: [''] }, '/task_names/0'],
    [{ task_names: ['x'.repeat(257)] }, '/task_names/0'],
    [{ task_names: Array.from({ length: 51 }, () => 'x') }, '/task_names'],
    [{ task_names: ['a\u0000b'] }, '/task_names/0'],
    [{ budget_usd_per_day: 5 }, '/budget_usd_per_day'],
    [{ budget_usd_per_day: '-1' }, '/budget_usd_per_day'],
    [{ budget_usd_per_day: '1e9' }, '/budget_usd_per_day'],
    [{ min_interval: '8d' }, '/min_interval'],
    [{ min_interval: 'soon' }, '/min_interval'],
    [{ verifiers: ['psychic'] }, '/verifiers/0'],
    [{ verifiers: [{ name: 'web', options: { rings: 1 } }] }, '/verifiers/0/options/rings'],
    [{ colour: 'red' }, '/colour'],
  ])('refuses %j', async (body, pointer) => {
    const project = await api.bench.newProject()
    const refused = await put(project, body)
    expect(refused.status).toBe(400)
    expect(refused.body.errors.map((each: { pointer: string }) => each.pointer)).toContain(pointer)
    expect((await api.get(project, '/policy')).body.version).toBe(0)
  })
})

const minute_ms = 60_000

/** Sets a policy, by default five minutes ago. */
async function setPolicy(project_id: string, rules: object, age_ms = 5 * minute_ms) {
  await policyTable.write(api.db, {
    ...{ project_id, policy: policyBody.parse({ enabled: true, ...rules }) },
    ...{ updated_at: new Date(Date.now() - age_ms).toISOString(), updated_by: 'user:user-1' },
  })
}

async function newProject(rules: object = {}, age_ms?: number): Promise<string> {
  const project = await api.bench.newProject()
  await setPolicy(project, rules, age_ms)
  return project
}

/** Returns the start of a run whose last call ended `age_ms` ago, in nanoseconds. */
function startAt(age_ms: number): bigint {
  const run_ms = 2_800
  return BigInt(Date.now() - age_ms - run_ms) * 1_000_000n
}

/** Stores a task whose last call ended `age_ms` ago. */
function bringTask(
  project: string,
  task_id: string,
  { age_ms = minute_ms, ...about }: { age_ms?: number; task_name?: string; name?: string } = {},
): Promise<string> {
  return api.bringRun(project, task_id, { ...about, start_time: startAt(age_ms) })
}

/** A worker’s chore; each has its own memory. */
function newWorker(
  settings: Partial<PolicySettings> = {},
  ahead_ms = 0,
  store: Partial<PolicyDeps['store']> = {},
) {
  const clock = { ahead_ms, now_ms: () => Date.now() + clock.ahead_ms }
  const logger = createLogger({ role: 'test', level: 'silent' })
  const deps = { ...api.deps, clock, logger, store: { ...api.deps.store, ...store } }
  const chore = verifyQuietTasksChore(deps, settings)
  return { clock, pass: () => chore.run(new AbortController().signal) }
}

/** A worker that waits before a read of its store, until it is let on. */
function heldWorker(read: 'taskObservations' | 'traceObservations', task_or_trace: string) {
  const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const wait = async (id: string) => {
    if (id !== task_or_trace) return
    held.resolve()
    await released.promise
  }
  const { store } = api.deps
  const worker = newWorker({}, 0, {
    ...(read === 'taskObservations' && {
      taskObservations: async (project, task, page) => {
        await wait(task)
        return store.taskObservations(project, task, page)
      },
    }),
    ...(read === 'traceObservations' && {
      traceObservations: async (project, page) => {
        await wait(page.trace_id)
        return store.traceObservations(project, page)
      },
    }),
  })
  return { ...worker, held: held.promise, release: released.resolve }
}

async function runsOf(project_id: string) {
  const runs = await api.db
    .selectFrom('verification_runs')
    .select(['id', 'task_id', 'trace_id', 'trigger', 'requested_by', 'state', 'verifiers'])
    .where('project_id', '=', project_id)
    .orderBy('id')
    .execute()
  return runs
}

const tasksOf = async (project: string) =>
  (await runsOf(project)).map(({ task_id }) => task_id).toSorted()

/** Ends a run as a worker does that verified the last answer of the trace. */
async function endRun(project_id: string, run_id: string, cost_nano_dollars = 0) {
  const run = await api.db
    .selectFrom('verification_runs')
    .select(['trace_id'])
    .where('id', '=', run_id)
    .executeTakeFirstOrThrow()
  const { trace_id } = run
  const rows = await api.bench.store.traceObservations(project_id, { trace_id, limit: 10 })
  await api.endRun(run_id, [])
  await api.db
    .updateTable('verification_runs')
    .set({ answer_observation_id: rows.at(-1)?.observation_id ?? '', cost_nano_dollars })
    .where('id', '=', run_id)
    .execute()
}

describe('automatic verification', () => {
  test('verifies the last answer of a quiet task once, with the verifiers of the policy', async () => {
    const project = await newProject({ verifiers: [{ name: 'web', options: { domains_min: 3 } }] })
    const trace_id = await bringTask(project, 'quiet')
    const worker = newWorker()
    await worker.pass()
    const run = { trace_id, task_id: 'quiet', trigger: 'policy', requested_by: 'policy' }
    const verifiers = [{ name: 'web', options: { domains_min: 3 } }]
    expect(await runsOf(project)).toMatchObject([{ ...run, state: 'pending', verifiers }])
    await worker.pass()
    const [first] = await runsOf(project)
    await endRun(project, first?.id ?? '')
    await worker.pass()
    await newWorker().pass()
    expect(await runsOf(project)).toHaveLength(1)
  })

  test('a task is quiet after 20 s, and an ended one at once', async () => {
    const project = await newProject()
    await bringTask(project, 'busy', { age_ms: 5_000 })
    await bringTask(project, 'ended', { age_ms: 5_000 })
    await api.db
      .updateTable('tasks')
      .set({ state: 'completed', ended_at: new Date(Date.now() - 3_000) })
      .where('project_id', '=', project)
      .where('task_id', '=', 'ended')
      .execute()
    const worker = newWorker()
    await worker.pass()
    expect(await tasksOf(project)).toEqual(['ended'])
    worker.clock.ahead_ms = 10_000
    await worker.pass()
    expect(await tasksOf(project)).toEqual(['ended'])
    worker.clock.ahead_ms = 16_000
    await worker.pass()
    expect(await tasksOf(project)).toEqual(['busy', 'ended'])
  })

  test('nothing is verified without a policy, with one that is off, or from before it', async () => {
    const without = await api.bench.newProject()
    const off = await newProject({ enabled: false })
    const later = await newProject({}, 30_000)
    for (const project of [without, off, later]) await bringTask(project, 'old')
    await newWorker().pass()
    for (const project of [without, off, later]) expect(await runsOf(project)).toEqual([])
  })

  test('names of tasks are globs; a hostile one does not stall the worker', async () => {
    const hostile = `${'*a'.repeat(120)}b`
    const project = await newProject({ task_names: ['support ?', 'bill*', hostile] })
    const names = ['support 1', 'support 12', 'billing', 'sales', '', 'a'.repeat(250)]
    for (const [at, task_name] of names.entries()) {
      await bringTask(project, `t${at}`, { task_name })
    }
    const started = performance.now()
    await newWorker().pass()
    expect(performance.now() - started).toBeLessThan(5_000)
    expect(await tasksOf(project)).toEqual(['t0', 't2'])
  })

  test('the sample depends on the id of the task alone, and grows with the share', async () => {
    const ids = Array.from({ length: 16 }, (_, at) => `task ${at}`)
    const sampled = async (sample_percent: number) => {
      const project = await newProject({ sample_percent })
      await api.bringRuns(project, ids, { start_time: startAt(minute_ms) })
      await newWorker().pass()
      return tasksOf(project)
    }
    const [none, some, same, more, all] = [
      await sampled(0),
      await sampled(40),
      await sampled(40),
      await sampled(70),
      await sampled(100),
    ]
    expect([none.length, all.length]).toEqual([0, 16])
    expect(same).toEqual(some)
    expect(some.length).toBeGreaterThan(1)
    expect(some.length).toBeLessThan(more.length)
    expect(more).toEqual(expect.arrayContaining(some))
  })

  test('two workers at once start one run of a task', async () => {
    const project = await newProject()
    await Promise.all(Array.from({ length: 8 }, (_, at) => bringTask(project, `task ${at}`)))
    const workers = Array.from({ length: 4 }, () => newWorker())
    await Promise.all(workers.map(({ pass }) => pass()))
    await Promise.all(workers.map(({ pass }) => pass()))
    expect(await tasksOf(project)).toEqual(Array.from({ length: 8 }, (_, at) => `task ${at}`))
  })

  test('a restart loses no task, and repeats none', async () => {
    const project = await newProject({}, 120 * minute_ms)
    const first = newWorker({ starts_max: 2 })
    for (const at of [0, 1, 2, 3])
      await bringTask(project, `task ${at}`, { age_ms: 50 * minute_ms })
    await first.pass()
    expect(await runsOf(project)).toHaveLength(2)
    await bringTask(project, 'while away', { age_ms: 30 * minute_ms })
    const next = newWorker()
    await next.pass()
    expect(await tasksOf(project)).toEqual(['task 0', 'task 1', 'task 2', 'task 3', 'while away'])
  })

  test('the next pass starts runs that a pass left out', async () => {
    const project = await newProject()
    for (const at of [0, 1, 2]) await bringTask(project, `task ${at}`)
    const worker = newWorker({ starts_max: 1 })
    for (const started of [1, 2, 3, 3]) {
      await worker.pass()
      expect(await runsOf(project)).toHaveLength(started)
    }
  })

  test('another answer is verified, the same one sent again is not', async () => {
    const project = await newProject()
    const trace_id = await bringTask(project, 'talk', { age_ms: 3 * minute_ms })
    const worker = newWorker()
    await worker.pass()
    const [first] = await runsOf(project)
    await endRun(project, first?.id ?? '')
    const rows = await api.bench.store.traceObservations(project, { trace_id, limit: 10 })
    await api.bench.bring(rows)
    for (const one of [worker, newWorker()]) await one.pass()
    expect(await runsOf(project)).toHaveLength(1)
    const other = await bringTask(project, 'talk', { name: `${project} second` })
    await worker.pass()
    const runs = await runsOf(project)
    expect(runs.map((run) => run.trace_id)).toEqual([trace_id, other])
  })

  test('calls that are stored late are found by a sweep', async () => {
    const project = await newProject({}, 120 * minute_ms)
    const worker = newWorker()
    await bringTask(project, 'now')
    await worker.pass()
    await bringTask(project, 'late', { age_ms: 60 * minute_ms })
    await worker.pass()
    expect(await tasksOf(project)).toEqual(['now'])
    worker.clock.ahead_ms = 11 * minute_ms
    await worker.pass()
    expect(await tasksOf(project)).toEqual(['late', 'now'])
  })

  test('a day costs no more than its budget; pending runs count with their greatest cost', async () => {
    const project = await newProject({ verifiers: ['web'], budget_usd_per_day: '10' })
    for (const at of [0, 1, 2, 3]) await bringTask(project, `task ${at}`)
    const worker = newWorker()
    await worker.pass()
    // A run costs at most 5 dollars: 500 claims of one cent.
    expect(await runsOf(project)).toHaveLength(2)
    const again = newWorker()
    await again.pass()
    expect(await runsOf(project)).toHaveLength(2)
    const [first, second] = await runsOf(project)
    await endRun(project, first?.id ?? '', 1_000_000_000)
    await endRun(project, second?.id ?? '', 1_000_000_000)
    await newWorker().pass()
    expect(await runsOf(project)).toHaveLength(3)
    const free = await newProject({ verifiers: ['kb'], budget_usd_per_day: '0' })
    await bringTask(free, 'costs nothing')
    await newWorker().pass()
    expect(await runsOf(free)).toHaveLength(1)
  })

  test('workers at once do not exceed the budget together', async () => {
    const project = await newProject({ verifiers: ['web'], budget_usd_per_day: '10' })
    const ids = Array.from({ length: 6 }, (_, at) => `task ${at}`)
    await api.bringRuns(project, ids, { start_time: startAt(minute_ms) })
    await Promise.all(Array.from({ length: 4 }, () => newWorker().pass()))
    expect(await runsOf(project)).toHaveLength(2)
  })

  test('a worker that is about to start a run does not repeat one that ended meanwhile', async () => {
    const project = await newProject()
    const trace_id = await bringTask(project, 'quiet')
    const slow = heldWorker('traceObservations', trace_id)
    const passed = slow.pass()
    await slow.held
    await newWorker().pass()
    for (const { id } of await runsOf(project)) await endRun(project, id)
    slow.release()
    await passed
    for (const { id } of await runsOf(project)) await endRun(project, id)
    await newWorker().pass()
    expect(await runsOf(project)).toHaveLength(1)
  })

  test('a task that is stored while a worker checked the budget does not exceed it', async () => {
    const project = await newProject({ verifiers: ['web'], budget_usd_per_day: '10' })
    for (const at of [0, 1]) await bringTask(project, `task ${at}`)
    const slow = heldWorker('taskObservations', 'task 1')
    const passed = slow.pass()
    await slow.held
    await bringTask(project, 'stored late', { age_ms: 2 * minute_ms })
    await newWorker().pass()
    slow.release()
    await passed
    await newWorker().pass()
    expect(await runsOf(project)).toHaveLength(2)
  })

  test('tasks without an answer delay no other project, and each is looked at', async () => {
    const looked: string[] = []
    const worker = newWorker({ looks_max: 5 }, 0, {
      taskObservations: (project, task, page) => {
        looked.push(`${project} ${task}`)
        return api.deps.store.taskObservations(project, task, page)
      },
    })
    const [one, two] = [await newProject(), await newProject()]
    const [busy = '', other = ''] = [one, two].toSorted()
    const ids = Array.from({ length: 12 }, (_, at) => `empty ${at}`)
    await api.bench.bring(
      ids.flatMap((task_id) => {
        const about = { project_id: busy, task_id, tools: ['get_invoice'] }
        return agentRun(`${busy} ${task_id}`, { ...about, start_time: startAt(minute_ms) })
          .user('What does the invoice say?')
          .tool({ name: 'get_invoice', args: { id: 7 } }, 'Invoice 7: $40')
          .observations()
          .map((row) => (row.type === 'generation' ? { ...row, status: 'error' as const } : row))
      }),
    )
    await bringTask(other, 'quiet')
    await worker.pass()
    const ofBusy = () => new Set(looked.filter((one) => one.startsWith(busy)))
    expect([ofBusy().size, await tasksOf(other)]).toEqual([5, ['quiet']])
    await worker.pass()
    await worker.pass()
    expect([ofBusy().size, await runsOf(busy)]).toEqual([12, []])
  })

  test('a run that failed or was cancelled is not repeated until the task changes', async () => {
    for (const state of ['failed', 'cancelled'] as const) {
      const project = await newProject()
      await bringTask(project, 'no answer')
      await newWorker().pass()
      await api.db
        .updateTable('verification_runs')
        .set({ state, ended_at: new Date() })
        .where('project_id', '=', project)
        .execute()
      await newWorker().pass()
      expect(await runsOf(project)).toHaveLength(1)
    }
  })

  test('a task is verified no more often than its least interval', async () => {
    const project = await newProject({ min_interval: '10m' })
    await bringTask(project, 'talk', { age_ms: 2 * minute_ms })
    await newWorker().pass()
    const [first] = await runsOf(project)
    await endRun(project, first?.id ?? '')
    await bringTask(project, 'talk', { name: `${project} second` })
    await newWorker().pass()
    expect(await runsOf(project)).toHaveLength(1)
    await newWorker({}, 11 * minute_ms).pass()
    expect(await runsOf(project)).toHaveLength(2)
  })

  test('a project that fails does not stop the others', async () => {
    const [one, other] = [await newProject(), await newProject()]
    const [bad = '', good = ''] = [one, other].toSorted()
    for (const project of [bad, good]) await bringTask(project, 'quiet')
    await api.db
      .updateTable('verification_policies')
      .set({ policy: JSON.stringify({ enabled: true, verifiers: ['gone'] }) })
      .where('project_id', '=', bad)
      .execute()
    const worker = newWorker()
    await worker.pass()
    expect([await runsOf(bad), (await runsOf(good)).length]).toEqual([[], 1])
    await setPolicy(bad, {})
    await worker.pass()
    expect(await runsOf(bad)).toHaveLength(1)
  })
})
