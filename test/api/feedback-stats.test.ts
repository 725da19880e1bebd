import { afterAll, beforeAll, expect, test } from 'vitest'
import { type InsightApi, type Json, noon_ms, openInsightApi } from '../support/insight-api.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'

let api: InsightApi
beforeAll(async () => {
  api = await openInsightApi()
})
afterAll(() => api?.[Symbol.asyncDispose]())

const stats = async (project: string, query = ''): Promise<Json> => {
  const { status, body } = await api.call('GET', `/stats${query}`, project)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}
const bySource = (body: Json, source: string) =>
  body.sources.find((one: Json) => one.source === source)
const at = (hours_ago: number) => new Date(noon_ms - hours_ago * 3_600_000).toISOString()

test('viewers and keys that read tasks read it, others do not', async () => {
  const project = await api.newProject()
  const call = async (headers: Record<string, string>) =>
    (await api.call('GET', '/stats', project, { headers })).status
  expect(await call(tokenOf('viewer', project))).toBe(200)
  expect(await call(keyOf(project, 'tasks:read'))).toBe(200)
  expect(await call(keyOf(project, 'feedback:write'))).toBe(403)
  expect(await call({})).toBe(401)
})

test('without feedback every source is there, with empty buckets', async () => {
  const project = await api.newProject()
  const body = await stats(project, '?from=2026-11-20T00:30:00Z&to=2026-11-23T12:00:00Z&unit=day')
  expect(body.window).toEqual({ from: '2026-11-20T00:00:00.000Z', to: '2026-11-23T12:00:00.000Z' })
  expect(body.sources.map((one: Json) => [one.source, one.votes, one.rate])).toEqual([
    ['end_user', 0, null],
    ['annotator', 0, null],
    ['rule', 0, null],
  ])
  expect(bySource(body, 'end_user').series.map((one: Json) => [one.at, one.votes])).toEqual([
    ['2026-11-20T00:00:00.000Z', 0],
    ['2026-11-21T00:00:00.000Z', 0],
    ['2026-11-22T00:00:00.000Z', 0],
    ['2026-11-23T00:00:00.000Z', 0],
  ])
  expect(body).toMatchObject({ pending: 0, dropped: [], uncounted: 0, response: { rate: null } })
})

test('sources are counted separately, and the sample runs of onboarding not at all', async () => {
  const project = await api.newProject()
  await api.vote(project, [
    { task_id: 'a', user: 'u1' },
    { task_id: 'b', user: 'u2', sentiment: 'positive' },
    { task_id: 'c', user: 'u3', sentiment: 'neutral' },
    { task_id: 'd', user: 'u4', source: 'rule' },
    { task_id: 'e', user: 'u5', task: { environment: 'looptrace-onboarding' } },
    { task_id: 'f', user: 'u6', sentiment: null },
  ])
  const body = await stats(project, `?to=${at(-1)}`)
  const user = bySource(body, 'end_user')
  expect(user).toMatchObject({ votes: 3, negative: 1, neutral: 1, positive: 1, clusters: 3 })
  expect(user.rate).toBeCloseTo(1 / 3, 9)
  expect(user.interval[0]).toBeLessThan(1 / 3)
  expect(user.interval[1]).toBeGreaterThan(1 / 3)
  expect(bySource(body, 'rule')).toMatchObject({ votes: 1, negative: 1, interval: null })
  expect(body.groups.environment).toEqual([])
  expect(body.response).toEqual({ tasks: 5, rated: 3, rate: 0.6 })
})

test('groups by tool, model, name and release, each with its response rate', async () => {
  const project = await api.newProject()
  const about = { name: 'refund', release: 'v2', models: ['m1', 'm2'], environment: 'production' }
  await api.vote(project, [
    { task_id: 'a', user: 'u1', tools: ['pay'], task: about },
    { task_id: 'b', user: 'u2', sentiment: 'positive', tools: ['pay', 'find'], task: about },
  ])
  await api.seedTask(project, 'silent', { ...about, models: ['m1'] })
  const { groups } = await stats(project, `?to=${at(-1)}`)
  expect(groups.task_name).toMatchObject([
    { value: 'refund', votes: 2, negative: 1, rate: 0.5, clusters: 2, tasks: 3 },
  ])
  expect(groups.task_name[0].response_rate).toBeCloseTo(2 / 3, 9)
  expect(groups.release[0]).toMatchObject({ value: 'v2', tasks: 3 })
  expect(groups.environment[0]).toMatchObject({ value: 'production', tasks: 3 })
  expect(groups.model.map((one: Json) => [one.value, one.votes, one.tasks])).toEqual([
    ['m1', 2, 3],
    ['m2', 2, 2],
  ])
  expect(groups.tool.map((one: Json) => [one.value, one.votes, one.negative])).toEqual([
    ['pay', 2, 1],
    ['find', 1, 0],
  ])
})

test('votes of one user have a wider interval than independent votes', async () => {
  const project = await api.newProject()
  await api.vote(
    project,
    Array.from({ length: 200 }, (_, task) => ({
      task_id: `t${task}`,
      user: `u${task % 10}`,
      sentiment: task % 10 < 3 ? ('negative' as const) : ('positive' as const),
    })),
  )
  const { rate, interval, clusters } = bySource(await stats(project, `?to=${at(-1)}`), 'end_user')
  expect([rate, clusters]).toEqual([0.3, 10])
  // Clopper and Pearson at 200 votes is 0.237–0.369; at 10 users it is 0.067–0.652.
  expect(interval[0]).toBeLessThan(0.15)
  expect(interval[1]).toBeGreaterThan(0.5)
})

test('an edited vote, a withdrawn one and a late tool change the counts once', async () => {
  const project = await api.newProject()
  const key = (task_id: string) => ({ project_id: project, task_id })
  await api.vote(project, [
    { task_id: 'a', user: 'u1' },
    { task_id: 'b', user: 'u2' },
  ])
  const tools = async () => (await stats(project, `?to=${at(-1)}`)).groups.tool
  expect(await tools()).toEqual([])
  const change = async (task_id: string, set: object) =>
    await api.db
      .updateTable('feedback')
      .set(set)
      .where('project_id', '=', project)
      .where('task_id', '=', task_id)
      .execute()
  await change('a', { sentiment: 'positive' })
  await api.db
    .updateTable('task_detections')
    .set({ tools: ['pay'], revision: 1 })
    .where('project_id', '=', project)
    .where('task_id', 'in', [key('a').task_id, 'b'])
    .execute()
  expect(await tools()).toMatchObject([{ value: 'pay', votes: 2, negative: 1 }])
  await change('b', { state: 'withdrawn', counts: false })
  expect(await tools()).toMatchObject([{ value: 'pay', votes: 1, negative: 0 }])
  expect(await tools()).toMatchObject([{ value: 'pay', votes: 1, negative: 0 }])
  const sums = await api.db
    .selectFrom('rated_task_counts')
    .select(({ fn }) => [fn.sum<number>('votes').as('votes'), fn.sum<number>('tasks').as('tasks')])
    .where('project_id', '=', project)
    .where('feature', '=', '')
    .executeTakeFirstOrThrow()
  expect([Number(sums.votes), Number(sums.tasks)]).toEqual([1, 1])
})

test('counts outlive deleted tasks, as hourly counts do', async () => {
  const project = await api.newProject()
  await api.vote(project, [
    { task_id: 'a', user: 'u1', tools: ['pay'] },
    { task_id: 'b', user: 'u2', tools: ['pay'] },
  ])
  await stats(project)
  await api.db
    .deleteFrom('feedback_tasks')
    .where('project_id', '=', project)
    .where('task_id', '=', 'a')
    .execute()
  expect((await stats(project)).uncounted).toBe(0)
  const rows = await api.db
    .selectFrom('rated_tasks')
    .select('task_id')
    .where('project_id', '=', project)
    .execute()
  expect(rows).toEqual([{ task_id: 'b' }])
  const sum = await api.db
    .selectFrom('rated_task_counts')
    .select(({ fn }) => fn.sum<number>('tasks').as('tasks'))
    .where('project_id', '=', project)
    .where('feature', '=', 'tool:pay')
    .executeTakeFirstOrThrow()
  expect(Number(sum.tasks)).toBe(2)
})

test('pending and dropped items are reported', async () => {
  const project = await api.newProject()
  await api.vote(project, [{ task_id: 'a', user: 'u1' }])
  await api.db
    .updateTable('feedback')
    .set({ state: 'pending', counts: false })
    .where('project_id', '=', project)
    .execute()
  await api.db
    .insertInto('feedback_drops')
    .values({ project_id: project, hour: at(2), reason: 'task_not_seen', items: 4 })
    .execute()
  const body = await stats(project)
  expect(body.pending).toBe(1)
  expect(body.dropped).toEqual([{ reason: 'task_not_seen', items: 4 }])
})

test('wrong windows, units and limits are refused', async () => {
  const project = await api.newProject()
  for (const query of [
    'from=2026-11-23T00:00:00Z&to=2026-11-23T00:00:00Z',
    'from=2026-08-01T00:00:00Z&to=2026-11-01T00:00:00Z',
    'from=2026-11-01T00:00:00Z&unit=hour',
    'unit=week',
    'source=nobody',
    'groups_max=0',
    'other=1',
  ]) {
    const { status, body } = await api.call('GET', `/stats?${query}`, project)
    expect([query, status, body.code]).toEqual([query, 400, 'invalid_request'])
  }
})

test('feedback of another project is excluded', async () => {
  const [project, neighbour] = [await api.newProject(), await api.newProject()]
  await api.vote(neighbour, [{ task_id: 'a', user: 'u1', tools: ['pay'] }])
  await stats(neighbour)
  const body = await stats(project)
  expect(bySource(body, 'end_user').votes).toBe(0)
  expect(body.groups.tool).toEqual([])
  expect(body.response.tasks).toBe(0)
  const mixed = await api.call('GET', `/stats?project_id=${neighbour}`, project, {
    headers: keyOf(project, 'tasks:read'),
  })
  expect(mixed.status === 200 ? bySource(mixed.body, 'end_user').votes : 0).toBe(0)
})
