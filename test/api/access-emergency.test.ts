import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AccessApp, outcome, startAccessApp } from '../support/access-app.ts'

const root = '/api/v2/access'
let app: AccessApp
let owner: string
let project: string
/** Tokens of people with a role in the project, and of an admin of another project. */
let people: Record<'admin' | 'editor' | 'viewer' | 'stranger', string>

beforeAll(async () => {
  app = await startAccessApp()
  owner = await app.signIn(app.first.admin_email, app.first.admin_password)
  project = app.first.project_id
  people = await addPeople()
})
afterAll(() => app.close())

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
const person = (method: Method, url: string, body?: unknown, token = owner) =>
  app.call(method, `${root}${url}`, { token, body, headers: { 'x-project-id': project } })
const operator = (method: Method, url: string, body?: unknown) =>
  app.call(method, `${root}${url}`, {
    key: app.operator_key,
    body,
    headers: { 'x-project-id': project },
  })
const probe = async (key: string) => (await app.call('GET', '/probe/either', { key })).status
const scopes = ['tasks:read', 'query:run']
const resource = (name: string, more: object = {}) => ({
  ...{ kind: 'LooptraceServiceAccount', namespace: 'team', name, uid: `uid-of-${name}` },
  ...more,
})

async function addPeople() {
  const { body: other } = await person('POST', '/organizations', { name: 'others' })
  const made = await person('POST', `/organizations/${other.id}/projects`, { name: 'theirs' })
  const add = async (name: string, role?: string) => {
    const organization = role === undefined ? other.id : app.first.organization_id
    const { user_id, token } = await app.person(`${name}@example.com`, 'member', organization)
    const at = role === undefined ? made.body.id : project
    const set = await person('PUT', `/projects/${at}/members/${user_id}`, { role: role ?? 'admin' })
    expect(set.status).toBeLessThan(300)
    return token
  }
  return {
    admin: await add('admin-of-project', 'admin'),
    editor: await add('editor', 'editor'),
    viewer: await add('viewer', 'viewer'),
    stranger: await add('stranger'),
  }
}

/** An account that a resource of its name declares, with a key. */
async function declared(name: string) {
  const managed_by = resource(name)
  const { body: account } = await operator('POST', '/service-accounts', {
    name,
    scopes,
    managed_by,
  })
  const minted = await operator('POST', `/service-accounts/${account.id}/keys`, {
    ...{ managed_by, name: 'main' },
  })
  expect(minted.status).toBe(201)
  const at = `/service-accounts/${account.id}`
  const keyAt = `/projects/${project}/api-keys/${minted.body.id}`
  return { account, managed_by, at, keyAt, id: minted.body.id, key: minted.body.key }
}

const emergency = { emergency: true, reason: 'found in a public repository' }

test('an account has at most two live keys of one name, for every caller', async () => {
  const { at, managed_by } = await declared('capped')
  const mint = (more: object = {}) =>
    operator('POST', `${at}/keys`, { managed_by, name: 'main', ...more })
  expect((await mint()).status).toBe(201)
  const third = await mint()
  expect(outcome(third)).toEqual([409, 'key_limit_reached'])
  expect(third.body.detail).toContain('"main"')
  expect((await mint({ name: 'other' })).status).toBe(201)
  const { body: mine } = await person('POST', '/service-accounts', { name: 'mine', scopes })
  const own = () => person('POST', `/service-accounts/${mine.id}/keys`, { name: 'ci' })
  const first = await own()
  await own()
  expect(outcome(await own())).toEqual([409, 'key_limit_reached'])
  const rotate = `/projects/${project}/api-keys/${first.body.id}/rotate`
  expect(outcome(await person('POST', rotate, { overlap_seconds: 60 }))).toEqual([
    ...[409, 'key_limit_reached'],
  ])
  // Refused, the rotation left the old key as it was.
  expect(await probe(first.body.key)).toBe(200)
  const rotated = await person('POST', rotate, {})
  expect(rotated.status).toBe(201)
  expect(await probe(first.body.key)).toBe(401)
})

test('of many calls at once two get a key', async () => {
  const { body: account } = await person('POST', '/service-accounts', { name: 'rush', scopes })
  const calls = Array.from({ length: 12 }, () =>
    person('POST', `/service-accounts/${account.id}/keys`, { name: 'one' }),
  )
  const statuses = (await Promise.all(calls)).map(({ status }) => status).toSorted()
  expect(statuses).toEqual([201, 201, ...Array(10).fill(409)])
})

test('a resource names keys as Kubernetes names them', async () => {
  const { at, managed_by } = await declared('named')
  for (const name of ['Main', 'a..b', 'a_b', '-a', 'a'.repeat(64)]) {
    const reply = await operator('POST', `${at}/keys`, { managed_by, name })
    expect([name, ...outcome(reply)]).toEqual([name, 400, 'invalid_request'])
  }
  for (const bad of [{ name: 'a..b' }, { namespace: 'a.b' }, { kind: 'A B' }]) {
    const body = { name: 'x', scopes, managed_by: resource('x', bad) }
    expect(outcome(await operator('POST', '/service-accounts', body))).toEqual([
      ...[400, 'invalid_request'],
    ])
  }
})

test('a resource declares no account without scopes', async () => {
  const body = { name: 'empty', scopes: [], managed_by: resource('empty') }
  const refused = await operator('POST', '/service-accounts', body)
  expect(outcome(refused)).toEqual([400, 'invalid_request'])
  expect(refused.body.detail).toContain('expected at least one scope')
})

test('an emergency revokes a key of a resource at once, and suspends its account', async () => {
  const { at, keyAt, key, managed_by, account } = await declared('leaked')
  expect(await probe(key)).toBe(200)
  const plain = await person('POST', `${keyAt}/revoke`, {}, people.admin)
  expect(outcome(plain)).toEqual([409, 'managed_by_kubernetes'])
  const silent = await person('POST', `${keyAt}/revoke`, { emergency: true }, people.admin)
  expect(outcome(silent)).toEqual([400, 'invalid_request'])
  const done = await person('POST', `${keyAt}/revoke`, emergency, people.admin)
  expect([done.status, done.body.revoked_at]).toEqual([200, expect.any(String)])
  expect(await probe(key)).toBe(401)
  const { body: suspended } = await operator('GET', at)
  expect(suspended).toMatchObject({
    ...{ id: account.id, suspended_at: expect.any(String), suspended_reason: emergency.reason },
    suspended_by: expect.stringMatching(/^[0-9a-f-]{36}$/),
  })
  for (const reply of [
    await operator('POST', `${at}/keys`, { managed_by, name: 'main' }),
    await person('POST', `${at}/keys`, {}),
    await operator('POST', `${keyAt}/scopes`, { managed_by, scopes: ['tasks:read'] }),
  ]) {
    expect(reply.status).toBe(409)
  }
  const refused = await operator('POST', `${at}/keys`, { managed_by, name: 'main' })
  expect(outcome(refused)).toEqual([409, 'service_account_suspended'])
  expect(refused.body.detail).toContain(emergency.reason)
})

test('a suspended account is resumed by a project admin, or by its resource with a reason', async () => {
  for (const [name, resume] of [
    ['by-admin', (at: string) => person('POST', `${at}/resume`, { reason: 'clean' }, people.admin)],
    [
      'by-resource',
      (at: string) =>
        operator('POST', `${at}/resume`, { reason: 'clean', managed_by: resource('by-resource') }),
    ],
  ] as const) {
    const { at, keyAt, managed_by } = await declared(name)
    await person('POST', `${keyAt}/revoke`, emergency)
    for (const reply of [
      await person('POST', `${at}/resume`, { reason: 'x' }, people.editor),
      await person('POST', `${at}/resume`, { reason: 'x' }, people.viewer),
      await person('POST', `${at}/resume`, { reason: 'x' }, people.stranger),
      await operator('POST', `${at}/resume`, { reason: 'x', managed_by: resource('another') }),
      await person('POST', `${at}/resume`, {}),
    ]) {
      expect(reply.status).toBeGreaterThanOrEqual(400)
    }
    expect((await operator('GET', at)).body.suspended_at).not.toBeNull()
    const resumed = await resume(at)
    expect(resumed.body).toMatchObject({ suspended_at: null, suspended_by: null })
    const minted = await operator('POST', `${at}/keys`, { managed_by, name: 'main' })
    expect(minted.status).toBe(201)
  }
  const rows = await app.access.db.selectFrom('access_emergencies').selectAll().execute()
  const actions = rows.map(({ action, actor, reason }) => [action, actor, reason])
  expect(actions).toContainEqual(['resume', 'LooptraceServiceAccount/team/by-resource', 'clean'])
  expect(rows.every(({ occurred_at }) => Date.parse(occurred_at) > 0)).toBe(true)
})

test('an editor, a viewer, another admin, a key and the operator can not revoke in an emergency', async () => {
  const { keyAt, key, managed_by } = await declared('wanted')
  const other = await declared('other')
  const attempts = [
    await person('POST', `${keyAt}/revoke`, emergency, people.editor),
    await person('POST', `${keyAt}/revoke`, emergency, people.viewer),
    await person('POST', `${keyAt}/revoke`, emergency, people.stranger),
    await app.call('POST', `${root}${keyAt}/revoke`, { key: other.key, body: emergency }),
    await operator('POST', `${keyAt}/revoke`, emergency),
    await operator('POST', `${keyAt}/revoke`, { ...emergency, managed_by }),
    await operator('POST', `${keyAt}/revoke`, { ...emergency, managed_by: other.managed_by }),
  ]
  expect(attempts.map(({ status }) => status)).toEqual([403, 403, 404, 401, 403, 403, 403])
  expect(await probe(key)).toBe(200)
})

test('another installation never touches an account, not even by taking it over', async () => {
  const [one, two] = [
    '11111111-1111-4111-8111-111111111111',
    '22222222-2222-4222-8222-222222222222',
  ]
  const own = resource('shared', { installation: one, cluster: 'c1' })
  const made = await operator('POST', '/service-accounts', { name: 'a', scopes, managed_by: own })
  expect(made.body.managed_by).toEqual(own)
  const at = `/service-accounts/${made.body.id}`
  const query = 'managed_by=LooptraceServiceAccount/team/shared'
  for (const theirs of [resource('shared', { installation: two }), resource('shared')]) {
    const wish = { name: 'a', scopes: [], managed_by: theirs }
    for (const reply of [
      await operator('PUT', at, wish),
      await operator('PUT', at, { ...wish, take_over: true }),
      await operator('POST', `${at}/keys`, { managed_by: theirs, name: 'main' }),
      await operator('DELETE', `${at}?${query}`),
      await operator('DELETE', `${at}?${query}/${two}`),
    ]) {
      expect(outcome(reply)).toEqual([409, 'managed_by_kubernetes'])
    }
  }
  const second = await operator('POST', '/service-accounts', {
    ...{ name: 'b', scopes, managed_by: resource('shared', { installation: two }) },
  })
  expect([second.status, second.body.id === made.body.id]).toEqual([201, false])
  const found = await operator('GET', `/service-accounts?${query}/${two}`)
  expect(found.body.service_accounts.map(({ id }: { id: string }) => id)).toEqual([second.body.id])
  expect((await operator('DELETE', `${at}?${query}/${one}`)).status).toBe(204)
})

test('a released account is adopted by the same resource of the same installation only', async () => {
  const [one, two] = [
    '44444444-4444-4444-8444-444444444444',
    '55555555-5555-4555-8555-555555555555',
  ]
  const declare = (name: string, more: object = {}) => {
    const managed_by = resource('kept', { installation: one, uid: `uid-${name}`, ...more })
    return operator('POST', '/service-accounts', { name, scopes, managed_by })
  }
  const { body: account } = await declare('kept')
  const query = `managed_by=LooptraceServiceAccount/team/kept/${one}&retain=true`
  const release = () => operator('DELETE', `/service-accounts/${account.id}?${query}`)
  expect((await release()).status).toBe(204)
  for (const other of [
    { namespace: 'other' },
    { installation: two },
    { installation: undefined },
  ]) {
    expect(outcome(await declare('kept', other))).toEqual([409, 'name_taken'])
  }
  const again = await declare('kept', { uid: 'of-the-new-resource' })
  expect([again.status, again.body.id]).toEqual([200, account.id])
  expect(again.body.managed_by).toMatchObject({ uid: 'of-the-new-resource', installation: one })
  // A user who changes the released account keeps it.
  await release()
  const mine = await person('PUT', `/service-accounts/${account.id}`, { name: 'kept', scopes: [] })
  expect(mine.body).not.toHaveProperty('released_from')
  expect(outcome(await declare('kept'))).toEqual([409, 'name_taken'])
})

test('an account of an earlier version is adopted by the resource with its uid only', async () => {
  const installation = '33333333-3333-4333-8333-333333333333'
  const { account, at } = await declared('early')
  const restored = resource('early', { uid: 'another', installation })
  const wish = { name: 'early', scopes, managed_by: restored }
  expect(outcome(await operator('PUT', at, wish))).toEqual([409, 'managed_by_kubernetes'])
  const managed_by = resource('early', { installation })
  const again = await operator('POST', '/service-accounts', { name: 'e', scopes, managed_by })
  expect([again.status, again.body.id]).toEqual([200, account.id])
  const adopted = await operator('PUT', at, { ...wish, managed_by })
  expect(adopted.body.managed_by).toEqual(managed_by)
})
