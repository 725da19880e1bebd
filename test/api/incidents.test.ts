import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { type IncidentApi, type Json, openIncidentApi } from '../support/incident-api.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'

let api: IncidentApi
let project: string
beforeAll(async () => {
  api = await openIncidentApi()
})
beforeAll(async () => {
  project = await api.newProject()
})
afterAll(() => api?.[Symbol.asyncDispose]())

const codeOf = ({ status, body }: { status: number; body: Json }) => [status, body?.code]
const get = (path: string, project_id = project) => api.call('GET', path, project_id)
const idsOf = async (query: string, project_id: string) => {
  const reply = await get(query, project_id)
  expect([reply.status, reply.body.code]).toEqual([200, undefined])
  return reply.body.incidents.map((one: Json) => one.incident_id)
}
const hour = (at: number) => `2026-11-23T${String(at).padStart(2, '0')}:00:00.000Z`

describe('the list', () => {
  let other: string
  let ids: string[]
  beforeAll(async () => {
    other = await api.newProject()
    const evidence = JSON.stringify([
      { kind: 'task', task_id: 'a"b', at: hour(1) },
      { kind: 'finding', task_id: 'c', at: hour(2) },
    ])
    const many = [
      { severity: 'low' as const, title: '100% of calls fail', labels: '{"team":"a:b"}' },
      { severity: 'critical' as const, state: 'acknowledged' as const, assignee: 'In@Example.com' },
      { state: 'resolved' as const, title: 'a_b', suppressed: true, evidence },
      { severity: 'info' as const, group_values: '{"model":"m\\"1"}', flapping: true },
      { severity: 'medium' as const, core: { rules: ['x', 'y'] }, title: 'aXb', shadow: true },
    ]
    ids = []
    for (const [at, given] of many.entries()) {
      const updated_at = hour(10 - at)
      ids.push(await api.insertIncident(other, { opened_at: hour(at), updated_at, ...given }))
    }
    await api.insertIncident(project, { assignee: 'in@example.com' })
  })

  test.each<[string, number[]]>([
    ['state=open', [4, 3, 0]],
    ['state=acknowledged,resolved', [2, 1]],
    ['severity_min=medium', [4, 2, 1]],
    ['rule=y', [4]],
    ['rule=slow-answers', [3, 2, 1, 0]],
    ['assignee=in@example.com', [1]],
    ['assignee=none', [4, 3, 2, 0]],
    ['suppressed=true', [2]],
    ['flapping=true', [3]],
    ['shadow=false', [3, 2, 1, 0]],
    ['label=team:a:b', [0]],
    ['label=team:a', []],
    ["label=team:'%3B--", []],
    [`group=model:${encodeURIComponent('m"1')}`, [3]],
    ['task_id=a"b', [2]],
    ['task_id=c', [2]],
    ['task_id=a', []],
    [`opened_from=${hour(1)}&opened_to=${hour(3)}`, [2, 1]],
    ['q=100%25 OF', [0]],
    ['q=%25', [0]],
    ['q=a_b', [2]],
    ['q=a\\', []],
  ])('is filtered by %s', async (query, expected) => {
    expect(await idsOf(`?${query}`, other)).toEqual(expected.map((at) => ids[at]))
    const { body } = await get(`?${query}`, other)
    expect(body.total).toBe(expected.length)
  })

  test.each<[string, number[]]>([
    ['', [4, 3, 2, 1, 0]],
    ['order=asc', [0, 1, 2, 3, 4]],
    ['sort=updated_at', [0, 1, 2, 3, 4]],
    ['sort=severity', [1, 2, 4, 0, 3]],
    ['sort=number&order=asc', [0, 1, 2, 3, 4]],
  ])('is sorted and paged by "%s"', async (query, expected) => {
    expect(await idsOf(`?${query}`, other)).toEqual(expected.map((at) => ids[at]))
    const paged: string[] = []
    let cursor = ''
    do {
      const { body } = await get(`?limit=2&${query}${cursor}`, other)
      paged.push(...body.incidents.map((one: Json) => one.incident_id))
      expect(body.total).toBe(5)
      cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`
    } while (cursor !== '')
    expect(paged).toEqual(expected.map((at) => ids[at]))
  })

  test('pages are stable while incidents open', async () => {
    const mine = await api.newProject()
    const first = [await api.insertIncident(mine), await api.insertIncident(mine)]
    const page = await get('?limit=1', mine)
    await api.insertIncident(mine, { opened_at: hour(23) })
    const rest = await idsOf(`?limit=5&cursor=${page.body.next_cursor}`, mine)
    expect([page.body.incidents[0].incident_id, ...rest]).toEqual(first.toReversed())
  })

  test.each([
    'state=closed',
    'severity_min=bad',
    'label=team',
    'label=Team:a',
    'group=user_id:a',
    'sort=title',
    'q=%00',
    'label=a:%00',
    'unknown=1',
    `opened_from=${hour(3)}&opened_to=${hour(1)}`,
  ])('refuses %s', async (query) => {
    expect(codeOf(await get(`?${query}`))).toEqual([400, 'invalid_request'])
  })

  test('refuses a cursor of another order', async () => {
    const { body } = await get('?limit=1', other)
    const reply = await get(`?order=asc&cursor=${body.next_cursor}`, other)
    expect(codeOf(reply)).toEqual([400, 'invalid_cursor'])
  })
})

describe('one incident', () => {
  test('is read by id and by number, with its ETag', async () => {
    const title = '<script>alert(1)</script> {{x}}'
    const id = await api.insertIncident(project, { title, version: 7 })
    const one = await get(`/${id}`)
    expect([one.status, one.headers['etag'], one.body.title]).toEqual([
      200,
      expect.stringMatching(/^"7-/),
      title,
    ])
    expect((await get(`/${one.body.number}`)).body).toEqual(one.body)
    expect(one.body).toMatchObject({
      ...{ timeline: { events: [], total: 0, next_cursor: null }, series: null, evidence: [] },
      deliveries: { waiting: 0, delivered: 0, dead: 0, superseded: 0 },
    })
  })

  test('has evidence with findings as they are now, and links', async () => {
    const place = { trace_id: newId(), observation_id: 'o-3' }
    const mine = await insertFinding(project, 't/1', [place])
    const foreign = await newFinding()
    const at = hour(11)
    const trace_id = newId()
    const evidence = JSON.stringify([
      { kind: 'finding', id: mine, task_id: 't/1', trace_id, at },
      { kind: 'finding', id: foreign, at },
      { kind: 'finding', id: newId(), at },
      { kind: 'finding', id: "x'--", at },
      { kind: 'value', value: 4200, samples: 31, at },
    ])
    const id = await api.insertIncident(project, { evidence })
    const { body } = await get(`/${id}`)
    expect(body.evidence.map((one: Json) => one.finding?.finding_id)).toEqual([
      mine,
      ...Array(4).fill(undefined),
    ])
    expect(body.evidence[0]).toMatchObject({
      finding: {
        ...{ state: 'open', type: 'repeat_call', severity: 'high' },
        ...{ start_step: 3, ...place },
      },
      links: {
        task: '/api/v1/tasks/t%2F1',
        findings: '/api/v1/tasks/t%2F1/findings',
        trace: `/api/v2/observability/traces/${trace_id}/explorer`,
      },
    })
  })

  test('has the series around its opening with the threshold', async () => {
    const name = 'series-rule'
    const made = await api.call('POST', '/rules', project, {
      body: {
        ...{ name, severity: 'high', group_by: ['model'] },
        condition: { signal: 'ttft_p95', window: '10m', threshold: '4000.5' },
      },
    })
    const opened_ms = Date.parse(hour(11))
    const slot = (minutes: number) => new Date(opened_ms + minutes * 60_000).toISOString()
    const rows = Array.from({ length: 700 }, (_, at) => ({
      ...{ rule_id: made.body.rule_id, project_id: project, group_key: '{"model":"m"}' },
      ...{ slot: slot(at - 100), value: at, samples: 1, lag_ms: 0 },
    }))
    const other = { ...rows[0], group_key: '{"model":"n"}', slot: slot(0) }
    await api.db
      .insertInto('rule_samples')
      .values([...rows, other] as typeof rows)
      .execute()
    const group_values = '{"model":"m"}'
    const id = await api.insertIncident(project, { rule_name: name, group_values })
    const { series } = (await get(`/${id}`)).body
    expect([series.threshold, series.points.length]).toEqual([4000.5, 500])
    expect(series.points[0]).toEqual({ at: slot(-60), value: 40, samples: 1 })
  })

  test('has a timeline that is paged', async () => {
    const id = await api.insertIncident(project, { last_seq: 250 })
    await api.db
      .insertInto('incident_events')
      .values(
        Array.from({ length: 250 }, (_, at) => ({
          ...{ incident_id: id, seq: at + 1, project_id: project, type: 'reminder' },
          ...{ at: hour(11), recorded_at: hour(11), actor_type: 'timer', actor_id: 'incidents' },
        })) as never,
      )
      .execute()
    const { timeline } = (await get(`/${id}`)).body
    expect([timeline.events.length, timeline.total]).toEqual([200, 250])
    const rest = await get(`/${id}/events?cursor=${timeline.next_cursor}&limit=100`)
    expect(rest.body.events.map((one: Json) => one.seq)).toEqual(
      Array.from({ length: 50 }, (_, at) => at + 201),
    )
    expect(rest.body.next_cursor).toBe(null)
    const foreign = await api.insertIncident(project)
    const reply = await get(`/${foreign}/events?cursor=${timeline.next_cursor}`)
    expect(codeOf(reply)).toEqual([400, 'invalid_cursor'])
  })
})

describe('moves', () => {
  const move = (id: unknown, what: string, body?: object, about: object = {}) =>
    api.call('POST', `/${id}/${what}`, project, { ...(body && { body }), ...about })

  test('acknowledge, resolve and reopen; the same move twice changes nothing', async () => {
    const id = await api.insertIncident(project)
    const acked = await move(id, 'ack', { note: 'mine' })
    expect([acked.status, acked.headers['etag'], acked.body.state]).toEqual([
      ...[200, '"2"', 'acknowledged'],
    ])
    expect((await move(id, 'ack')).body).toEqual(acked.body)
    const resolved = await move(id, 'resolve')
    expect([resolved.body.state, resolved.body.version]).toEqual(['resolved', 3])
    expect((await move(id, 'resolve')).body).toEqual(resolved.body)
    for (const what of ['ack', 'assign']) {
      const body = what === 'assign' ? { assignee: null } : undefined
      const reply = await move(id, what, body)
      expect(codeOf(reply)).toEqual([409, 'incident_state_conflict'])
    }
    const reopened = await move(resolved.body.number, 'reopen', { note: 'again' })
    expect([reopened.body.state, reopened.body.version]).toEqual(['open', 4])
    const { events } = (await get(`/${id}/events`)).body
    expect(events.map((one: Json) => [one.type, one.actor, one.note])).toEqual([
      ['acknowledged', { type: 'user', id: 'user-1' }, 'mine'],
      ['resolved', { type: 'user', id: 'user-1' }, null],
      ['reopened', { type: 'user', id: 'user-1' }, 'again'],
    ])
  })

  test('If-Match is compared before the state', async () => {
    const id = await api.insertIncident(project, { state: 'resolved', version: 5 })
    const stale = await move(id, 'ack', undefined, { if_match: '"4"' })
    expect(codeOf(stale)).toEqual([412, 'precondition_failed'])
    const broken = await move(id, 'resolve', undefined, { if_match: 'W/"5"' })
    expect(codeOf(broken)).toEqual([412, 'precondition_failed'])
    const current = await move(id, 'ack', undefined, { if_match: '"5"' })
    expect(codeOf(current)).toEqual([409, 'incident_state_conflict'])
  })

  test('an older incident is not reopened while a newer one of its key is open', async () => {
    const dedup_key = 'rule:shared'
    const id = await api.insertIncident(project, { dedup_key, state: 'resolved' })
    await api.insertIncident(project, { dedup_key })
    expect(codeOf(await move(id, 'reopen'))).toEqual([409, 'incident_state_conflict'])
  })

  test('only members of the project are assigned, and other accounts are not revealed', async () => {
    const mine = await api.newProject()
    const user_id = await api.newMember(mine, 'member@example.com')
    await api.newMember(mine, 'owner@example.com', 'owner')
    const outsider = await api.newMember(mine, 'outsider@example.com', 'none')
    const id = await api.insertIncident(mine)
    const assign = (assignee: string | null) =>
      api.call('POST', `/${id}/assign`, mine, { body: { assignee } })
    expect((await assign('Member@example.com')).body.assignee).toBe('member@example.com')
    const again = await assign(user_id)
    expect([again.status, again.body.version]).toEqual([200, 2])
    expect((await assign('owner@example.com')).body.assignee).toBe('owner@example.com')
    const refusals = [
      await assign('outsider@example.com'),
      await assign(outsider),
      await assign('nobody@example.com'),
      await assign(newId()),
    ]
    for (const { body } of refusals) {
      expect({ ...body, instance: '' }).toEqual({ ...refusals[0]?.body, instance: '' })
      expect(body.errors).toEqual([{ pointer: '/assignee', detail: expect.any(String) }])
    }
    expect((await assign(null)).body.assignee).toBe(null)
  })

  test('a comment is accepted in every state, once per Idempotency-Key', async () => {
    const id = await api.insertIncident(project, { state: 'resolved' })
    const headers = { ...tokenOf('editor', project), 'idempotency-key': newId() }
    const note = `'); drop table incidents; -- \u202e`
    await move(id, 'comment', { note }, { headers })
    const again = await move(id, 'comment', { note }, { headers })
    expect([again.status, again.headers['etag']]).toEqual([200, '"2"'])
    const { events } = (await get(`/${id}/events`)).body
    expect(events.map((one: Json) => [one.type, one.note])).toEqual([['commented', note]])
    expect(codeOf(await move(id, 'comment', {}))).toEqual([400, 'invalid_request'])
    expect(codeOf(await move(id, 'comment', { note: 'a\u0000' }))).toEqual([400, 'invalid_request'])
    expect(codeOf(await move(id, 'ack', { why: 'x' }))).toEqual([400, 'invalid_request'])
  })

  test('two concurrent moves of one version: one succeeds', async () => {
    const id = await api.insertIncident(project)
    const replies = await Promise.all(
      ['one', 'two', 'three'].map((note) => move(id, 'comment', { note }, { if_match: '"1"' })),
    )
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 412, 412])
  })

  test('editors and keys with `incidents:write` move; the actor is the caller', async () => {
    const id = await api.insertIncident(project)
    const as = (headers: Record<string, string>) => move(id, 'ack', undefined, { headers })
    expect(codeOf(await as(tokenOf('viewer', project)))).toEqual([403, 'permission_denied'])
    expect(codeOf(await as(keyOf(project, 'incidents:read')))).toEqual([403, 'permission_denied'])
    expect((await as(keyOf(project, 'incidents:write'))).status).toBe(200)
    const { events } = (await get(`/${id}/events`)).body
    expect(events[0].actor).toEqual({ type: 'key', id: 'key-1' })
  })
})

describe('neighbours', () => {
  test('ids and numbers of another project do not exist', async () => {
    const mine = await api.newProject()
    const id = await api.insertIncident(project)
    const { number } = (await get(`/${id}`)).body
    for (const name of [id, number, newId(), '0', '-1', '1e3', "1' or 1=1"]) {
      const path = `/${encodeURIComponent(name)}`
      const calls = [
        await get(path, mine),
        await get(`${path}/events`, mine),
        await api.call('POST', `${path}/ack`, mine),
        await api.call('POST', `${path}/comment`, mine, { body: { note: 'x' } }),
      ]
      for (const call of calls) expect(codeOf(call)).toEqual([404, 'incident_not_found'])
    }
    expect((await get(`/${id}`)).body).toMatchObject({ state: 'open', version: 1 })
  })

  test('keys without a scope of incidents read nothing', async () => {
    const headers = keyOf(project, 'tasks:read traces:read query:run')
    for (const path of ['', '/1', '/1/events']) {
      const reply = await api.call('GET', path, project, { headers })
      expect(codeOf(reply)).toEqual([403, 'permission_denied'])
    }
  })
})

async function newFinding(): Promise<string> {
  return insertFinding(await api.newProject(), 't-2')
}

async function insertFinding(
  project_id: string,
  task_id: string,
  places: readonly object[] = [],
): Promise<string> {
  const times = { started_at: hour(10), last_activity_at: hour(10) }
  await api.db
    .insertInto('tasks')
    .values({ project_id, task_id, name: 't', implicit: false, ...times })
    .execute()
  const finding_id = newId()
  await api.db
    .insertInto('findings')
    .values({
      ...{ finding_id, project_id, task_id, kind: 'loop', type: 'repeat_call', state: 'open' },
      ...{ detector: 'repeat_call', detector_version: 1, severity: 'high', summary: 'a loop' },
      ...{
        places: JSON.stringify(places),
        trace_ids: [],
        start_step: 3,
        wasted_tokens: 0,
        wasted_cost_usd: '0',
        confidence: 0.9,
      },
      ...{ recovered: false, evidence: '{}', started_at: hour(10) },
      ...{ first_detected_at: hour(10), updated_at: hour(10) },
    } as never)
    .execute()
  return finding_id
}
