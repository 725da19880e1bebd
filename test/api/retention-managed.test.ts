import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { openRetentionApi, type RetentionApi } from '../support/retention-api.ts'
import { keyOf, operatorOf, tokenOf } from '../support/task-api.ts'

const path = '/retention-policy'
let api: RetentionApi
beforeAll(async () => {
  api = await openRetentionApi()
})
afterAll(() => api[Symbol.asyncDispose]())

const resource = (name = 'default') => ({
  ...{ kind: 'RetentionPolicy', namespace: 'team-a', name },
  uid: `uid-of-${name}`,
})
const inQuery = (name = 'default') => `managed_by=RetentionPolicy/team-a/${name}`
const refused = { status: 409, body: { code: 'managed_by_kubernetes' } }

/** The operator's request for a resource. */
function declare(project: string, more: object = {}, headers: Record<string, string> = {}) {
  return api.call('PUT', path, project, {
    headers: { ...operatorOf(project), ...headers },
    body: { days: { observations: 30 }, managed_by: resource(), ...more },
  })
}

function withdraw(project: string, query: string) {
  return api.call('DELETE', `${path}?${query}`, project, { headers: operatorOf(project) })
}

const hold = (name: string, value: string, more = {}) => ({
  ...{ name, kind: 'user', value, reason: `case of ${name}` },
  ...more,
})

async function listHolds(project: string, released = false): Promise<Record<string, unknown>[]> {
  const { body } = await api.call('GET', `/legal-holds?released=${released}`, project)
  return (body as { holds: Record<string, unknown>[] }).holds
}

test('only the resource changes what it declares, and the refusal names it', async () => {
  const project = await api.newProject()
  const made = await declare(project)
  expect(made).toMatchObject({
    ...{ status: 200, etag: '"1"' },
    body: { managed_by: resource(), version: 1, updated_by: 'operator:operator-1' },
  })
  expect((await api.call('GET', path, project)).body).toEqual(made.body)
  const body = { days: { observations: 5 } }
  for (const headers of [keyOf(project, 'retention:write'), tokenOf('admin', project)]) {
    const put = await api.call('PUT', path, project, { headers, body })
    expect(put).toMatchObject(refused)
    expect(put.body['detail']).toContain('RetentionPolicy team-a/default')
    expect(await api.call('DELETE', path, project, { headers })).toMatchObject(refused)
  }
  // A dry run is not a change.
  expect((await api.call('PUT', `${path}?dry_run=true`, project, { body })).status).toBe(202)
  expect((await api.call('GET', path, project)).body).toEqual(made.body)
  expect(await declare(project, { days: { observations: 7 } })).toMatchObject({
    ...{ status: 200, body: { version: 2, days: { observations: 7 } } },
  })
})

test('another resource takes over only on request; a new uid is the same resource', async () => {
  const project = await api.newProject()
  await declare(project, { legal_holds: [hold('a', 'ada'), hold('b', 'bob')] })
  const other = { managed_by: resource('other'), legal_holds: [hold('a', 'ada')] }
  expect(await declare(project, other)).toMatchObject(refused)
  expect((await declare(project, { managed_by: { ...resource(), uid: 'restored' } })).status).toBe(
    200,
  )
  const took = await declare(project, { ...other, take_over: true })
  expect(took).toMatchObject({
    ...{ status: 200 },
    body: { managed_by: resource('other'), legal_holds: [{ name: 'a', value: 'ada' }] },
  })
  // Values that it does not declare stay held, without an owner: the resource that declared them is
  // gone.
  expect(await listHolds(project)).toMatchObject([
    { value: 'bob', managed_by: null, name: null },
    { value: 'ada', managed_by: resource('other'), name: 'a' },
  ])
  expect(await declare(project)).toMatchObject(refused)
})

test('only an operator acts for resources, and it acts for nothing else', async () => {
  const project = await api.newProject()
  const own = { days: {} }
  for (const [more, pointers] of [
    [{ managed_by: resource() }, ['/managed_by']],
    [{ legal_holds: [] }, ['/legal_holds']],
    [{ take_over: true }, ['/take_over']],
  ] as const) {
    const put = await api.call('PUT', path, project, { body: { ...own, ...more } })
    expect(put).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    const { errors } = put.body as { errors: { pointer: string }[] }
    expect(errors.map(({ pointer }) => pointer)).toEqual(pointers)
  }
  const headers = operatorOf(project)
  expect((await api.call('PUT', path, project, { headers, body: own })).status).toBe(400)
  expect((await withdraw(project, '')).status).toBe(400)
  expect((await withdraw(project, 'managed_by=nobody')).status).toBe(400)
  expect((await api.call('DELETE', `${path}?${inQuery()}`, project)).status).toBe(400)
  expect((await api.call('DELETE', `${path}?retain=true`, project)).status).toBe(400)
  expect((await api.call('GET', '/legal-holds', project, { headers })).status).toBe(403)
  expect((await api.call('GET', path, project)).body['version']).toBe(0)
})

test('a person resets to the default, but not from another version than they saw', async () => {
  const project = await api.newProject()
  await api.call('PUT', path, project, { body: { days: { observations: 3 } } })
  const drop = (match?: string) =>
    api.call('DELETE', path, project, {
      headers: { ...tokenOf('admin', project), ...(match && { 'if-match': match }) },
    })
  expect((await api.call('DELETE', path, project, { headers: {} })).status).toBe(401)
  const viewer = { headers: tokenOf('viewer', project) }
  expect((await api.call('DELETE', path, project, viewer)).status).toBe(403)
  expect(await drop('"7"')).toMatchObject({ status: 412, body: { code: 'precondition_failed' } })
  const dropped = await drop('"1"')
  expect(dropped).toMatchObject({
    ...{ status: 200, etag: '"0"' },
    body: { version: 0, days: { observations: null }, next_run_at: null },
  })
  expect((await api.call('GET', path, project)).body).toEqual(dropped.body)
  expect((await drop()).status).toBe(200)
})

test('holds of a resource are placed, changed and released with it', async () => {
  const project = await api.newProject()
  const trace_id = newId()
  const first = await declare(project, {
    legal_holds: [
      hold('a', 'ada'),
      hold('b', trace_id.replaceAll('-', '').toUpperCase(), { kind: 'trace' }),
      hold('c', 'run-1', { kind: 'task' }),
    ],
  })
  expect(first.body).toMatchObject({
    held_count: 3,
    legal_holds: [
      { name: 'a', kind: 'user', value: 'ada', reason: 'case of a' },
      { name: 'b', kind: 'trace', value: trace_id },
      { name: 'c', kind: 'task', value: 'run-1' },
    ],
  })
  const before = await listHolds(project)
  const second = await declare(project, {
    legal_holds: [hold('a', 'ada', { reason: 'another' }), hold('b', 'bob')],
  })
  expect(second.body).toMatchObject({
    held_count: 2,
    legal_holds: [
      { name: 'a', value: 'ada', reason: 'another' },
      { name: 'b', kind: 'user', value: 'bob' },
    ],
  })
  const idOf = (body: Record<string, unknown>) =>
    (body['legal_holds'] as { hold_id: string }[]).map(({ hold_id }) => hold_id)
  expect(idOf(second.body)[0]).toBe(idOf(first.body)[0])
  expect(idOf(second.body)[1]).not.toBe(idOf(first.body)[1])
  // Each record shows what was held when.
  const all = await listHolds(project, true)
  expect(all).toHaveLength(4)
  expect(all.filter(({ released_at }) => released_at !== null)).toMatchObject([
    { value: 'run-1', released_by: 'operator:operator-1' },
    { value: trace_id, released_by: 'operator:operator-1' },
  ])
  // Repeating it changes nothing, and omitted fields stay.
  await declare(project, {
    legal_holds: [hold('a', 'ada', { reason: 'another' }), hold('b', 'bob')],
  })
  await declare(project)
  expect(await listHolds(project, true)).toEqual(all)
  expect(before).toHaveLength(3)
})

test('only the resource releases its hold, and a person’s own hold exists beside it', async () => {
  const project = await api.newProject()
  const declared = await declare(project, { legal_holds: [hold('a', 'ada')] })
  const [{ hold_id } = { hold_id: '' }] = declared.body['legal_holds'] as { hold_id: string }[]
  const release = await api.call('DELETE', `/legal-holds/${hold_id}`, project)
  expect(release).toMatchObject(refused)
  expect(release.body['detail']).toContain('RetentionPolicy team-a/default')
  const body = { kind: 'user', value: 'ada', reason: 'my own' }
  const own = await api.call('POST', '/legal-holds', project, { body })
  expect(own).toMatchObject({ status: 201, body: { managed_by: null, name: null } })
  expect((await api.call('POST', '/legal-holds', project, { body })).status).toBe(200)
  // Both are recorded, and their data is held once.
  expect((await api.call('GET', path, project)).body['held_count']).toBe(1)
  expect(await listHolds(project)).toHaveLength(2)
  await declare(project, { legal_holds: [] })
  expect((await api.call('GET', path, project)).body['held_count']).toBe(1)
  const left = await listHolds(project)
  expect(left).toMatchObject([{ hold_id: own.body['hold_id'] }])
  expect((await api.call('DELETE', `/legal-holds/${own.body['hold_id']}`, project)).status).toBe(
    200,
  )
  // A released hold stays as it was, also for a repeated request.
  expect((await api.call('DELETE', `/legal-holds/${hold_id}`, project)).status).toBe(200)
})

test('data is held once in a run, by any number of holds', async () => {
  const project = await api.newProject()
  await api.seed(project, {
    observations: [
      { trace_id: newId(), observation_id: 'a', user_id: 'ada', start_time: 1n },
      { trace_id: newId(), observation_id: 'b', user_id: 'bob', start_time: 1n },
    ],
  })
  await declare(project, { legal_holds: [hold('a', 'ada'), hold('again', 'ada')] })
  await api.call('POST', '/legal-holds', project, {
    body: { kind: 'user', value: 'ada', reason: 'my own' },
  })
  const run = await api.run(project)
  expect(run['result']).toMatchObject({ deleted_rows: 1, held_rows: 1 })
  const { body } = await api.call('GET', path, project)
  expect(body).toMatchObject({
    ...{ held_count: 1, deleted_rows: 1 },
    last_run: { job_id: run['job_id'], state: 'succeeded', deleted_rows: 1 },
  })
  expect(body['deleted_bytes']).toBe((body['last_run'] as { deleted_bytes: number }).deleted_bytes)
})

test('a deleted resource removes its policy and holds, and only its own', async () => {
  const project = await api.newProject()
  await declare(project, { legal_holds: [hold('a', 'ada')] })
  expect(await withdraw(project, inQuery('other'))).toMatchObject(refused)
  expect((await api.call('GET', path, project)).body['version']).toBe(1)
  expect(await withdraw(project, inQuery())).toMatchObject({
    ...{ status: 200 },
    body: { version: 0, managed_by: null, held_count: 0, legal_holds: [] },
  })
  expect((await withdraw(project, inQuery())).status).toBe(200)
  // A policy that a person has set since is not affected.
  await api.call('PUT', path, project, { body: { days: { observations: 9 } } })
  expect(await withdraw(project, inQuery())).toMatchObject({
    ...{ status: 200, body: { version: 1, days: { observations: 9 } } },
  })
})

test('holds are removed with their resource also if another owns the policy now', async () => {
  const project = await api.newProject()
  await declare(project, { legal_holds: [hold('a', 'ada')] })
  await api.db
    .updateTable('retention_policies')
    .set({ managed_by: JSON.stringify(resource('other')) })
    .where('project_id', '=', project)
    .execute()
  expect(await withdraw(project, inQuery())).toMatchObject(refused)
  expect(await listHolds(project)).toEqual([])
})

test('with retain policy and holds stay, each hold once, and anyone may change them', async () => {
  const project = await api.newProject()
  const own = { kind: 'user', value: 'ada', reason: 'my own' }
  await api.call('POST', '/legal-holds', project, { body: own })
  const holding = [hold('a', 'ada'), hold('b', 'bob'), hold('again', 'bob')]
  await declare(project, { legal_holds: holding })
  expect(await listHolds(project)).toHaveLength(4)
  for (const version of [2, 2]) {
    expect(await withdraw(project, `${inQuery()}&retain=true`)).toMatchObject({
      ...{ status: 200 },
      body: { managed_by: null, days: { observations: 30 }, version, held_count: 2 },
    })
  }
  const left = await listHolds(project)
  expect(left).toMatchObject([
    { value: 'bob', managed_by: null, name: null },
    { value: 'ada', reason: 'my own', managed_by: null },
  ])
  for (const { hold_id } of left) {
    expect((await api.call('DELETE', `/legal-holds/${hold_id}`, project)).status).toBe(200)
  }
  expect((await api.call('PUT', path, project, { body: { days: {} } })).status).toBe(200)
})

test.each([
  ['a name twice', { legal_holds: [hold('a', 'x'), hold('a', 'y')] }, '/legal_holds/1/name'],
  ['an invalid name', { legal_holds: [hold('A b', 'x')] }, '/legal_holds/0/name'],
  [
    'an invalid trace',
    { legal_holds: [hold('a', 'x', { kind: 'trace' })] },
    '/legal_holds/0/value',
  ],
  ['no reason', { legal_holds: [hold('a', 'x', { reason: '' })] }, '/legal_holds/0/reason'],
  [
    '101 holds',
    { legal_holds: Array.from({ length: 101 }, (_, at) => hold(`h${at}`, 'x')) },
    '/legal_holds',
  ],
  ['half a resource', { managed_by: { kind: 'RetentionPolicy' } }, '/managed_by/namespace'],
  ['an archive of no days', { archive: { schedule: '0 4 * * *' } }, '/archive/after_days'],
  ['an archive after 0 days', { archive: { after_days: 0 } }, '/archive/after_days'],
  [
    'an invalid cron schedule',
    { archive: { after_days: 7, schedule: 'daily' } },
    '/archive/schedule',
  ],
  [
    'a schedule of every minute',
    { archive: { after_days: 7, schedule: '* * * * *' } },
    '/archive/schedule',
  ],
  [
    'a schedule that never comes',
    { archive: { after_days: 7, schedule: '0 0 30 2 *' } },
    '/archive/schedule',
  ],
])('%s is refused with a pointer', async (_, more, pointer) => {
  const put = await declare(await api.newProject(), more)
  expect(put).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  const { errors } = put.body as { errors: { pointer: string }[] }
  expect(errors.map((fault) => fault.pointer)).toContain(pointer)
})

test('the limit of holds is the same for a resource as for people', async () => {
  const project = await api.newProject()
  const rows = Array.from({ length: 999 }, (_, at) => ({
    ...{ id: newId(), project_id: project, kind: 'task' as const, value: `t${at}`, reason: 'x' },
    ...{ created_at: new Date(), created_by: 'user:1' },
  }))
  await api.db.insertInto('legal_holds').values(rows).execute()
  const both = { legal_holds: [hold('a', 'ada'), hold('b', 'bob')] }
  expect(await declare(project, both)).toMatchObject({
    ...{ status: 409, body: { code: 'too_many_holds' } },
  })
  // Nothing of it is done: neither the policy nor a hold.
  expect((await api.call('GET', path, project)).body).toMatchObject({ version: 0, held_count: 999 })
  expect((await declare(project, { legal_holds: [hold('a', 'ada')] })).status).toBe(200)
  const body = { kind: 'user', value: 'eve', reason: 'one more' }
  expect((await api.call('POST', '/legal-holds', project, { body })).status).toBe(409)
})

test('many concurrent requests leave one policy and each hold once', async () => {
  const project = await api.newProject()
  const legal_holds = ['a', 'b', 'c'].map((name) => hold(name, `user ${name}`))
  const replies = await Promise.all(
    Array.from({ length: 8 }, () => declare(project, { legal_holds })),
  )
  expect(replies.map(({ status }) => status)).toEqual(Array(8).fill(200))
  expect(await listHolds(project, true)).toHaveLength(3)
  const takeOvers = await Promise.all(
    Array.from({ length: 4 }, (_, at) =>
      declare(project, { managed_by: resource(`r${at}`), take_over: true, legal_holds }),
    ),
  )
  expect(takeOvers.map(({ status }) => status)).toEqual(Array(4).fill(200))
  expect(await listHolds(project)).toHaveLength(3)
  const { body } = await api.call('GET', path, project)
  expect(body['legal_holds']).toHaveLength(3)
})
