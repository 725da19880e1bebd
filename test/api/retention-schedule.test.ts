import { afterAll, beforeAll, expect, test } from 'vitest'
import { findJobs, type Job } from '../../src/capabilities/jobs/index.ts'
import {
  type ArchiveScheduleOptions,
  archiveScheduleHandler,
  retentionChores,
} from '../../src/capabilities/lifecycle/retention/index.ts'
import { dueArchives } from '../../src/capabilities/lifecycle/retention/schedule/store.ts'
import { sql } from '../../src/platform/relational/index.ts'
import { enqueueTestJob, jobIn, startWorker } from '../support/job-workers.ts'
import {
  dateAgo,
  daysAgo,
  openRetentionApi,
  type RetentionApi,
  retentionNowMs,
} from '../support/retention-api.ts'

const path = '/retention-policy'
let api: RetentionApi
beforeAll(async () => {
  api = await openRetentionApi()
})
afterAll(() => api[Symbol.asyncDispose]())

type TestClock = { now: number; now_ms: () => number }
function clockAt(text: string): TestClock {
  const clock: TestClock = { now: Date.parse(text), now_ms: () => clock.now }
  return clock
}

/** The chore for schedules, of one more worker. */
function scheduleChore(clock: TestClock) {
  const chores = retentionChores({
    ...{ db: api.db, clock, hour: 3, job_runs_days: 90, ledger_days: 400 },
    ledger: { dropMonthsBefore: async () => undefined },
  })
  const chore = chores.find(({ name }) => name === 'scheduled archives')
  if (chore === undefined) throw new Error('there is no such chore')
  return () => chore.run(new AbortController().signal)
}

function jobsOf(project_id: string, kind: string): Promise<Job[]> {
  return findJobs(api.db, { project_id, kind, limit: 100 })
}

/** Times of the schedule's jobs, earliest first. */
async function ticks(project: string): Promise<unknown[]> {
  return (await jobsOf(project, 'archive_schedule'))
    .map(({ params }) => params['due_at'])
    .toReversed()
}

async function scheduled(archive: object, more: object = {}): Promise<string> {
  const project = await api.newProject()
  const put = await api.call('PUT', path, project, {
    body: { days: {}, archive: { after_days: 7, ...archive }, ...more },
  })
  expect(put.status).toBe(200)
  return project
}

/** Runs the job of a schedule at the tests' time, and returns its result. */
async function archiveNow(project: string, more: Partial<ArchiveScheduleOptions> = {}) {
  const clock = { now_ms: () => retentionNowMs }
  const options = { db: api.db, store: api.store, clock, ...more }
  const due_at = new Date(retentionNowMs).toISOString()
  const job = await enqueueTestJob(api.db, {
    ...{ project_id: project, kind: 'archive_schedule', params: { due_at } },
  })
  return (await api.done(job.id, archiveScheduleHandler(options))).result
}

/** The days whose archive was requested, oldest first. */
async function requestedDays(project: string): Promise<unknown[]> {
  const days = (await jobsOf(project, 'archive')).map(({ params }) => String(params['from']))
  return days.map((from) => from.slice(0, 10)).toSorted()
}

const rowsAt = (...agos: number[]) => ({
  observations: agos.map((ago) => ({ observation_id: `o-${ago}`, start_time: daysAgo(ago) })),
})

test('a stored schedule is read back, with its next time', async () => {
  const project = await scheduled({ schedule: '30 2 * * 0' })
  const { body } = await api.call('GET', path, project)
  expect(body).toMatchObject({
    archive: { enabled: true, after_days: 7, schedule: '30 2 * * 0' },
    ...{ next_run_at: '2026-11-22T03:00:00.000Z', next_archive_at: '2026-11-22T02:30:00.000Z' },
  })
  const off = { days: {}, archive: { after_days: 7, enabled: false } }
  expect((await api.call('PUT', path, project, { body: off })).body).toMatchObject({
    archive: { enabled: false, schedule: '0 4 * * *' },
    next_archive_at: null,
  })
  expect((await api.call('PUT', path, project, { body: { days: {} } })).body['archive']).toBeNull()
})

test('each time runs once, with any number of workers; missed times run once', async () => {
  const project = await scheduled({ schedule: '0 4 * * *' })
  const without = await scheduled({ enabled: false })
  // It was set at noon: earlier times are void.
  const clock = clockAt('2026-11-21T23:00:00Z')
  const chores = Array.from({ length: 4 }, () => scheduleChore(clock))
  const all = async () => {
    await Promise.all(chores.map((chore) => chore()))
    const worker = startWorker(api.db, [
      archiveScheduleHandler({ db: api.db, store: api.store, clock }),
    ])
    for (const { id } of await jobsOf(project, 'archive_schedule')) {
      await jobIn(api.db, id, 'succeeded')
    }
    await worker.stop()
  }
  await all()
  expect(await ticks(project)).toEqual([])
  clock.now = Date.parse('2026-11-22T04:00:00Z')
  await all()
  await all()
  expect(await ticks(project)).toEqual(['2026-11-22T04:00:00.000Z'])
  clock.now = Date.parse('2026-11-26T09:00:00Z')
  await all()
  expect(await ticks(project)).toEqual(['2026-11-22T04:00:00.000Z', '2026-11-26T04:00:00.000Z'])
  // A restarted worker repeats none of them.
  await scheduleChore(clock)()
  expect(await ticks(project)).toHaveLength(2)
  expect(await ticks(without)).toEqual([])
})

test('while one is active the next one waits', async () => {
  const project = await scheduled({ schedule: '0 * * * *' })
  const clock = clockAt('2026-11-21T13:00:00Z')
  const chore = scheduleChore(clock)
  await chore()
  clock.now = Date.parse('2026-11-21T14:30:00Z')
  await chore()
  expect(await ticks(project)).toEqual(['2026-11-21T13:00:00.000Z'])
  const [job] = await jobsOf(project, 'archive_schedule')
  await api.done(job?.id ?? '', archiveScheduleHandler({ db: api.db, store: api.store, clock }))
  await chore()
  expect(await ticks(project)).toEqual(['2026-11-21T13:00:00.000Z', '2026-11-21T14:00:00.000Z'])
})

test('a change of another setting keeps missed times, one of the schedule drops them', async () => {
  const project = await scheduled({ schedule: '0 4 * * *' })
  const since = '2026-11-20T12:00:00.000Z'
  await api.db
    .updateTable('retention_policies')
    .set({ archive_since: since })
    .where('project_id', '=', project)
    .execute()
  const chore = scheduleChore(clockAt('2026-11-21T12:00:00Z'))
  const put = (days: object, schedule: string) =>
    api.call('PUT', path, project, { body: { days, archive: { after_days: 7, schedule } } })
  expect((await put({}, '0 5 * * *')).status).toBe(200)
  await chore()
  expect(await ticks(project)).toEqual([])
  await api.db
    .updateTable('retention_policies')
    .set({ archive_since: since })
    .where('project_id', '=', project)
    .execute()
  expect((await put({ observations: 9 }, '0 5 * * *')).status).toBe(200)
  await chore()
  expect(await ticks(project)).toEqual(['2026-11-21T05:00:00.000Z'])
})

test('a schedule that was corrupted in the database stops no other', async () => {
  const [broken, whole] = [await scheduled({}), await scheduled({})]
  const archive = JSON.stringify({ enabled: true, after_days: 7, schedule: 'now and then' })
  const row = api.db.updateTable('retention_policies').set({ archive })
  await row.where('project_id', '=', broken).execute()
  await scheduleChore(clockAt('2026-11-22T04:00:00Z'))()
  expect(await ticks(broken)).toEqual([])
  expect(await ticks(whole)).toEqual(['2026-11-22T04:00:00.000Z'])
  expect((await api.call('GET', path, broken)).body['next_archive_at']).toBeNull()
})

test('only schedules that are due are read, however many projects have one', async () => {
  const projects = 2_000
  await api.newProject()
  await sql`insert into projects (id, organization_id, name)
    select gen_random_uuid(), (select organization_id from projects limit 1), 'scheduled ' || n from generate_series(1, ${projects}::int) as n
  `.execute(api.db)
  await sql`insert into retention_policies (project_id, days, environments, archive_before_delete, archive,
      archive_since, next_run_at, version, updated_at, updated_by)
    select id, '{}', '[]', false, '{"enabled": true, "schedule": "0 4 * * *", "after_days": 7}',
      '2026-11-20', '2027-01-01', 1, now(), 'test' from projects where name like 'scheduled %'
  `.execute(api.db)
  const mine = sql<boolean>`project_id in (select id from projects where name like 'scheduled %')`
  await sql`update retention_policies set archive_due_at = '2027-01-01' where ${mine}`.execute(
    api.db,
  )
  // Only the owner of a table may analyze it.
  await api.db.transaction().execute(async (trx) => {
    await sql`set local role none`.execute(trx)
    await sql`analyze retention_policies`.execute(trx)
  })
  const due = await scheduled({ schedule: '0 4 * * *' })
  const now = new Date('2026-11-22T04:00:00Z')
  const statement = dueArchives(api.db, { now, after: undefined, limit: 500 })
  const plan = JSON.stringify(await statement.explain('json', sql`analyze`))
  const read = [...plan.matchAll(/"Actual Rows":(\d+)/g)].map(([, many]) => Number(many))
  expect(read.length).toBeGreaterThan(1)
  expect(Math.max(...read)).toBeLessThan(50)
  expect(plan).not.toContain('Seq Scan')
  // A change of the schedule makes it due again, whoever writes it.
  const chore = scheduleChore(clockAt('2026-11-22T04:00:00Z'))
  await chore()
  expect(await ticks(due)).toHaveLength(1)
  expect((await statement.execute()).map(({ project_id }) => project_id)).not.toContain(due)
  await sql`update retention_policies set archive = archive || '{"schedule": "0 3 * * *"}'
    where project_id = ${due}`.execute(api.db)
  expect((await statement.execute()).map(({ project_id }) => project_id)).toContain(due)
  await sql`delete from projects where name like 'scheduled %'`.execute(api.db)
})

test('days that are old enough and in no verified archive are archived, oldest first', async () => {
  const project = await scheduled({ after_days: 7 })
  await api.seed(project, {
    ...rowsAt(40, 20, 19, 18, 10, 8, 7, 1, -1),
    events: [{ time: daysAgo(30) }],
  })
  const archive = (ago: number, more: object = {}) => ({
    ...{ from: `${dateAgo(ago)}T00:00:00.000Z`, to: `${dateAgo(ago - 1)}T00:00:00.000Z` },
    ...more,
  })
  const made = async (params: object, result: object | undefined) => {
    const about = { project_id: project, kind: 'archive', params: { ...params } }
    const { id } = await enqueueTestJob(api.db, about)
    const state = result === undefined ? 'running' : 'succeeded'
    await api.db
      .updateTable('job_runs')
      .set({ state, result: JSON.stringify(result ?? null) })
      .where('id', '=', id)
      .execute()
  }
  const verified = { verified: true }
  await made(archive(20), verified)
  await made(archive(19, { kinds: ['observations'] }), verified)
  await made(archive(18, { where: { field: 'source', op: 'eq', value: 'otlp' } }), verified)
  await made(archive(10), undefined)
  const before = await requestedDays(project)
  expect(await archiveNow(project)).toEqual({ archives_requested: 5, is_partial: false })
  const days = await requestedDays(project)
  for (const day of before) days.splice(days.indexOf(day), 1)
  expect(days).toEqual([40, 30, 19, 18, 8].map(dateAgo))
  const [last] = await jobsOf(project, 'archive')
  expect(last?.params).toMatchObject({
    ...{ from: `${dateAgo(8)}T00:00:00.000Z`, to: `${dateAgo(7)}T00:00:00.000Z` },
    reason: expect.stringContaining('older than 7 days'),
  })
  // While these are running nothing is requested twice.
  expect(await archiveNow(project)).toEqual({ archives_requested: 0, is_partial: false })
})

test('one time requests a limited number of days, the next one the others', async () => {
  const project = await scheduled({})
  await api.seed(project, rowsAt(40, 39, 38, 37, 36))
  const first = await archiveNow(project, { days_max: 3 })
  expect(first).toEqual({ archives_requested: 3, is_partial: true })
  expect(await requestedDays(project)).toEqual([40, 39, 38].map(dateAgo))
  expect(await archiveNow(project, { days_max: 3 })).toMatchObject({ archives_requested: 2 })
  expect(await requestedDays(project)).toHaveLength(5)
})

test('a schedule that was switched off in between archives nothing', async () => {
  const project = await scheduled({})
  await api.seed(project, rowsAt(40))
  for (const archive of [null, { after_days: 7, enabled: false }]) {
    await api.call('PUT', path, project, { body: { days: {}, archive } })
    expect(await archiveNow(project)).toMatchObject({ archives_requested: 0 })
  }
})

test('with archive_before_delete a day that the schedule has archived is deleted at once', async () => {
  const days = { days: { observations: 30 }, archive_before_delete: true }
  const project = await scheduled({}, days)
  await api.seed(project, rowsAt(40, 10))
  await archiveNow(project)
  expect((await api.run(project))['result']).toMatchObject({
    deleted_rows: 0,
    archives_requested: 0,
  })
  const stored_before = new Date(Date.now() + 60_000).toISOString()
  const worker = startWorker(api.db, [
    { kind: 'archive', run: async () => ({ verified: true, stored_before }) },
  ])
  for (const { id } of await jobsOf(project, 'archive')) await jobIn(api.db, id, 'succeeded')
  await worker.stop()
  expect((await api.run(project))['result']).toMatchObject({
    deleted_rows: 1,
    archives_requested: 0,
  })
  expect((await api.rows(project))['observations']).toBe(1)
})
