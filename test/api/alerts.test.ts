import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { type IncidentApi, type Json, openIncidentApi } from '../support/incident-api.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'

let api: IncidentApi
let project: string
let neighbour: string
beforeAll(async () => {
  api = await openIncidentApi()
})
beforeAll(async () => {
  project = await api.newProject()
  neighbour = await api.newProject()
})
afterAll(() => api?.[Symbol.asyncDispose]())

/** The clock of the routes is at noon of 2026-11-23. */
const hour = (at: number) => new Date(Date.UTC(2026, 10, 23, at)).toISOString()
const minutes = (count: number) => count * 60_000
const get = async (path: string, project_id = project): Promise<Json> => {
  const headers = tokenOf('viewer', project_id)
  const reply = await api.call('GET', `/api/v1/alerts/${path}`, project_id, { headers })
  return reply.body
}
const paths = ['rules', 'summary', 'high-risk', 'stats']

test.each(paths)(
  '%s: people who view the project and keys with `incidents:read` read it, others do not',
  async (path) => {
    const call = (headers: Record<string, string>) =>
      api.call('GET', `/api/v1/alerts/${path}`, project, { headers })
    expect((await call(tokenOf('viewer', project))).status).toBe(200)
    expect((await call(keyOf(project, 'incidents:read'))).status).toBe(200)
    expect((await call(keyOf(project, 'tasks:read'))).status).toBe(403)
    expect((await call({})).status).toBe(401)
  },
)

test.each(['summary', 'high-risk', 'stats'])('%s: refuses wrong windows', async (path) => {
  const windows = [
    `from=${hour(3)}&to=${hour(3)}`,
    `from=2026-08-01T00:00:00Z&to=2026-11-01T00:00:00Z`,
    'from=yesterday',
  ]
  for (const window of windows) {
    expect((await get(`${path}?${window}`)).code).toBe('invalid_request')
  }
  const wide = await get(`${path}?from=2026-08-01T00:00:00Z&to=2026-10-30T00:00:00Z`)
  expect(wide.window.from).toBe('2026-08-01T00:00:00.000Z')
})

test('rules: those in effect, with their state', async () => {
  const mine = await api.newProject()
  const condition = { signal: 'ttft_p95', window: '10m', threshold: 4000 }
  const event = { match: { source: 'finding', kinds: ['loop'] } }
  const bodies = {
    waiting: { condition },
    ok: { condition },
    unhealthy: { condition },
    firing: { condition, runbook_url: 'https://example.com/slow' },
    quick: { event },
    off: { condition, suspend: true },
  }
  const ids: Record<string, string> = {}
  for (const [name, body] of Object.entries(bodies)) {
    const reply = await api.call('POST', '/rules', mine, {
      body: { name, severity: 'high', ...body },
    })
    ids[name] = reply.body.rule_id
  }
  const evaluated = (name: string, failures: number) => ({
    ...{ rule_id: ids[name] ?? '', project_id: mine, failures, last_slot: hour(11) },
  })
  await api.db
    .insertInto('rule_evaluations')
    .values([evaluated('ok', 0), evaluated('unhealthy', 1), evaluated('firing', 0)])
    .execute()
  await api.db
    .insertInto('rule_states')
    .values({
      ...{ rule_id: ids['firing'] ?? '', project_id: mine, group_key: '{}' },
      ...{ state: '{}', firing: true },
    })
    .execute()
  await api.insertIncident(mine, { core: { rules: ['firing'] } })
  const { rules, total } = await get('rules', mine)
  expect(total).toBe(5)
  expect(rules.map((rule: Json) => [rule.name, rule.state, rule.signal])).toEqual([
    ['quick', 'ok', 'finding'],
    ['firing', 'firing', 'ttft_p95'],
    ['unhealthy', 'unhealthy', 'ttft_p95'],
    ['ok', 'ok', 'ttft_p95'],
    ['waiting', 'waiting', 'ttft_p95'],
  ])
  expect(rules[1]).toMatchObject({ open_incidents: 1, runbook_url: 'https://example.com/slow' })
})

test('summary: unresolved now, and new and resolved in the window', async () => {
  const mine = await api.newProject()
  const early = { opened_at: '2026-11-20T00:00:00.000Z' }
  await api.insertIncident(mine, { ...early, severity: 'critical', suppressed: true })
  await api.insertIncident(mine, { state: 'acknowledged', signal: 'cost', flapping: true })
  await api.insertIncident(mine, { ...early, state: 'resolved', resolved_at: hour(3) })
  await api.insertIncident(mine, { ...early, state: 'resolved', resolved_at: early.opened_at })
  await api.insertIncident(mine, { shadow: true })
  await api.insertIncident(neighbour, { severity: 'critical' })
  expect(await get('summary', mine)).toEqual({
    ...{ open: 2, acknowledged: 1, suppressed: 1, flapping: 1, new: 1, resolved: 1 },
    by_severity: { info: 0, low: 0, medium: 0, high: 1, critical: 1 },
    by_signal: expect.arrayContaining([
      { signal: 'cost', open: 1 },
      { signal: 'ttft_p95', open: 1 },
    ]),
    window: { from: hour(-12), to: hour(12) },
  })
})

test('stats: times by nearest rank, flapping and noise', async () => {
  const mine = await api.newProject()
  expect(await get('stats', mine)).toMatchObject({
    ...{ opened: 0, flapping: 0, noise: { resolved: 0, without_move: 0, share: null } },
    time_to_resolve: { incidents: 0, median_ms: null, p90_ms: null },
  })
  const opened_ms = Date.parse(hour(2))
  const at = (after_ms: number) => new Date(opened_ms + after_ms).toISOString()
  for (let count = 1; count <= 10; count += 1) {
    await api.insertIncident(mine, {
      ...{ opened_at: hour(2), state: 'resolved', resolved_at: at(minutes(count)) },
      ...{ moved: count > 7, flapping: count === 1 },
      ...(count > 7 && { first_acknowledged_at: at(count) }),
    })
  }
  const flapped = await api.insertIncident(mine, { opened_at: hour(3) })
  await api.db
    .insertInto('incident_events')
    .values({
      ...{ incident_id: flapped, seq: 1, project_id: mine, type: 'flapping', at: hour(3) },
      ...{ recorded_at: hour(3), actor_type: 'rule', actor_id: 'r' },
    })
    .execute()
  await api.insertIncident(mine, { opened_at: hour(3), shadow: true })
  await api.insertIncident(neighbour, { opened_at: hour(3) })
  // Opened a minute after its slot: people could not acknowledge earlier.
  const late = await api.insertIncident(mine, {
    ...{ opened_at: hour(2), state: 'acknowledged', first_acknowledged_at: at(74_000) },
  })
  await api.db
    .insertInto('incident_events')
    .values({
      ...{ incident_id: late, seq: 1, project_id: mine, type: 'opened', at: hour(2) },
      ...{ recorded_at: at(60_000), actor_type: 'rule', actor_id: 'r' },
    })
    .execute()
  expect(await get('stats', mine)).toEqual({
    window: { from: hour(-12), to: hour(12) },
    opened: 12,
    time_to_acknowledge: { incidents: 4, median_ms: 9, p90_ms: 14_000 },
    time_to_resolve: { incidents: 10, median_ms: minutes(5), p90_ms: minutes(9) },
    flapping: 2,
    noise: { resolved: 10, without_move: 7, share: 0.7 },
  })
})

describe('high-risk', () => {
  async function task(task_id: string, given: object = {}, project_id = project) {
    const times = { started_at: hour(10), last_activity_at: hour(11) }
    await api.db
      .insertInto('tasks')
      .values({ project_id, task_id, name: task_id, implicit: false, calls: 4, ...times, ...given })
      .execute()
  }
  async function finding(task_id: string, given: object = {}, project_id = project) {
    await api.db
      .insertInto('findings')
      .values({
        ...{ finding_id: newId(), project_id, task_id, kind: 'loop', type: 'repeat_call' },
        ...{ detector: 'repeat_call', detector_version: 1, severity: 'high', state: 'open' },
        ...{ places: '[]', trace_ids: [], wasted_tokens: 0, wasted_cost_usd: '0' },
        ...{ confidence: 1, recovered: false, evidence: '{}', summary: `of ${task_id}` },
        ...{ started_at: hour(10), first_detected_at: hour(10), updated_at: hour(10), ...given },
      } as never)
      .execute()
  }
  beforeAll(async () => {
    await task('healthy')
    await task('errors', { errors: 1 })
    await task('t/failed & looped', { state: 'failed', worst_severity: 4 })
    await finding('t/failed & looped')
    for (let count = 0; count < 7; count += 1) {
      await finding('t/failed & looped', { severity: 'low', confidence: 0.5 })
    }
    await task('recovered', { worst_severity: 4 })
    await finding('recovered', { state: 'recovered' })
    await task('withdrawn', { errors: 2, worst_severity: 0 })
    await finding('withdrawn', { severity: 'critical', state: 'withdrawn' })
    await task('old', { state: 'failed', last_activity_at: '2026-11-01T00:00:00.000Z' })
    await task('recovered', { state: 'failed', worst_severity: 5 }, neighbour)
    await finding('recovered', { severity: 'critical' }, neighbour)
  })

  test('tasks are sorted by their risk, with the share of each factor', async () => {
    const body = await get('high-risk')
    expect(body.tasks.map((one: Json) => one.task_id)).toEqual([
      ...['t/failed & looped', 'withdrawn', 'recovered', 'errors'],
    ])
    expect([body.total, body.unknown_factors]).toEqual([4, ['trust', 'feedback']])
    const risks = body.tasks.map((one: Json) => one.risk)
    expect(risks).toEqual(risks.toSorted((one: number, other: number) => other - one))
    const [worst, withdrawn] = body.tasks
    expect(worst.factors.map((one: Json) => [one.factor, one.share === null])).toEqual([
      ['findings', false],
      ['failures', false],
      ['trust', true],
      ['feedback', true],
    ])
    expect(worst.factors[0].share + worst.factors[1].share).toBeCloseTo(1, 9)
    expect([worst.findings.length, worst.findings_total]).toEqual([5, 8])
    expect(worst.findings[0].severity).toBe('high')
    expect(worst.links.findings).toBe('/api/v1/tasks/t%2Ffailed%20%26%20looped/findings')
    expect([withdrawn.findings, withdrawn.factors[0].share]).toEqual([[], 0])
  })

  test('tasks name the incidents with evidence of them', async () => {
    const evidence = JSON.stringify([
      { kind: 'finding', task_id: 'errors', at: hour(11) },
      { kind: 'task', task_id: 'errors', at: hour(11) },
    ])
    const incident_id = await api.insertIncident(project, { evidence })
    await api.insertIncident(neighbour, { evidence })
    const { tasks } = await get('high-risk')
    const one = tasks.find(({ task_id }: Json) => task_id === 'errors')
    expect(one.incidents).toEqual([{ incident_id, number: expect.any(Number), state: 'open' }])
  })

  test('trust counts where it is known, and low trust alone is a risk', async () => {
    const mine = await api.newProject()
    await task('trusted', { trust_score: 1, errors: 1 }, mine)
    await task('unknown', { errors: 1 }, mine)
    await task('doubtful', { trust_score: 0.2 }, mine)
    await task('fine', { trust_score: 0.5 }, mine)
    const body = await get('high-risk', mine)
    expect(body.tasks.map(({ task_id }: Json) => task_id)).toEqual([
      ...['doubtful', 'unknown', 'trusted'],
    ])
    const risks = body.tasks.map(({ risk }: Json) => risk)
    expect(risks).toEqual(risks.toSorted((one: number, other: number) => other - one))
    expect(body.tasks[0].factors[2]).toMatchObject({ factor: 'trust', value: 0.8, share: 1 })
    expect(body.unknown_factors).toEqual(['feedback'])
  })

  test('negative votes of end users count where there are votes, and are a risk alone', async () => {
    const mine = await api.newProject()
    await task('disliked', {}, mine)
    await task('liked', { errors: 4 }, mine)
    await task('unrated', { errors: 4 }, mine)
    const rated = { project_id: mine, first_at: hour(11), last_at: hour(11), created_at: hour(11) }
    await api.db
      .insertInto('feedback_tasks')
      .values([
        { ...rated, task_id: 'disliked', task_ref: 'disliked', negative: 2 },
        { ...rated, task_id: 'liked', task_ref: 'liked', positive: 1 },
      ])
      .execute()
    const body = await get('high-risk', mine)
    expect(body.tasks.map(({ task_id }: Json) => task_id)).toEqual(['unrated', 'liked', 'disliked'])
    const [unrated, liked, disliked] = body.tasks
    expect(disliked.factors[3]).toMatchObject({ factor: 'feedback', value: 1, share: 1 })
    expect(liked.factors[3]).toMatchObject({ value: 0 })
    expect(unrated.factors[3]).toMatchObject({ value: null })
    expect(body.unknown_factors).toEqual(['trust'])
    expect((await get('high-risk', neighbour)).unknown_factors).toContain('feedback')
  })

  test('a looping agent stands above a failed call, and an incident above both', async () => {
    const mine = await api.newProject()
    await task('call', { calls: 1, errors: 1, state: 'failed' }, mine)
    await finding('call', { kind: 'failure', type: 'model_error', severity: 'low' }, mine)
    await task('loop', { calls: 30, worst_severity: 4 }, mine)
    await finding('loop', { severity: 'high', confidence: 0.9 }, mine)
    await task('costly', { name: 'nightly' }, mine)
    await task('other', {}, mine)
    const evidence = JSON.stringify([{ kind: 'task', task_id: 'costly', at: hour(11) }])
    await api.insertIncident(mine, { evidence, severity: 'low' })
    const { tasks } = await get('high-risk', mine)
    expect(tasks.map(({ task_id }: Json) => task_id)).toEqual(['costly', 'loop', 'call'])
    expect(tasks[1].risk).toBeLessThan(tasks[2].risk)
  })

  test('an incident of a task name is one of its tasks', async () => {
    const mine = await api.newProject()
    await task('t1', { name: 'billing', errors: 1 }, mine)
    await task('t2', { name: 'other', errors: 4 }, mine)
    await api.insertIncident(mine, { group_values: JSON.stringify({ task_name: 'billing' }) })
    const { tasks } = await get('high-risk', mine)
    expect(tasks.map(({ task_id }: Json) => task_id)).toEqual(['t1', 't2'])
  })

  test('equal rows of a task name are one row, and pages have each row once', async () => {
    const mine = await api.newProject()
    for (let at = 0; at < 7; at += 1) {
      for (const name of ['a', 'b', 'c', 'd']) {
        const last_activity_at = new Date(Date.parse(hour(11)) - at * 1000).toISOString()
        await task(`${name}-${at}`, { name, errors: 1, last_activity_at }, mine)
      }
    }
    await task('a-failed', { name: 'a', state: 'failed' }, mine)
    await task('a-looped', { name: 'a', worst_severity: 3 }, mine)
    await finding('a-looped', { severity: 'medium' }, mine)
    for (const task_id of ['x', 'y']) await task(task_id, { name: '', errors: 1 }, mine)
    const all = await get('high-risk', mine)
    expect([all.total, all.next_cursor]).toEqual([8, null])
    expect(all.tasks.map((one: Json) => [one.task_id, one.similar_tasks])).toEqual([
      ['a-looped', 1],
      ['a-failed', 1],
      ...['a', 'b', 'c', 'd'].map((name) => [`${name}-0`, 7]),
      ['x', 1],
      ['y', 1],
    ])
    const seen: string[] = []
    let path = 'high-risk?limit=3'
    for (let page = 0; page < 5; page += 1) {
      const { tasks, total, next_cursor } = await get(path, mine)
      expect(total).toBe(8)
      seen.push(...tasks.map(({ task_id }: Json) => task_id))
      if (next_cursor === null) break
      path = `high-risk?limit=3&cursor=${next_cursor}`
    }
    expect(seen).toEqual(all.tasks.map(({ task_id }: Json) => task_id))
    expect((await get('high-risk?cursor=abc', mine)).code).toBe('invalid_cursor')
  })

  test('the number of tasks is limited, and the neighbour sees its own', async () => {
    const first = await get('high-risk?limit=1')
    expect([first.tasks.length, first.total]).toEqual([1, 4])
    const other = await get('high-risk', neighbour)
    expect(other.tasks.map((one: Json) => [one.task_id, one.findings_total])).toEqual([
      ['recovered', 1],
    ])
    expect((await get('high-risk?limit=101')).code).toBe('invalid_request')
    expect((await get('high-risk', await api.newProject())).tasks).toEqual([])
  })
})
