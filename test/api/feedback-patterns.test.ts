import { afterAll, beforeAll, expect, test } from 'vitest'
import { countByFeature } from '../../src/capabilities/feedback/counting/counts-store.ts'
import { refreshRatedTasks } from '../../src/capabilities/feedback/counting/refresh-store.ts'
import { findPatterns } from '../../src/capabilities/feedback/patterns/find-patterns.ts'
import { countFeatures } from '../../src/capabilities/feedback/patterns/rated-task.ts'
import { findStoredPatterns } from '../../src/capabilities/feedback/patterns/stored-patterns.ts'
import { newId } from '../../src/kernel/ids.ts'
import { type InsightApi, type Json, noon_ms, openInsightApi } from '../support/insight-api.ts'
import { simulateTasks } from '../support/simulated-feedback.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'

let api: InsightApi
beforeAll(async () => {
  api = await openInsightApi()
})
afterAll(() => api?.[Symbol.asyncDispose]())

const to = new Date(noon_ms + 3_600_000).toISOString()
const window = { from: new Date(noon_ms - 30 * 86_400_000).toISOString(), to }
const patterns = async (project: string, query = ''): Promise<Json> => {
  const { status, body } = await api.call('GET', `/patterns?to=${to}${query}`, project)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

/** Calm users, and angry users of a tool. */
function angryTool({ angry }: { angry: number }) {
  const calm = Array.from({ length: 40 }, (_, at) => ({
    ...{ task_id: `calm${at}`, user: `u${at}`, tools: ['find'] },
    sentiment: at % 8 === 0 ? ('negative' as const) : ('positive' as const),
  }))
  const rest = Array.from({ length: angry }, (_, at) => ({
    ...{ task_id: `angry ${at}`, user: `angry${at}`, tools: ['refund'] },
    at: new Date(noon_ms - at * 60_000).toISOString(),
  }))
  return [...calm, ...rest]
}

test('viewers and keys that read tasks read it, others do not', async () => {
  const project = await api.newProject()
  const call = async (headers: Record<string, string>) =>
    (await api.call('GET', '/patterns', project, { headers })).status
  expect(await call(tokenOf('viewer', project))).toBe(200)
  expect(await call(keyOf(project, 'tasks:read'))).toBe(200)
  expect(await call(keyOf(project, 'feedback:write'))).toBe(403)
  expect(await call({})).toBe(401)
})

test('the note says that there are too few users', async () => {
  const project = await api.newProject()
  expect(await patterns(project)).toMatchObject({
    ...{ patterns: [], total: 0, tasks: 0, users: 0, tested: 0 },
    note: 'No task of the window has feedback of this source.',
    minimums: { tasks: 3, users: 5, difference: 0.05, q: 0.05 },
  })
  await api.vote(project, [
    { task_id: 'a', user: 'u1' },
    { task_id: 'b', user: 'u2' },
    { task_id: 'c', user: 'u3' },
  ])
  const body = await patterns(project)
  expect(body.note).toBe('Not enough: 3 users have feedback, a pattern needs 5.')
  expect(body).toMatchObject({ tasks: 3, negative: 3, users: 3, clustered_by: 'user' })
})

test('a tool that comes with negative feedback is found, with examples and links', async () => {
  const project = await api.newProject()
  await api.vote(project, angryTool({ angry: 6 }))
  const finding_id = newId()
  await api.db
    .insertInto('findings')
    .values({
      ...{ finding_id, project_id: project, task_id: 'angry 0', kind: 'loop', type: 'repeat_call' },
      ...{ detector: 'repeat_call', detector_version: 1, severity: 'high', state: 'open' },
      ...{ summary: 's', places: '[]', trace_ids: [], wasted_tokens: 0, wasted_cost_usd: '0' },
      ...{ recovered: false, confidence: 1, evidence: '{}', started_at: to },
      ...{ first_detected_at: to, updated_at: to },
    })
    .execute()
  const body = await patterns(project)
  expect(body).toMatchObject({ total: 1, note: null, tasks: 46, users: 46, negative: 11 })
  const [found] = body.patterns
  expect(found).toMatchObject({
    ...{ feature: 'tool:refund', kind: 'tool', value: 'refund', tasks: 6, users: 6, rate: 1 },
    ...{ negative: 6, rate_without: 0.125, since: new Date(noon_ms - 300_000).toISOString() },
  })
  expect(found.q).toBeLessThanOrEqual(0.05)
  expect(found.interval[0]).toBeGreaterThan(0.5)
  expect(found.examples.map((one: Json) => one.task_id)).toEqual(['angry 0', 'angry 1', 'angry 2'])
  expect(found.examples[0]).toMatchObject({
    url: '/api/v1/tasks/angry%200',
    findings: [{ finding_id, type: 'repeat_call', url: '/api/v1/tasks/angry%200/findings' }],
    incidents: [],
  })
})

test('four users are no pattern, and neither are many tasks of one', async () => {
  const project = await api.newProject()
  await api.vote(project, angryTool({ angry: 4 }))
  const body = await patterns(project)
  expect(body.patterns).toEqual([])
  expect(body.note).toBe('No feature of the tasks comes with clearly more negative feedback.')
})

test('labels are features only for other sources than their own', async () => {
  const project = await api.newProject()
  await api.vote(
    project,
    angryTool({ angry: 6 }).map((one) =>
      one.tools.includes('refund') ? { ...one, labels: ['rude'] } : one,
    ),
  )
  const { patterns: found } = await patterns(project)
  expect(found.map((one: Json) => one.feature)).toEqual(['tool:refund'])
})

test('feedback of other sources, projects and windows is excluded', async () => {
  const [project, neighbour] = [await api.newProject(), await api.newProject()]
  await api.vote(neighbour, angryTool({ angry: 6 }))
  expect((await patterns(project)).tasks).toBe(0)
  expect((await patterns(neighbour, '&source=annotator')).tasks).toBe(0)
  const early = `&from=${new Date(noon_ms - 86_400_000).toISOString()}`
  expect((await patterns(neighbour, early)).tasks).toBe(46)
  const late = await api.call('GET', `/patterns?from=${to}&to=2026-12-01T00:00:00Z`, neighbour)
  expect(late.body.tasks).toBe(0)
})

test('counts in SQL are those of the tasks, and groups of users find the same', async () => {
  const project = await api.newProject()
  const simulated = simulateTasks({
    ...{ seed: 11, users: 200, tasks_each: 8, features: 40, planted: 3, effect: 0.3 },
  })
  await api.vote(
    project,
    simulated.map(({ user, is_negative, features }, at) => ({
      ...{ task_id: `t${at}`, user, tools: [...features] },
      sentiment: is_negative ? ('negative' as const) : ('positive' as const),
    })),
  )
  while ((await refreshRatedTasks(api.db, project, 1_000)) > 0);
  const rated = { project_id: project, source: 'end_user' as const, ...window }
  const choice = { of: 'tasks', least: 1, features_max: 1_000 } as const
  const { counted } = await countByFeature(api.db, { ...rated, is_exact: true }, choice)
  const expected = countFeatures(
    simulated.map((task) => ({ ...task, features: task.features.map((one) => `tool:${one}`) })),
  )
  const sorted = (clusters: readonly (readonly [string, number, number])[]) =>
    clusters.toSorted(([one], [other]) => (one < other ? -1 : 1))
  expect(counted.map(({ feature, clusters }) => [feature, sorted(clusters)])).toEqual(
    [{ feature: '', users: expected.users }, ...expected.features]
      .toSorted((one, other) => (one.feature < other.feature ? -1 : 1))
      .map(({ feature, users }) => [
        feature,
        sorted(users.map((one) => [`user:${one.user}`, one.tasks, one.negative])),
      ]),
  )
  const naive = findPatterns(expected).map(({ feature }) => feature)
  const byUser = await findStoredPatterns(api.db, { ...rated, is_exact: true }, 50)
  expect(byUser.patterns.map(({ feature }) => feature)).toEqual(naive)
  const byGroup = await findStoredPatterns(api.db, { ...rated, is_exact: false }, 50)
  expect(byGroup).toMatchObject({ tasks: 1_600, negative: byUser.negative })
  expect(byGroup.patterns.map(({ feature }) => feature).toSorted()).toEqual(
    expect.arrayContaining(['tool:f0', 'tool:f1', 'tool:f2']),
  )
  for (const { feature, tasks, negative, examples } of byGroup.patterns) {
    const same = byUser.patterns.find((one) => one.feature === feature)
    if (same !== undefined) expect([tasks, negative]).toEqual([same.tasks, same.negative])
    expect(examples).toHaveLength(3)
  }
})
