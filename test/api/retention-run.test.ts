import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import {
  dateAgo,
  daysAgo,
  openRetentionApi,
  type RetentionApi,
  retentionNowMs,
} from '../support/retention-api.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'

let api: RetentionApi
beforeAll(async () => {
  api = await openRetentionApi()
})
afterAll(() => api[Symbol.asyncDispose]())

type Bucket = Record<string, unknown>

async function setPolicy(project: string, body: object): Promise<void> {
  const { status } = await api.call('PUT', '/retention-policy', project, { body })
  expect(status).toBe(200)
}

/** Buckets without estimates, in a fixed order. */
function counted(buckets: unknown): Bucket[] {
  return (buckets as Bucket[])
    .map(({ bytes: _, ...bucket }) => bucket)
    .toSorted((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1))
}

const observed = (project: string) =>
  api
    .ask<{ id: string }>(
      'SELECT observation_id AS id FROM observations WHERE project_id = {project:UUID} ORDER BY id',
      { project },
    )
    .then((rows) => rows.map(({ id }) => id))

/** One record of each kind, all of one trace. */
function oneTrace(time: bigint, more: { environment?: string; trace_id?: string } = {}) {
  const { environment = '', trace_id = newId() } = more
  return {
    observations: [
      {
        trace_id,
        observation_id: newId().slice(-12),
        start_time: time,
        environment,
        task_id: trace_id,
      },
    ],
    traces: [{ trace_id, time, environment }],
    events: [{ trace_id, time, event_id: newId() }],
    links: [{ trace_id, time, link_id: newId() }],
    correlations: [{ trace_id, time }],
  }
}

/** The records of several traces, which are stored at once. */
function together(seeds: readonly ReturnType<typeof oneTrace>[]) {
  return {
    observations: seeds.flatMap(({ observations }) => observations),
    traces: seeds.flatMap(({ traces }) => traces),
    events: seeds.flatMap(({ events }) => events),
    links: seeds.flatMap(({ links }) => links),
    correlations: seeds.flatMap(({ correlations }) => correlations),
  }
}

test('a run deletes what is due and nothing else, as its dry run reported', async () => {
  const [project, other] = [await api.newProject(), await api.newProject()]
  const on = (agos: readonly number[]) => together(agos.map((ago) => oneTrace(daysAgo(ago))))
  await api.seed(project, on([61, 60, 31, 30, 1, -2]))
  await api.seed(other, on([61, 31]))
  await setPolicy(project, { days: { observations: 30, traces: 60, events: 30 } })

  const dry = await api.dryRun(project)
  const run = await api.run(project)
  expect(counted(run['buckets'])).toEqual(counted(dry.buckets))
  expect(run['result']).toMatchObject({
    deleted_rows: 3 * 4 + 1,
    ...{ masked_rows: 0, held_rows: 0, kept_rows: 5 },
  })
  expect(counted(run['buckets']).slice(0, 1)).toEqual([
    {
      ...{ day: dateAgo(61), kind: 'correlations', environment: '', action: 'delete' },
      ...{ reason: null, rows: 1, held_rows: 0 },
    },
  ])
  expect(await api.rows(project)).toEqual({
    ...{ observations: 3, traces: 5, events: 3, links: 3, correlations: 3 },
  })
  expect(await api.rows(other)).toEqual({
    ...{ observations: 2, traces: 2, events: 2, links: 2, correlations: 2 },
  })
  expect((await api.dryRun(project)).result['deleted_rows']).toBe(0)

  // Rows may still arrive for a deleted day: the next run deletes them.
  await api.seed(project, oneTrace(daysAgo(61)))
  expect((await api.run(project))['result']).toMatchObject({ deleted_rows: 5 })
})

test('a part whose rows are all due is dropped whole, and frees its space at once', async () => {
  const project = await api.newProject()
  const time = daysAgo(4_000)
  await api.seed(project, oneTrace(time))
  const parts = () =>
    api.ask<{ n: string }>(
      `SELECT sum(rows) AS n FROM system.parts
       WHERE database = currentDatabase() AND table = 'observations' AND active
         AND toDate(min_time) = {day:Date}`,
      { day: dateAgo(4_000) },
    )
  expect(await parts()).toEqual([{ n: '1' }])
  await setPolicy(project, { days: { observations: 30 } })
  await api.run(project)
  expect(await parts()).toEqual([{ n: '0' }])
})

test('environments have their own days, also for rows that name none', async () => {
  const project = await api.newProject()
  const [dev, prod, none] = [newId(), newId(), newId()]
  const traces = [
    oneTrace(daysAgo(10), { environment: 'dev', trace_id: dev }),
    oneTrace(daysAgo(10), { environment: 'prod', trace_id: prod }),
    oneTrace(daysAgo(10), { trace_id: none }),
  ]
  await api.seed(project, together(traces))
  await setPolicy(project, {
    days: { observations: 30, traces: 30, events: 30 },
    environments: [
      { environment: 'dev', days: { observations: 7, traces: 7, events: 7 } },
      { environment: 'prod', days: { observations: null, traces: null, events: null } },
    ],
  })
  const dry = await api.dryRun(project)
  const run = await api.run(project)
  expect(counted(run['buckets'])).toEqual(counted(dry.buckets))
  expect(run['result']).toMatchObject({ deleted_rows: 5 })
  for (const kind of ['observations', 'traces', 'events', 'links', 'correlations']) {
    const left = await api.ask<{ id: string }>(
      `SELECT trace_id AS id FROM ${kind} WHERE project_id = {project:UUID}`,
      { project },
    )
    expect(left.map(({ id }) => id).toSorted(), kind).toEqual([prod, none].toSorted())
  }
})

test('content is deleted before its rows, and the rows show it', async () => {
  const project = await api.newProject()
  const [old, young] = [newId(), newId()]
  const correlationAt = (trace_id: string, time: bigint) => ({
    observations: [
      {
        ...{ trace_id, observation_id: trace_id.slice(-12), start_time: time },
        ...{ input: 'asked', output: 'answered', error_message: 'quoting it' },
        tool_calls: [{ id: 't', name: 'search', arguments: '{"q":"asked"}' }],
        tool_results: [{ tool_call_id: 't', content: 'found' }],
        attributes: {
          ...{ 'gen_ai.prompt.0.content': 'asked', 'gen_ai.system': 'openai' },
          ...{ 'request.messages': 'asked', 'request.temperature': '1' },
        },
      },
    ],
    traces: [{ trace_id, time, input: 'asked', output: 'answered', name: 'kept' }],
    events: [
      { trace_id, time, body: 'asked', attributes: ['gen_ai.prompt', 'asked', 'attempt', '2'] },
    ],
    correlations: [
      { trace_id, time, correlation_type: 'w3c_baggage', correlation_value: 'asked=1' },
      { trace_id, time, correlation_type: 'order', correlation_value: 'o-1' },
    ],
  })
  await api.seed(project, correlationAt(old, daysAgo(8)))
  await api.seed(project, correlationAt(young, daysAgo(7)))
  await setPolicy(project, { days: { content: 7, observations: 30, traces: 30, events: 30 } })
  const dry = await api.dryRun(project)
  const run = await api.run(project)
  expect(counted(run['buckets'])).toEqual(counted(dry.buckets))
  expect(run['result']).toMatchObject({ masked_rows: 4, deleted_rows: 0 })
  const read = (columns: string, kind: string, trace: string) =>
    api.ask(
      `SELECT ${columns} FROM ${kind}
       WHERE project_id = {project:UUID} AND trace_id = {trace:UUID} ORDER BY ALL`,
      { project, trace },
    )
  const columns =
    'input, output, error_message, tool_calls, tool_results, attributes, content_state, name'
  expect(await read(columns, 'observations', old)).toEqual([
    {
      ...{ input: '', output: '', error_message: '', content_state: 'expired', name: 'chat m-1' },
      tool_calls: [{ id: 't', name: 'search', arguments: '' }],
      tool_results: [{ tool_call_id: 't', content: '' }],
      attributes: { 'gen_ai.system': 'openai', 'request.temperature': '1' },
    },
  ])
  expect(await read('input, output, name', 'traces', old)).toEqual([
    { input: '', output: '', name: 'kept' },
  ])
  expect(await read('body, attributes', 'events', old)).toEqual([
    { body: '', attributes: { attempt: '2' } },
  ])
  expect(await read('correlation_type AS type', 'correlations', old)).toEqual([{ type: 'order' }])
  expect(await read('input, content_state', 'observations', young)).toEqual([
    { input: 'asked', content_state: 'full' },
  ])
  expect(await read('correlation_type AS type', 'correlations', young)).toHaveLength(2)
  expect((await api.run(project))['result']).toMatchObject({ masked_rows: 0 })
})

test('held data is neither deleted nor masked, by any kind of hold', async () => {
  const project = await api.newProject()
  const traces = Array.from({ length: 6 }, () => newId())
  const [byTrace = '', byTask = '', byTalk = '', byName = '', byUser = '', free = ''] = traces
  const conversation_id = newId()
  const owners = [
    {},
    { task_id: 'a held task' },
    { conversation_id },
    { conversation_id: newId(), conversation_external_id: 'chat-7' },
    { user_id: 'ada' },
    { user_id: 'bob', task_id: 'free' },
  ]
  const seeds = together(traces.map((trace_id, at) => oneTrace(daysAgo(40, at), { trace_id })))
  // Only the first observation names its owner; all of the trace is held.
  const named = traces.map((trace_id, at) => ({
    ...{ trace_id, start_time: daysAgo(40, at), observation_id: `named-${at}`, ...owners[at] },
  }))
  await api.seed(project, { ...seeds, observations: [...named, ...seeds.observations] })
  const holds = [
    { kind: 'trace', value: byTrace.replaceAll('-', '').toUpperCase() },
    { kind: 'task', value: 'a held task' },
    { kind: 'conversation', value: conversation_id },
    { kind: 'conversation', value: 'chat-7' },
    { kind: 'user', value: 'ada' },
  ]
  for (const hold of holds) {
    const body = { ...hold, reason: 'case 12' }
    expect((await api.call('POST', '/legal-holds', project, { body })).status).toBe(201)
  }
  await setPolicy(project, { days: { content: 7, observations: 30, traces: 30, events: 30 } })
  const dry = await api.dryRun(project)
  const run = await api.run(project)
  expect(counted(run['buckets'])).toEqual(counted(dry.buckets))
  expect(run['result']).toMatchObject({ deleted_rows: 6, held_rows: 30 })
  for (const kind of ['observations', 'traces', 'events', 'links', 'correlations']) {
    const left = await api.ask<{ id: string }>(
      `SELECT DISTINCT trace_id AS id FROM ${kind} WHERE project_id = {project:UUID}`,
      { project },
    )
    const held = [byTrace, byTask, byTalk, byName, byUser]
    expect(left.map(({ id }) => id).toSorted(), kind).toEqual(held.toSorted())
    expect(left.map(({ id }) => id)).not.toContain(free)
  }
  const listed = await api.call('GET', '/legal-holds', project)
  for (const { hold_id } of listed.body['holds'] as { hold_id: string }[]) {
    expect((await api.call('DELETE', `/legal-holds/${hold_id}`, project)).status).toBe(200)
  }
  expect((await api.run(project))['result']).toMatchObject({ deleted_rows: 30, held_rows: 0 })
})

test('a hold that is placed during a run applies to the remaining days', async () => {
  const project = await api.newProject()
  await api.seed(project, {
    observations: [50, 40].map((ago) => ({
      ...{ start_time: daysAgo(ago), observation_id: `o-${ago}`, user_id: 'eve' },
    })),
  })
  await setPolicy(project, { days: { observations: 30 } })
  const placing = {
    ...api.store,
    deleteRows: async (slice: Parameters<typeof api.store.deleteRows>[0]) => {
      await api.store.deleteRows(slice)
      const body = { kind: 'user', value: 'eve', reason: 'just now' }
      await api.call('POST', '/legal-holds', project, { body })
    },
  }
  const run = await api.run(project, api.handler(placing))
  expect(await observed(project)).toEqual(['o-40'])
  expect(run['result']).toMatchObject({ deleted_rows: 1, held_rows: 1, kept_rows: 1 })
})

test('a policy that is changed during a run applies from the next step on', async () => {
  const project = await api.newProject()
  await api.seed(project, {
    observations: [50, 40].map((ago) => ({
      ...{ start_time: daysAgo(ago), observation_id: `o-${ago}` },
    })),
  })
  await setPolicy(project, { days: { observations: 30 } })
  const changing = {
    ...api.store,
    deleteRows: async (slice: Parameters<typeof api.store.deleteRows>[0]) => {
      await api.store.deleteRows(slice)
      await setPolicy(project, { days: { observations: 45 } })
    },
  }
  await api.run(project, api.handler(changing))
  expect(await observed(project)).toEqual(['o-40'])
})

test('tasks and conversations follow their last activity', async () => {
  const project = await api.newProject()
  const at = (ago: number) => new Date(retentionNowMs - ago * 86_400_000)
  const talk = newId()
  const task = (task_id: string, ago: number, more = {}) => ({
    ...{ project_id: project, task_id, name: '', implicit: false },
    ...{ started_at: at(100), last_activity_at: at(ago), ...more },
  })
  await api.db
    .insertInto('tasks')
    .values([
      task('old', 40),
      task('young', 29),
      task('old in dev', 8, { environment: 'dev' }),
      task('old but held', 40, { user_id: 'ada' }),
      task('held by name', 40),
      task('young, talks', 20, { conversation_id: talk }),
    ])
    .execute()
  const event = { project_id: project, kind: 'created', at: at(100), actor_kind: 'api' } as const
  await api.db
    .insertInto('task_events')
    .values([
      { ...event, id: newId(), task_id: 'old' },
      { ...event, id: newId(), task_id: 'young' },
    ])
    .execute()
  const conversation = (conversation_id: string, ago: number, tasks: number) => ({
    ...{ project_id: project, conversation_id, tasks },
    ...{ started_at: at(100), last_activity_at: at(ago) },
  })
  const [gone, taskless] = [newId(), newId()]
  await api.db
    .insertInto('conversations')
    .values([conversation(talk, 40, 1), conversation(gone, 40, 2), conversation(taskless, 20, 0)])
    .execute()
  for (const hold of [
    { kind: 'user', value: 'ada' },
    { kind: 'task', value: 'held by name' },
  ]) {
    await api.call('POST', '/legal-holds', project, { body: { ...hold, reason: 'r' } })
  }
  await setPolicy(project, {
    days: { observations: 30, traces: 30 },
    environments: [{ environment: 'dev', days: { traces: 7 } }],
  })
  const dry = await api.dryRun(project)
  const run = await api.run(project)
  const counts = counted(run['buckets'])
  expect(counts.map(({ kind, day, environment, rows }) => [kind, day, environment, rows])).toEqual([
    ['conversations', dateAgo(40), '', 1],
    ['tasks', dateAgo(40), '', 1],
    ['tasks', dateAgo(8), 'dev', 1],
  ])
  expect(counted(dry.buckets)).toEqual(counts)
  const left = await api.db
    .selectFrom('tasks')
    .select('task_id')
    .where('project_id', '=', project)
    .orderBy('task_id')
    .execute()
  expect(left.map(({ task_id }) => task_id)).toEqual([
    ...['held by name', 'old but held', 'young', 'young, talks'],
  ])
  const events = await api.db
    .selectFrom('task_events')
    .select('task_id')
    .where('project_id', '=', project)
    .execute()
  expect(events).toEqual([{ task_id: 'young' }])
  const talks = await api.db
    .selectFrom('conversations')
    .select('conversation_id')
    .where('project_id', '=', project)
    .execute()
  expect(talks.map(({ conversation_id }) => conversation_id).toSorted()).toEqual(
    [talk, taskless].toSorted(),
  )
})

test('one run of a project at a time; its record is visible to its own project only', async () => {
  const [project, other] = [await api.newProject(), await api.newProject()]
  const first = await api.call('POST', '/retention/run', project)
  expect(first).toMatchObject({
    status: 202,
    body: { state: 'queued', progress: null, result: null, requested_by: 'key:key-1' },
  })
  const second = await api.call('POST', '/retention/run', project)
  expect(second).toMatchObject({ status: 409, body: { code: 'job_running' } })
  expect(second.body['detail']).toContain(first.body['job_id'])
  const path = `/retention/runs/${first.body['job_id']}`
  expect((await api.call('GET', path, project)).status).toBe(200)
  expect(await api.call('GET', path, other)).toMatchObject({
    ...{ status: 404, body: { code: 'job_not_found' } },
  })
  expect((await api.call('GET', '/retention/runs/nonsense', project)).status).toBe(404)
  const listed = await api.call('GET', '/retention/runs', project)
  expect(listed.body).toMatchObject({ total: 1, runs: [{ job_id: first.body['job_id'] }] })
  expect((await api.call('GET', '/retention/runs', other)).body).toMatchObject({ total: 0 })
  await api.done(String(first.body['job_id']))
})

test('the buckets of a run are read in pages', async () => {
  const project = await api.newProject()
  await api.seed(project, oneTrace(daysAgo(40)))
  await setPolicy(project, { days: { observations: 30, traces: 30 } })
  const { job_id, buckets } = await api.run(project)
  const seen: unknown[] = []
  for (let cursor = ''; ; ) {
    const asked = `/retention/runs/${job_id}?limit=2${cursor && `&cursor=${cursor}`}`
    const { body } = await api.call('GET', asked, project)
    seen.push(...(body['buckets'] as unknown[]))
    if (body['next_cursor'] === null) break
    cursor = String(body['next_cursor'])
  }
  expect(seen).toEqual(buckets)
  expect(seen).toHaveLength(5)
  const wrong = await api.call('GET', `/retention/runs/${job_id}?cursor=abc`, project)
  expect(wrong).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } })
})

test('holds: permissions, refusals and lists', async () => {
  const [project, other] = [await api.newProject(), await api.newProject()]
  const body = { kind: 'task', value: 't-1', reason: 'a case' }
  const status = async (method: 'GET' | 'POST', headers: Record<string, string>) =>
    (
      await api.call(method, '/legal-holds', project, {
        headers,
        ...(method === 'POST' && { body }),
      })
    ).status
  expect(await status('POST', {})).toBe(401)
  expect(await status('POST', tokenOf('editor', project))).toBe(403)
  expect(await status('POST', keyOf(project, 'traces:read'))).toBe(403)
  expect(await status('POST', tokenOf('admin', project))).toBe(201)
  expect(await status('POST', tokenOf('admin', project))).toBe(200)
  expect(await status('GET', tokenOf('viewer', project))).toBe(200)
  for (const [wrong, pointer] of [
    [{ ...body, kind: 'model' }, '/kind'],
    [{ ...body, value: '' }, '/value'],
    [{ ...body, value: 'a\u0000b' }, '/value'],
    [{ ...body, value: 'x'.repeat(257) }, '/value'],
    [{ kind: 'trace', value: 'no trace id', reason: 'r' }, '/value'],
    [{ kind: 'task', value: 't' }, '/reason'],
    [{ ...body, until: '2030' }, '/until'],
  ] as const) {
    const refused = await api.call('POST', '/legal-holds', project, { body: wrong })
    expect(refused.status).toBe(400)
    expect(refused.body['errors']).toMatchObject([{ pointer }])
  }
  const { holds } = (await api.call('GET', '/legal-holds', project)).body as { holds: Bucket[] }
  expect(holds).toMatchObject([{ ...body, created_by: 'user:user-1', released_at: null }])
  const path = `/legal-holds/${holds[0]?.['hold_id']}`
  expect(await api.call('DELETE', path, other)).toMatchObject({
    ...{ status: 404, body: { code: 'legal_hold_not_found' } },
  })
  const released = await api.call('DELETE', path, project)
  expect(released).toMatchObject({ status: 200, body: { released_by: 'key:key-1' } })
  expect((await api.call('DELETE', path, project)).body).toEqual(released.body)
  expect((await api.call('GET', '/legal-holds', project)).body).toMatchObject({ total: 0 })
  const all = await api.call('GET', '/legal-holds?released=true', project)
  expect(all.body).toMatchObject({ total: 1 })
  expect((await api.call('POST', '/legal-holds', project, { body })).status).toBe(201)
})
