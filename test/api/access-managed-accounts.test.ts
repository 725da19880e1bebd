import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AccessApp, outcome, startAccessApp } from '../support/access-app.ts'

const root = '/api/v2/access'
const stranger = '01890000-0000-7000-8000-000000000000'
let app: AccessApp
let owner: string
let project: string

beforeAll(async () => {
  app = await startAccessApp()
  owner = await app.signIn(app.first.admin_email, app.first.admin_password)
  project = app.first.project_id
})

afterAll(() => app.close())

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
const person = (method: Method, url: string, body?: unknown) =>
  app.call(method, `${root}${url}`, { token: owner, body })
const operator = (method: Method, url: string, body?: unknown, project_id = project) =>
  app.call(method, `${root}${url}`, {
    key: app.operator_key,
    body,
    headers: { 'x-project-id': project_id },
  })
const resource = (name: string) => ({
  kind: 'LooptraceServiceAccount',
  namespace: 'team',
  name,
  uid: `uid of ${name}`,
})
const query = (name: string) => `managed_by=LooptraceServiceAccount/team/${name}`
const scopes = ['tasks:read', 'query:run']
const declare = (name: string, more: object = {}) =>
  operator('POST', '/service-accounts', { name, scopes, managed_by: resource(name), ...more })
/** An account that a resource of its name declares, and a key of it. */
async function declared(name: string) {
  const { body: account } = await declare(name)
  const body = { managed_by: resource(name), name: 'main' }
  const minted = await operator('POST', `/service-accounts/${account.id}/keys`, body)
  expect(minted.status).toBe(201)
  return { account, minted: minted.body, keys: `/projects/${project}/api-keys/${minted.body.id}` }
}
const probe = (key: string) => app.call('GET', '/probe/either', { key })

test('a resource declares one account, however often it asks', async () => {
  const first = await declare('once')
  expect(first.status).toBe(201)
  expect(first.body).toMatchObject({ managed_by: resource('once'), created_by: null })
  const again = await declare('once', { name: 'another name', scopes: [] })
  expect([again.status, again.body]).toEqual([200, first.body])
  const all = await Promise.all(Array.from({ length: 5 }, () => declare('at-once')))
  expect(new Set(all.map(({ body }) => body.id)).size).toBe(1)
  expect(all.filter(({ status }) => status === 201)).toHaveLength(1)
  const found = await operator('GET', `/service-accounts?${query('once')}`)
  expect(found.body).toMatchObject({ service_accounts: [first.body], total: 1 })
  const none = await operator('GET', `/service-accounts?${query('nobody')}`)
  expect(none.body.service_accounts).toEqual([])
})

test('its name is refused if another account has it', async () => {
  await person('POST', '/service-accounts', { name: 'taken', scopes })
  expect(outcome(await declare('taken'))).toEqual([409, 'name_taken'])
})

test('only the resource changes it or its keys', async () => {
  const { account, minted, keys } = await declared('own')
  const at = `/service-accounts/${account.id}`
  const wish = { name: 'mine', scopes }
  const managed_by = resource('other')
  const refused = [
    await person('PUT', at, wish),
    await person('DELETE', at),
    await person('POST', `${at}/disable`),
    await person('POST', `${at}/enable`),
    await person('POST', `${at}/keys`, {}),
    await person('POST', `${keys}/revoke`),
    await person('POST', `${keys}/rotate`),
    await person('POST', `${keys}/scopes`, { scopes }),
    await operator('PUT', at, { ...wish, managed_by }),
    await operator('DELETE', `${at}?${query('other')}`),
    await operator('DELETE', `${at}?${query('other')}&retain=true`),
    await operator('POST', `${at}/keys`, { managed_by }),
    await operator('POST', `${keys}/revoke`, { managed_by }),
    await operator('POST', `${keys}/scopes`, { scopes, managed_by }),
  ]
  for (const reply of refused) {
    expect(outcome(reply)).toEqual([409, 'managed_by_kubernetes'])
    expect(reply.body.detail).toContain('LooptraceServiceAccount team/own')
  }
  expect((await person('GET', at)).body).toEqual(account)
  expect((await probe(minted.key)).status).toBe(200)
})

test('only an operator names a resource', async () => {
  const { account, keys } = await declared('said')
  const at = `/service-accounts/${account.id}`
  const managed_by = resource('said')
  const wish = { name: 'said', scopes }
  for (const reply of [
    await operator('POST', '/service-accounts', { name: 'free', scopes }),
    await operator('PUT', at, wish),
    await operator('PUT', at, { ...wish, take_over: true }),
    await operator('DELETE', at),
    await operator('DELETE', `${at}?managed_by=robot`),
    await operator('POST', `${at}/keys`, {}),
    await operator('POST', `${keys}/revoke`),
    await operator('POST', `${keys}/scopes`, { scopes }),
    await person('POST', '/service-accounts', { ...wish, managed_by }),
    await person('PUT', at, { ...wish, managed_by }),
    await person('PUT', at, { ...wish, take_over: true }),
    await person('DELETE', `${at}?${query('said')}`),
    await person('DELETE', `${at}?retain=true`),
    await person('POST', `${at}/keys`, { managed_by }),
    await person('POST', `${keys}/revoke`, { managed_by }),
  ]) {
    expect(outcome(reply)).toEqual([400, 'invalid_request'])
  }
})

test('an operator leaves accounts without a resource unchanged', async () => {
  const { body: account } = await person('POST', '/service-accounts', { name: 'free', scopes })
  const at = `/service-accounts/${account.id}`
  const { body: key } = await person('POST', `${at}/keys`, {})
  const { body: other } = await person('POST', `/projects/${project}/api-keys`, { name: 'k' })
  const managed_by = resource('free')
  for (const reply of [
    await operator('DELETE', `${at}?${query('free')}`),
    await operator('POST', `${at}/keys`, { managed_by }),
    await operator('POST', `/projects/${project}/api-keys/${key.id}/revoke`, { managed_by }),
    await operator('POST', `/projects/${project}/api-keys/${other.id}/revoke`, { managed_by }),
  ]) {
    expect(outcome(reply)).toEqual([403, 'permission_denied'])
  }
  const adopted = await operator('PUT', at, { name: 'free', scopes, managed_by })
  expect(adopted.body).toMatchObject({ id: account.id, managed_by })
  expect(outcome(await person('DELETE', at))).toEqual([409, 'managed_by_kubernetes'])
})

test('another resource takes it over on request, and declares no second one', async () => {
  const { account } = await declared('before')
  const at = `/service-accounts/${account.id}`
  const body = { name: 'after', scopes, managed_by: resource('after') }
  expect(outcome(await operator('PUT', at, body))).toEqual([409, 'managed_by_kubernetes'])
  const taken = await operator('PUT', at, { ...body, take_over: true })
  expect(taken.body).toMatchObject({ id: account.id, managed_by: resource('after') })
  const renewed = { ...resource('after'), uid: 'of a backup' }
  const same = await operator('PUT', at, { ...body, managed_by: renewed })
  expect(same.body.managed_by).toEqual(renewed)
  const { account: second } = await declared('second')
  const both = { ...body, name: 'second', managed_by: resource('after'), take_over: true }
  const twice = await operator('PUT', `/service-accounts/${second.id}`, both)
  expect(outcome(twice)).toEqual([409, 'name_taken'])
})

test('its keys lose the scopes that it loses at once, and are given the scopes that it gains', async () => {
  const { account, minted, keys } = await declared('scoped')
  const managed_by = resource('scoped')
  const at = `/service-accounts/${account.id}`
  const put = (more: object) => operator('PUT', at, { name: 'scoped', managed_by, ...more })
  const shown = async () => (await operator('GET', `${at}/keys`)).body.api_keys[0].scopes
  expect((await probe(minted.key)).status).toBe(200)
  await put({ scopes: ['query:run'] })
  expect(await shown()).toEqual(['query:run'])
  expect((await probe(minted.key)).status).toBe(403)
  await put({ scopes: ['query:run', 'tasks:read'] })
  expect(await shown()).toEqual(['query:run'])
  const beyond = { scopes: ['tasks:write'], managed_by }
  expect(outcome(await operator('POST', `${keys}/scopes`, beyond))).toEqual([
    400,
    'invalid_request',
  ])
  const given = { scopes: ['query:run', 'tasks:read'], managed_by }
  await operator('POST', `${keys}/scopes`, given)
  expect((await probe(minted.key)).status).toBe(200)
})

test('disabled, its keys and tokens are refused until it is enabled', async () => {
  const { body: account } = await person('POST', '/service-accounts', { name: 'sleepy', scopes })
  const at = `/service-accounts/${account.id}`
  const { key } = (await person('POST', `${at}/keys`, {})).body
  const grant = { grant_type: 'client_credentials', client_secret: key }
  const { body } = await app.call('POST', '/api/v1/auth/token', { body: grant })
  const byToken = () => app.call('GET', '/probe/either', { token: body.access_token })
  expect([(await probe(key)).status, (await byToken()).status]).toEqual([200, 200])
  const disabled = await person('POST', `${at}/disable`)
  expect(disabled.body.disabled_at).not.toBeNull()
  expect([(await probe(key)).status, (await byToken()).status]).toEqual([401, 401])
  expect((await person('POST', `${at}/disable`)).body).toEqual(disabled.body)
  expect((await person('POST', `${at}/enable`)).body.disabled_at).toBeNull()
  expect([(await probe(key)).status, (await byToken()).status]).toEqual([200, 200])
  const put = await person('PUT', at, { name: 'awake', scopes, disabled: true })
  expect(put.body).toMatchObject({ name: 'awake', disabled_at: expect.any(String) })
  expect((await probe(key)).status).toBe(401)
  await person('POST', '/service-accounts', { name: 'neighbour', scopes })
  const taken = await person('PUT', at, { name: 'neighbour', scopes })
  expect(outcome(taken)).toEqual([409, 'name_taken'])
})

test('its keys are listed, optionally only valid ones, with their fingerprint', async () => {
  const { account, minted, keys } = await declared('listed')
  const managed_by = resource('listed')
  const list = (live: boolean) =>
    operator('GET', `/service-accounts/${account.id}/keys${live ? '?live=true' : ''}`)
  const { createHash } = await import('node:crypto')
  const sum = createHash('sha256').update(minted.key).digest('hex').slice(0, 16)
  expect((await list(true)).body).toMatchObject({
    api_keys: [{ id: minted.id, prefix: minted.prefix, fingerprint: sum, created_by: null }],
    total: 1,
  })
  expect(JSON.stringify((await list(true)).body)).not.toContain(minted.key.slice(-32))
  const ends_at = new Date(app.clock.now_ms() + 60_000).toISOString()
  const ended = await operator('POST', `${keys}/revoke`, { managed_by, at: ends_at })
  expect(ended.body).toMatchObject({ expires_at: ends_at, revoked_at: null })
  const later = new Date(app.clock.now_ms() + 120_000).toISOString()
  const kept = await operator('POST', `${keys}/revoke`, { managed_by, at: later })
  expect(kept.body.expires_at).toBe(ends_at)
  expect((await probe(minted.key)).status).toBe(200)
  app.clock.ahead_ms += 61_000
  expect((await probe(minted.key)).status).toBe(401)
  expect((await list(true)).body.api_keys).toEqual([])
  expect((await list(false)).body.api_keys).toHaveLength(1)
  const past = { managed_by, at: '2026-01-01T00:00:00Z' }
  expect((await operator('POST', `${keys}/revoke`, past)).body.revoked_at).not.toBeNull()
})

test('deleted by its resource it is gone; retained it can be changed by anyone', async () => {
  const gone = await declared('gone')
  const done = await operator('DELETE', `/service-accounts/${gone.account.id}?${query('gone')}`)
  expect(done.status).toBe(204)
  expect((await probe(gone.minted.key)).status).toBe(401)
  const again = await operator('DELETE', `/service-accounts/${gone.account.id}?${query('gone')}`)
  expect(outcome(again)).toEqual([404, 'service_account_not_found'])
  const left = await declared('left')
  const at = `/service-accounts/${left.account.id}`
  expect((await operator('DELETE', `${at}?${query('left')}&retain=true`)).status).toBe(204)
  expect((await person('GET', at)).body).toEqual({
    ...left.account,
    ...{ managed_by: null, version: left.account.version + 1 },
  })
  expect((await probe(left.minted.key)).status).toBe(200)
  expect((await person('DELETE', at)).status).toBe(204)
})

test('an operator lists the accounts with a live key of its installation, in all projects', async () => {
  const installation = '5b1f0c2e-3a55-5d0b-9c0e-2f6f2e1f6b7a'
  const path = `/installations/${installation}/service-accounts`
  const made = async (name: string, of: string) => {
    const managed_by = { ...resource(name), installation: of, cluster: 'c' }
    const { body: account } = await declare(name, { managed_by })
    const wish = { managed_by, name: 'main' }
    const { body } = await operator('POST', `/service-accounts/${account.id}/keys`, wish)
    return { managed_by, key_id: body.id }
  }
  const names = async (url = path) => {
    const { body } = await operator('GET', url)
    return body.service_accounts.map(({ name }: { name: string }) => name).sort()
  }
  const live = await made('swept-1', installation)
  await made('swept-2', installation)
  await declare('keyless', { managed_by: { ...resource('keyless'), installation } })
  await made('elsewhere', stranger)
  await declared('of-an-earlier-version')
  expect(await names()).toEqual(['swept-1', 'swept-2'])
  const first = await operator('GET', `${path}?limit=1`)
  expect(first.body).toMatchObject({
    service_accounts: [{ name: 'swept-1', project_id: project, managed_by: { installation } }],
    total: 2,
  })
  expect(await names(`${path}?cursor=${first.body.next_cursor}`)).toEqual(['swept-2'])
  await operator('POST', `/projects/${project}/api-keys/${live.key_id}/revoke`, {
    managed_by: live.managed_by,
  })
  expect(await names()).toEqual(['swept-2'])
  expect(outcome(await person('GET', path))).toEqual([403, 'permission_denied'])
  const { key } = (await person('POST', `/projects/${project}/api-keys`, { name: 'k', scopes }))
    .body
  expect((await app.call('GET', root + path, { key })).status).toBe(401)
})

test('an account of another project is not found', async () => {
  const { account } = await declared('here')
  const { body: organization } = await person('POST', '/organizations', { name: 'elsewhere' })
  const made = await person('POST', `/organizations/${organization.id}/projects`, { name: 'x' })
  const managed_by = resource('here')
  const wish = { name: 'here', scopes, managed_by }
  for (const id of [account.id, stranger]) {
    const at = `/service-accounts/${id}`
    for (const reply of [
      await operator('GET', at, undefined, made.body.id),
      await operator('PUT', at, wish, made.body.id),
      await operator('DELETE', `${at}?${query('here')}`, undefined, made.body.id),
      await operator('GET', `${at}/keys`, undefined, made.body.id),
      await operator('POST', `${at}/keys`, { managed_by }, made.body.id),
    ]) {
      expect(outcome(reply)).toEqual([404, 'service_account_not_found'])
    }
  }
  // The same resource may declare an account in each of two projects.
  const other = await operator('POST', '/service-accounts', wish, made.body.id)
  expect(other.status).toBe(201)
  expect(other.body.id).not.toBe(account.id)
})
