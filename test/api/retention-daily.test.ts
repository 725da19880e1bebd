import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type RetentionChoresOptions,
  retentionChores,
} from '../../src/capabilities/observability/retention/index.ts'
import { jobIn, startWorker } from '../support/job-workers.ts'
import { openRetentionApi, type RetentionApi } from '../support/retention-api.ts'

let api: RetentionApi
beforeAll(async () => {
  api = await openRetentionApi()
})
afterAll(() => api[Symbol.asyncDispose]())

/** The chore that enqueues the runs of a day, of one more worker. */
function dailyChore(clock: RetentionChoresOptions['clock']) {
  const [chore] = retentionChores({
    ...{ db: api.db, clock, hour: 3, job_runs_days: 90, ledger_days: 400 },
    ledger: { dropMonthsBefore: async () => undefined },
  })
  if (chore === undefined) throw new Error('there is no chore')
  return () => chore.run(new AbortController().signal)
}

const runsOf = (project: string) =>
  api.db
    .selectFrom('job_runs')
    .select(['id', 'once_key', 'requested_by'])
    .where('project_id', '=', project)
    .orderBy('once_key')
    .execute()

test('each project with a policy has one run a day, however many workers come', async () => {
  const [project, without] = [await api.newProject(), await api.newProject()]
  await api.call('PUT', '/retention-policy', project, { body: { days: { observations: 30 } } })
  const clock = { now: Date.parse('2026-11-21T03:00:00Z'), now_ms: () => clock.now }
  const chores = Array.from({ length: 4 }, () => dailyChore(clock))
  const all = () => Promise.all(chores.map((chore) => chore()))
  await all()
  await all()
  expect(await runsOf(project)).toMatchObject([
    { once_key: 'retention 2026-11-21', requested_by: 'schedule' },
  ])
  expect(await runsOf(without)).toEqual([])

  // The day begins at the hour that is set; while a run is under way the next one waits.
  clock.now = Date.parse('2026-11-22T02:59:59Z')
  await all()
  expect(await runsOf(project)).toHaveLength(1)
  clock.now = Date.parse('2026-11-22T03:00:00Z')
  await all()
  expect(await runsOf(project)).toHaveLength(1)
  const worker = startWorker(api.db, [api.handler()], { clock })
  const [first] = await runsOf(project)
  await jobIn(api.db, first?.id ?? '', 'succeeded')
  await worker.stop()
  await all()
  expect((await runsOf(project)).map(({ once_key }) => once_key)).toEqual([
    'retention 2026-11-21',
    'retention 2026-11-22',
  ])
})
