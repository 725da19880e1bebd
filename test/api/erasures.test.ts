import { afterAll, beforeAll, expect, test } from 'vitest'
import { openFeedbackRetention } from '../../src/capabilities/feedback/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { problem } from '../../src/kernel/problem.ts'
import { sql } from '../../src/platform/relational/index.ts'
import { testClickHouse } from '../support/clickhouse.ts'
import { daysAgo, openRetentionApi, type RetentionApi } from '../support/retention-api.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'

let api: RetentionApi
beforeAll(async () => {
  // A test counts marked rows of all projects.
  api = await openRetentionApi(await testClickHouse('own'))
})
afterAll(() => api[Symbol.asyncDispose]())

const path = '/erasures'
const secret = 'ada+very-own-id@example.com'

/** A trace of a user; of its records only observations and the trace name the user. */
function traceOfUser(trace_id: string, user_id: string, more: object = {}) {
  const time = daysAgo(3)
  return {
    observations: [
      { trace_id, start_time: time, observation_id: 'root', user_id, ...more },
      { trace_id, start_time: time, observation_id: 'child' },
    ],
    traces: [{ trace_id, time, user_id }],
    events: [{ trace_id, time }],
    links: [{ trace_id, time }],
    correlations: [{ trace_id, time }],
  }
}

async function erase(
  project: string,
  body: object,
  more: Parameters<RetentionApi['erasureHandler']>[0] = {},
): Promise<Record<string, unknown>> {
  const asked = await api.call('POST', path, project, { body })
  expect(asked.status).toBe(202)
  const { erasure_id, job_id } = asked.body
  expect((await api.done(String(job_id), api.erasureHandler(more))).error).toBeNull()
  return (await api.call('GET', `${path}/${erasure_id}`, project)).body
}

test('all data of a user is deleted, with a receipt that does not name the user', async () => {
  const [project, other] = [await api.newProject(), await api.newProject()]
  const [mine, shared, theirs] = [newId(), newId(), newId()]
  await api.seed(project, traceOfUser(mine, secret))
  await api.seed(project, traceOfUser(shared, secret))
  await api.seed(project, {
    observations: [
      { trace_id: shared, observation_id: 'bob', start_time: daysAgo(3), user_id: 'bob' },
    ],
  })
  await api.seed(project, traceOfUser(theirs, 'bob'))
  await api.seed(other, traceOfUser(mine, secret))
  const task = {
    name: '',
    implicit: false,
    started_at: '2026-11-20',
    last_activity_at: '2026-11-20',
  }
  await api.db
    .insertInto('tasks')
    .values([
      { ...task, project_id: project, task_id: 'hers', user_id: secret },
      { ...task, project_id: project, task_id: 'his', user_id: 'bob' },
      { ...task, project_id: other, task_id: 'hers', user_id: secret },
    ])
    .execute()
  await api.db
    .insertInto('conversations')
    .values({
      ...{ project_id: project, conversation_id: newId(), user_id: secret },
      ...{ started_at: '2026-11-20', last_activity_at: '2026-11-20' },
    })
    .execute()
  await sql`
    insert into large_rollups (project_id, kind, id) values
      (${project}, 'task', 'hers'), (${project}, 'task', 'his'), (${other}, 'task', 'hers')
  `.execute(api.db)

  const erased = await erase(project, { user_id: secret, reason: 'asked by mail' })
  const { rows: large } = await sql<{ of: string }>`
    select project_id || ' ' || id as of from large_rollups
    where project_id in (${project}, ${other})
  `.execute(api.db)
  expect(large.map(({ of }) => of).toSorted()).toEqual(
    [`${project} his`, `${other} hers`].toSorted(),
  )
  expect(erased).toMatchObject({
    state: 'completed',
    reason: 'asked by mail',
    requested_by: 'key:key-1',
    user_id_digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    receipt: {
      counts: {
        ...{ observations: 4, traces: 2, events: 2, links: 2, correlations: 2 },
        ...{ tasks: 1, conversations: 1 },
      },
      ...{ held_rows: 0, purged: true, archives: [] },
    },
  })
  const left = await api.ask(
    `SELECT observation_id AS id, trace_id = {theirs:UUID} AS theirs FROM observations
     WHERE project_id = {project:UUID} ORDER BY ALL`,
    { project, theirs },
  )
  expect(left).toEqual([
    { id: 'bob', theirs: 0 },
    { id: 'child', theirs: 1 },
    { id: 'root', theirs: 1 },
  ])
  expect(await api.rows(project)).toMatchObject({ traces: 1, events: 1, links: 1, correlations: 1 })
  expect(await api.rows(other)).toMatchObject({ observations: 2, traces: 1, events: 1 })
  const tasks = await api.db
    .selectFrom('tasks')
    .select('task_id')
    .where('project_id', '=', project)
    .execute()
  expect(tasks).toEqual([{ task_id: 'his' }])

  // Nothing that stays names the user: neither the receipt nor the job nor the log of requests.
  for (const table of ['erasures', 'job_runs'] as const) {
    const rows = await api.db
      .selectFrom(table)
      .selectAll()
      .where('project_id', '=', project)
      .execute()
    expect(JSON.stringify(rows)).not.toContain('very-own-id')
  }
  // A patch part lists the marked rows by position; it is removed when unused.
  const parts = await api.ask<{ marked: string }>(
    `SELECT toString(sum(has_lightweight_delete)) AS marked FROM system.parts
     WHERE database = currentDatabase() AND active AND NOT startsWith(partition_id, 'patch-')`,
  )
  expect(parts).toEqual([{ marked: '0' }])
})

test('a held user is not erased; other held data stays, and the receipt says so', async () => {
  const project = await api.newProject()
  const [held, free] = [newId(), newId()]
  await api.seed(project, traceOfUser(held, secret, { task_id: 'a case' }))
  await api.seed(project, traceOfUser(free, secret))
  const hold = async (kind: string, value: string) => {
    const body = { kind, value, reason: 'court' }
    return String((await api.call('POST', '/legal-holds', project, { body })).body['hold_id'])
  }
  const ofUser = await hold('user', secret)
  const body = { user_id: secret, reason: 'asked' }
  expect(await api.call('POST', path, project, { body })).toMatchObject({
    ...{ status: 409, body: { code: 'held' } },
  })
  expect((await api.call('GET', path, project)).body).toMatchObject({ total: 0 })
  await api.call('DELETE', `/legal-holds/${ofUser}`, project)
  const ofTask = await hold('task', 'a case')
  expect((await erase(project, body))['receipt']).toMatchObject({
    counts: { observations: 2, traces: 1, events: 1 },
    held_rows: 6,
  })
  expect(await api.rows(project)).toMatchObject({ observations: 2, traces: 1, events: 1 })
  await api.call('DELETE', `/legal-holds/${ofTask}`, project)
  expect((await erase(project, body))['receipt']).toMatchObject({
    counts: { observations: 2, traces: 1, events: 1 },
    held_rows: 0,
  })
  expect(await api.rows(project)).toMatchObject({ observations: 0, traces: 0, events: 0 })
})

test('feedback on a task of a held conversation stays with its task, and the receipt counts it', async () => {
  const project = await api.newProject()
  const [conversation_id, task_id] = [newId(), newId()]
  const times = { started_at: '2026-11-20', last_activity_at: '2026-11-20' }
  const owned = { project_id: project, conversation_id, user_id: secret, ...times }
  await api.db
    .insertInto('conversations')
    .values({ ...owned, external_id: 'chat 7' })
    .execute()
  await api.db
    .insertInto('tasks')
    .values({ ...owned, task_id, name: '', implicit: false })
    .execute()
  await sql`
    with task as (
      insert into feedback_tasks (project_id, task_id, task_ref, items, first_at, last_at, created_at)
      values (${project}, ${task_id}, ${task_id}, 1, now(), now(), now())
    )
    insert into feedback (project_id, task_id, feedback_id, source, subject, user_id, state, comment,
      at, version, by_browser, created_at, created_by, updated_at, updated_by, body_digest)
    values (${project}, ${task_id}, 'f', 'end_user', ${`user:${secret}`}, ${secret}, 'attached',
      'a proof', now(), 1, false, now(), 'key:k', now(), 'key:k', sha256(''))`.execute(api.db)
  const hold = { kind: 'conversation', value: 'chat 7', reason: 'court' }
  const placed = await api.call('POST', '/legal-holds', project, { body: hold })
  const targets = [openFeedbackRetention({ db: api.db as never })]
  const body = { user_id: secret, reason: 'asked' }
  const receiptOf = async () => (await erase(project, body, { targets }))['receipt']
  const comments = async () => {
    const found = await sql<{ comment: string | null }>`
      select comment from feedback where project_id = ${project}`.execute(api.db)
    return found.rows.map(({ comment }) => comment)
  }

  expect(await receiptOf()).toMatchObject({
    ...{ held_rows: 1, counts: { tasks: 0, conversations: 0 } },
    remaining: expect.arrayContaining([expect.objectContaining({ what: 'held_rows' })]),
  })
  expect(await comments()).toEqual(['a proof'])

  await api.call('DELETE', `/legal-holds/${placed.body['hold_id']}`, project)
  expect(await receiptOf()).toMatchObject({ held_rows: 0, counts: { tasks: 1, conversations: 1 } })
  expect(await comments()).toEqual([])
})

test('an erasure that is requested again while it runs is one; equal ids have equal digests', async () => {
  const [project, other] = [await api.newProject(), await api.newProject()]
  const body = { user_id: 'u', reason: 'r' }
  const first = await api.call('POST', path, project, { body })
  const again = await api.call('POST', path, project, { body })
  expect(again.body['erasure_id']).toBe(first.body['erasure_id'])
  expect(again.body['job_id']).toBe(first.body['job_id'])
  await api.done(String(first.body['job_id']), api.erasureHandler())
  const later = await api.call('POST', path, project, { body })
  expect(later.body['erasure_id']).not.toBe(first.body['erasure_id'])
  expect(later.body['user_id_digest']).toBe(first.body['user_id_digest'])
  const elsewhere = await api.call('POST', path, other, { body })
  expect(elsewhere.body['user_id_digest']).not.toBe(first.body['user_id_digest'])
})

test('an erasure that fails midway is repeated, and its receipt has every record once', async () => {
  const project = await api.newProject()
  await api.seed(project, traceOfUser(newId(), secret))
  const asked = await api.call('POST', path, project, { body: { user_id: secret, reason: 'r' } })
  let failures = 0
  const copies: string[] = []
  const flaky = {
    ...api.store,
    eraseUser: async (about: Parameters<typeof api.store.eraseUser>[0]) => {
      failures += 1
      // Once before any deletion, once after all of them.
      if (failures === 1)
        throw problem('store_unavailable', { detail: 'The store is unavailable.' })
      await api.store.eraseUser(about)
      if (failures === 2)
        throw problem('store_unavailable', { detail: 'The store is unavailable.' })
    },
  }
  const handler = api.erasureHandler({
    store: flaky,
    targets: [{ eraseUser: async ({ user_id }) => void copies.push(user_id) }],
  })
  expect(await api.done(String(asked.body['job_id']), handler)).toMatchObject({ attempt: 1 })
  const { body } = await api.call('GET', `${path}/${asked.body['erasure_id']}`, project)
  expect(body['receipt']).toMatchObject({
    counts: { observations: 2, traces: 1, events: 1, links: 1, correlations: 1 },
  })
  expect(copies).toContain(secret)
  expect(await api.rows(project)).toMatchObject({ observations: 0, traces: 0, events: 0 })
})

test('receipts need permission, in the own project', async () => {
  const [project, other] = [await api.newProject(), await api.newProject()]
  const body = { user_id: 'u', reason: 'r' }
  const status = async (method: 'GET' | 'POST', headers: Record<string, string>) =>
    (await api.call(method, path, project, { headers, ...(method === 'POST' && { body }) })).status
  expect(await status('POST', {})).toBe(401)
  expect(await status('POST', tokenOf('editor', project))).toBe(403)
  expect(await status('POST', keyOf(project, 'ingest:write'))).toBe(403)
  expect(await status('POST', tokenOf('admin', project))).toBe(202)
  expect(await status('GET', tokenOf('viewer', project))).toBe(200)
  const { erasures } = (await api.call('GET', path, project)).body as {
    erasures: { erasure_id: string }[]
  }
  const one = `${path}/${erasures[0]?.erasure_id}`
  expect((await api.call('GET', one, project)).body).toEqual(erasures[0])
  expect(await api.call('GET', one, other)).toMatchObject({
    ...{ status: 404, body: { code: 'erasure_not_found' } },
  })
  for (const [wrong, pointer] of [
    [{ user_id: '', reason: 'r' }, '/user_id'],
    [{ user_id: 'u' }, '/reason'],
    [{ user_id: 'u', reason: 'r', purge: 1 }, '/purge'],
    [{ user_id: 'u', reason: 'r', all: true }, '/all'],
  ] as const) {
    const refused = await api.call('POST', path, project, { body: wrong })
    expect([refused.status, refused.body['errors']]).toMatchObject([400, [{ pointer }]])
  }
  const cursor = await api.call('GET', `${path}?cursor=abc`, project)
  expect(cursor).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } })
})
