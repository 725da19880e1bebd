import { afterAll, beforeAll, expect, test } from 'vitest'
import { isStale } from '../../src/capabilities/feedback/counting/chores.ts'
import { refreshRatedTasks } from '../../src/capabilities/feedback/counting/refresh-store.ts'
import { countResponses } from '../../src/capabilities/feedback/counting/task-days-store.ts'
import { daysOf } from '../../src/capabilities/feedback/counting/window.ts'
import { countFeedbackChore, countTaskDaysChore } from '../../src/capabilities/feedback/index.ts'
import { type InsightApi, noon_ms, openInsightApi } from '../support/insight-api.ts'

let api: InsightApi
beforeAll(async () => {
  api = await openInsightApi()
})
afterAll(() => api?.[Symbol.asyncDispose]())

const day_ms = 86_400_000
const signal = new AbortController().signal
const ago = (days: number) => new Date(noon_ms - days * day_ms).toISOString()
const sumOf = async (project: string, feature = '') => {
  const { votes, negative } = await api.db
    .selectFrom('rated_task_counts')
    .select(({ fn }) => [
      fn.sum<string>('votes').as('votes'),
      fn.sum<string>('negative_votes').as('negative'),
    ])
    .where('project_id', '=', project)
    .where('feature', '=', feature)
    .executeTakeFirstOrThrow()
  return [Number(votes), Number(negative)]
}

test('the chore counts all projects, each task once', async () => {
  const projects = [await api.newProject(), await api.newProject()]
  for (const project of projects) {
    await api.vote(
      project,
      Array.from({ length: 30 }, (_, at) => ({ task_id: `t${at}`, user: `u${at}` })),
    )
  }
  await countFeedbackChore({ db: api.db }).run(signal)
  await countFeedbackChore({ db: api.db }).run(signal)
  for (const project of projects) expect(await sumOf(project)).toEqual([30, 30])
  const due = await api.db.selectFrom('rated_tasks_due').selectAll().execute()
  expect(due).toEqual([])
})

test('a change that is not committed yet is counted after its commit', async () => {
  const project = await api.newProject()
  await api.vote(project, [{ task_id: 'a', user: 'u1' }])
  await api.db.transaction().execute(async (trx) => {
    await trx
      .updateTable('feedback')
      .set({ sentiment: 'positive' })
      .where('project_id', '=', project)
      .execute()
    // The task is marked by its first vote already; the open change holds the mark.
    expect(await refreshRatedTasks(api.db, project, 100)).toBe(0)
  })
  expect(await refreshRatedTasks(api.db, project, 100)).toBe(1)
  expect(await sumOf(project)).toEqual([1, 0])
})

test('counting never waits for a change of feedback that will wait for its mark', async () => {
  const project = await api.newProject()
  await api.vote(project, [{ task_id: 'a', user: 'u1' }])
  await api.db.transaction().execute(async (trx) => {
    await trx
      .selectFrom('feedback_tasks')
      .select('task_id')
      .where('project_id', '=', project)
      .forUpdate()
      .execute()
    expect(await refreshRatedTasks(api.db, project, 100)).toBe(0)
    await trx
      .updateTable('feedback')
      .set({ sentiment: 'positive' })
      .where('project_id', '=', project)
      .execute()
  })
  expect(await refreshRatedTasks(api.db, project, 100)).toBe(1)
  expect(await sumOf(project)).toEqual([1, 0])
})

test('two processes that count at once count each task once', async () => {
  const project = await api.newProject()
  await api.vote(
    project,
    Array.from({ length: 60 }, (_, at) => ({ task_id: `t${at}`, user: `u${at % 7}` })),
  )
  const counted = await Promise.all(
    Array.from({ length: 6 }, () => refreshRatedTasks(api.db, project, 10)),
  )
  expect(counted).toEqual([10, 10, 10, 10, 10, 10])
  expect(await sumOf(project)).toEqual([60, 60])
})

test('the name of an erased user leaves the counted tasks too', async () => {
  const project = await api.newProject()
  await api.vote(project, [{ task_id: 'a', user: 'ann' }])
  await countFeedbackChore({ db: api.db }).run(signal)
  await api.db
    .updateTable('feedback_tasks')
    .set({ cluster: 'erased:1' })
    .where('project_id', '=', project)
    .execute()
  await countFeedbackChore({ db: api.db }).run(signal)
  const row = await api.db
    .selectFrom('rated_tasks')
    .select('cluster')
    .where('project_id', '=', project)
    .executeTakeFirst()
  expect(row).toEqual({ cluster: 'erased:1' })
  expect(await sumOf(project)).toEqual([1, 1])
})

test('a deleted project leaves nothing that stops the counting', async () => {
  const project = await api.newProject()
  await api.vote(project, [{ task_id: 'a', user: 'u1' }])
  await countFeedbackChore({ db: api.db }).run(signal)
  await api.db.deleteFrom('projects').where('id', '=', project).execute()
  await countFeedbackChore({ db: api.db }).run(signal)
  expect(await api.db.selectFrom('rated_tasks_due').selectAll().execute()).toEqual([])
  expect(await sumOf(project)).toEqual([0, 0])
})

test('tasks of past days are stored, and response rates read them', async () => {
  const project = await api.newProject()
  const started = (days: number) => ({ started_at: ago(days), last_activity_at: ago(days) })
  await api.vote(project, [
    { task_id: 'a', user: 'u1', task: { ...started(3), name: 'refund' } },
    { task_id: 'b', user: 'u2', task: started(0) },
  ])
  await api.seedTask(project, 'c', { ...started(3), name: 'refund' })
  const window = { from: ago(10), to: ago(-1) }
  const read = async () =>
    new Map(
      (await countResponses(api.db, project, window)).map((one) => [
        one.feature,
        [one.tasks, one.rated],
      ]),
    )
  const before = await read()
  expect(before.get('')).toEqual([3, 2])
  expect(before.get('task_name:refund')).toEqual([2, 1])
  await countTaskDaysChore({ db: api.db, clock: { now_ms: () => noon_ms } }).run(signal)
  expect(await read()).toEqual(before)
  await api.db
    .deleteFrom('tasks')
    .where('project_id', '=', project)
    .where('task_id', '=', 'c')
    .execute()
  expect((await read()).get('')).toEqual([3, 2])
  // Today had not ended when it was counted, and has few tasks: each read counts it.
  await api.seedTask(project, 'd', started(0))
  expect((await read()).get('')).toEqual([4, 2])
})

test('a day is counted again after an hour for each day of its age', () => {
  const [hour_ms, day] = [3_600_000, '2026-11-20']
  expect(isStale(day, undefined, noon_ms)).toBe(true)
  expect(isStale(day, noon_ms - 4 * hour_ms + 1, noon_ms)).toBe(false)
  expect(isStale(day, noon_ms - 4 * hour_ms, noon_ms)).toBe(true)
})

test('days of a window: each that it touches', () => {
  const of = (from: string, to: string) => daysOf({ from, to })
  expect(of('2026-11-20T23:00:00Z', '2026-11-21T00:00:00Z')).toEqual(['2026-11-20'])
  expect(of('2026-11-20T23:00:00Z', '2026-11-21T01:00:00Z')).toEqual(['2026-11-20', '2026-11-21'])
})
