import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type RetentionChoresOptions,
  retentionChores,
} from '../../src/capabilities/lifecycle/retention/index.ts'
import { sql } from '../../src/platform/relational/index.ts'
import { enqueueTestJob } from '../support/job-workers.ts'
import { daysAgo, openRetentionApi, type RetentionApi } from '../support/retention-api.ts'

const path = '/retention-policy'
const body = { days: { observations: 30 } }
let api: RetentionApi
beforeAll(async () => {
  api = await openRetentionApi()
})
afterAll(() => api[Symbol.asyncDispose]())

type TestClock = RetentionChoresOptions['clock'] & { at: (text: string) => TestClock }

/** A manual clock. */
function clockAt(text: string): TestClock {
  let now_ms = Date.parse(text)
  const clock: TestClock = {
    now_ms: () => now_ms,
    at: (later) => {
      now_ms = Date.parse(later)
      return clock
    },
  }
  return clock
}

/** The chore of a worker that has just started. */
function workerAt(clock: TestClock, hour = 3) {
  const [chore] = retentionChores({
    ...{ db: api.db, clock, hour, job_runs_days: 90, ledger_days: 400 },
    ledger: { dropMonthsBefore: async () => undefined },
  })
  if (chore === undefined) throw new Error('there is no chore')
  return () => chore.run(new AbortController().signal)
}

/** A project whose policy was set at noon of 2026-11-21, by the API's clock. */
async function projectWithPolicy(): Promise<string> {
  const project = await api.newProject()
  const { body: set } = await api.call('PUT', path, project, { body })
  expect(set).toMatchObject({ next_run_at: '2026-11-22T03:00:00.000Z' })
  return project
}

const nextRun = async (project: string) =>
  (await api.call('GET', path, project)).body['next_run_at']

/** The runs of a project, oldest first. */
async function runsOf(project: string): Promise<Record<string, unknown>[]> {
  const { body: list } = await api.call('GET', '/retention/runs', project)
  return (list['runs'] as Record<string, unknown>[]).toReversed()
}

async function endRuns(project: string): Promise<void> {
  for (const { job_id, state } of await runsOf(project)) {
    if (state === 'queued') await api.done(String(job_id))
  }
}

test('a policy that is set today runs at its time, also if the worker starts before', async () => {
  const [project, without] = [await projectWithPolicy(), await api.newProject()]
  const clock = clockAt('2026-11-21T12:01:00Z')
  await workerAt(clock)()
  await workerAt(clock.at('2026-11-22T02:59:59Z'))()
  expect(await runsOf(project)).toEqual([])
  await workerAt(clock.at('2026-11-22T03:00:00Z'))()
  expect(await runsOf(project)).toMatchObject([
    { requested_by: 'schedule', scheduled_for: '2026-11-22T03:00:00.000Z', is_late: false },
  ])
  expect(await nextRun(project)).toBe('2026-11-23T03:00:00.000Z')
  expect(await runsOf(without)).toEqual([])
  expect(await nextRun(without)).toBeNull()
})

test('a time has one run, however many workers there are, and whenever they start', async () => {
  const project = await projectWithPolicy()
  const clock = clockAt('2026-11-22T03:00:00Z')
  const workers = Array.from({ length: 4 }, () => workerAt(clock))
  await Promise.all(workers.map((work) => work()))
  await Promise.all(workers.map((work) => work()))
  await workerAt(clock.at('2026-11-22T09:00:00Z'))()
  expect(await runsOf(project)).toHaveLength(1)
  await endRuns(project)
  clock.at('2026-11-22T10:00:00Z')
  await Promise.all([...workers, workerAt(clock)].map((work) => work()))
  expect(await runsOf(project)).toHaveLength(1)
})

test('after a worker died that requested the run, no second one is requested', async () => {
  const project = await projectWithPolicy()
  const clock = clockAt('2026-11-22T03:00:00Z')
  await workerAt(clock)()
  await endRuns(project)
  const undo = { next_run_at: '2026-11-22T03:00:00.000Z' }
  await api.db
    .updateTable('retention_policies')
    .set(undo)
    .where('project_id', '=', project)
    .execute()
  await workerAt(clock)()
  expect(await runsOf(project)).toHaveLength(1)
  expect(await nextRun(project)).toBe('2026-11-23T03:00:00.000Z')
})

test('missed times get one late run, which reports it', async () => {
  const project = await projectWithPolicy()
  const clock = clockAt('2026-11-24T10:00:00Z')
  expect(await nextRun(project)).toBe('2026-11-22T03:00:00.000Z')
  await workerAt(clock)()
  await endRuns(project)
  await workerAt(clock)()
  expect(await runsOf(project)).toMatchObject([
    { scheduled_for: '2026-11-22T03:00:00.000Z', is_late: true },
  ])
  expect(await nextRun(project)).toBe('2026-11-25T03:00:00.000Z')
  await workerAt(clock.at('2026-11-25T03:00:30Z'))()
  expect(await runsOf(project)).toMatchObject([
    { is_late: true },
    { scheduled_for: '2026-11-25T03:00:00.000Z', is_late: false },
  ])
})

test('while a run is active the next one waits', async () => {
  const project = await projectWithPolicy()
  const asked = await api.call('POST', '/retention/run', project)
  expect(asked.body).toMatchObject({ scheduled_for: null, is_late: false })
  const clock = clockAt('2026-11-22T03:00:00Z')
  const work = workerAt(clock)
  await work()
  expect(await runsOf(project)).toHaveLength(1)
  expect(await nextRun(project)).toBe('2026-11-22T03:00:00.000Z')
  await endRuns(project)
  clock.at('2026-11-22T03:02:00Z')
  await work()
  expect(await runsOf(project)).toMatchObject([
    { job_id: asked.body['job_id'] },
    { scheduled_for: '2026-11-22T03:00:00.000Z', is_late: false },
  ])
})

test('a changed policy sets its time again, and earlier times are void', async () => {
  const project = await projectWithPolicy()
  const missed = { next_run_at: '2026-11-20T03:00:00.000Z' }
  await api.db
    .updateTable('retention_policies')
    .set(missed)
    .where('project_id', '=', project)
    .execute()
  expect((await api.call('PUT', path, project, { body })).body['next_run_at']).toBe(
    '2026-11-22T03:00:00.000Z',
  )
  await workerAt(clockAt('2026-11-21T12:30:00Z'))()
  expect(await runsOf(project)).toEqual([])
})

test('another hour applies from the next time on', async () => {
  const project = await projectWithPolicy()
  const clock = clockAt('2026-11-22T02:00:00Z')
  await workerAt(clock, 1)()
  expect(await runsOf(project)).toEqual([])
  await workerAt(clock.at('2026-11-22T03:00:00Z'), 1)()
  expect(await runsOf(project)).toHaveLength(1)
  expect(await nextRun(project)).toBe('2026-11-23T01:00:00.000Z')
})

test('a policy of an earlier version, without a stored time, continues by the hour', async () => {
  const [old, young, done] = [
    await projectWithPolicy(),
    await projectWithPolicy(),
    await projectWithPolicy(),
  ]
  const updated = (project: string, updated_at: string) =>
    api.db
      .updateTable('retention_policies')
      .set({ next_run_at: null, updated_at })
      .where('project_id', '=', project)
      .execute()
  await updated(old, '2026-11-20T12:00:00.000Z')
  await updated(young, '2026-11-21T12:00:00.000Z')
  await updated(done, '2026-11-20T12:00:00.000Z')
  // The earlier version's name for the run of a day.
  const { id } = await enqueueTestJob(api.db, {
    ...{ project_id: done, kind: 'retention', once_key: 'retention 2026-11-21' },
  })
  await api.done(id)
  await workerAt(clockAt('2026-11-21T12:01:00Z'))()
  expect(await runsOf(old)).toMatchObject([{ scheduled_for: '2026-11-21T03:00:00.000Z' }])
  expect(await runsOf(young)).toEqual([])
  expect(await runsOf(done)).toMatchObject([{ job_id: id }])
  for (const project of [old, young, done]) {
    expect(await nextRun(project)).toBe('2026-11-22T03:00:00.000Z')
  }
})

test('retention goes on in an archived project', async () => {
  const project = await projectWithPolicy()
  const old = { observation_id: 'old', start_time: daysAgo(31) }
  const young = { observation_id: 'young', start_time: daysAgo(1) }
  await api.seed(project, { observations: [old, young] })
  await sql`update projects set archived_at = now() where id = ${project}`.execute(api.db)
  await workerAt(clockAt('2026-11-22T03:00:00Z'))()
  const [run, ...more] = await runsOf(project)
  expect(more).toEqual([])
  await api.done(String(run?.['job_id']))
  expect(await runsOf(project)).toMatchObject([{ state: 'succeeded' }])
  expect(await api.rows(project)).toMatchObject({ observations: 1 })
})
