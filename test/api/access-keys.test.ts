import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { defaultKeyScopes } from '../../src/kernel/scopes.ts'
import { type AccessApp, callsAs, outcome, startAccessApp } from '../support/access-app.ts'

const root = '/api/v2/access'
const stranger = '01890000-0000-7000-8000-000000000000'
let app: AccessApp
let owner: string
let keys: string
/** A project of another organization, with a key and a service account. */
let foreign: { project_id: string; key_id: string; account_id: string }

beforeAll(async () => {
  app = await startAccessApp()
  owner = await app.signIn(app.first.admin_email, app.first.admin_password)
  keys = `${root}/projects/${app.first.project_id}/api-keys`
  const { body: other } = await post(`${root}/organizations`, { name: 'other' })
  const { body: project } = await post(`${root}/organizations/${other.id}/projects`, { name: 'p' })
  const { body: key } = await post(`${root}/projects/${project.id}/api-keys`, { name: 'k' })
  const account = { name: 'a', scopes: [] }
  const made = await post(`${root}/service-accounts?project_id=${project.id}`, account)
  foreign = { project_id: project.id, key_id: key.id, account_id: made.body.id }
})
afterAll(() => app.close())

const { get, post } = callsAs(() => ({ app, token: owner }))

const works = async (key: string) => (await app.call('GET', '/probe/key', { key })).status
const newKey = async (body: object = {}) => (await post(keys, { name: 'a key', ...body })).body
const accountUrl = (id: string, rest = '') =>
  `${root}/service-accounts/${id}${rest}?project_id=${app.first.project_id}`

describe('project keys', () => {
  test('one is shown once, works, and is listed without its secret', async () => {
    const made = await post(keys, { name: 'ci' })
    expect(made.status).toBe(201)
    const { key, ...record } = made.body
    expect(record).toMatchObject({
      name: 'ci',
      project_id: app.first.project_id,
      service_account_id: null,
      scopes: defaultKeyScopes,
      expires_at: null,
      revoked_at: null,
    })
    expect(key.startsWith(`${record.prefix}_`)).toBe(true)
    expect(await works(key)).toBe(200)
    const listed = await get(keys)
    expect(listed.body.api_keys).toContainEqual(record)
    expect(listed.text).not.toContain(key.slice(-32))
  })

  test('one may have an environment, and its replacement keeps it', async () => {
    const { id, key, environment } = await newKey({ environment: 'staging' })
    expect(environment).toBe('staging')
    expect(await app.access.keys.authenticate(key)).toMatchObject({ environment: 'staging' })
    const { body: rotated } = await post(`${keys}/${id}/rotate`)
    expect(rotated.environment).toBe('staging')
    const other = await newKey()
    expect(other.environment).toBeNull()
    expect(await app.access.keys.authenticate(other.key)).not.toHaveProperty('environment')
  })

  test('a repeated call does not show the secret again', async () => {
    const headers = { 'idempotency-key': 'one-key' }
    const first = await post(keys, { name: 'once' }, { headers })
    const again = await post(keys, { name: 'once' }, { headers })
    expect(again.body).toEqual({ ...first.body, key: null })
  })

  test('an expired one is refused', async () => {
    const own = await startAccessApp()
    const token = await own.signIn(own.first.admin_email, own.first.admin_password)
    const expires_at = new Date(Date.now() + 60_000).toISOString()
    const made = await own.call('POST', `${root}/projects/${own.first.project_id}/api-keys`, {
      token,
      body: { name: 'short', expires_at },
    })
    const { key } = made.body
    expect((await own.call('GET', '/probe/key', { key })).status).toBe(200)
    own.clock.ahead_ms = 60_000
    expect((await own.call('GET', '/probe/key', { key })).status).toBe(401)
    await own.close()
  })

  test('a revoked one ends at once here and within 30 s elsewhere', async () => {
    const database_url = app.relational.pool.options.connectionString ?? ''
    const elsewhere = await startAccessApp({ database_url })
    const { id, key } = await newKey()
    const there = async () => (await elsewhere.call('GET', '/probe/key', { key })).status
    expect([await works(key), await there()]).toEqual([200, 200])
    const revoked = await post(`${keys}/${id}/revoke`)
    expect(revoked.body.revoked_at).toMatch(/Z$/)
    expect(await works(key)).toBe(401)
    elsewhere.clock.ahead_ms = 30_000
    expect(await there()).toBe(401)
    const again = await post(`${keys}/${id}/revoke`)
    expect([again.status, again.body]).toEqual([200, revoked.body])
    await elsewhere.close()
  })

  test('scopes are replaced, at once', async () => {
    const { id, key } = await newKey()
    expect((await app.call('GET', '/probe/editor', { key })).status).toBe(403)
    const changed = await post(`${keys}/${id}/scopes`, { scopes: ['query:run', 'query:run'] })
    expect([changed.status, changed.body.scopes]).toEqual([200, ['query:run']])
    expect((await app.call('GET', '/probe/editor', { key })).status).toBe(200)
    expect(await works(key)).toBe(403)
    await post(`${keys}/${id}/revoke`)
    const late = await post(`${keys}/${id}/scopes`, { scopes: [] })
    expect(outcome(late)).toEqual([409, 'api_key_revoked'])
  })

  test('a rotation replaces it', async () => {
    const old = await newKey({ scopes: ['ingest:write'] })
    const rotated = await post(`${keys}/${old.id}/rotate`)
    expect(rotated.status).toBe(201)
    expect(rotated.body).toMatchObject({ name: 'a key', scopes: ['ingest:write'] })
    expect(rotated.body.previous.id).toBe(old.id)
    expect([await works(old.key), await works(rotated.body.key)]).toEqual([401, 200])
    expect(outcome(await post(`${keys}/${old.id}/rotate`))).toEqual([409, 'api_key_revoked'])
  })

  test('rotated with an overlap, both work until it ends', async () => {
    const database_url = app.relational.pool.options.connectionString ?? ''
    const later = await startAccessApp({ database_url })
    const old = await newKey()
    const rotated = await post(`${keys}/${old.id}/rotate`, { overlap_seconds: 3600 })
    expect([await works(old.key), await works(rotated.body.key)]).toEqual([200, 200])
    later.clock.ahead_ms = 3_601_000
    const statuses = await Promise.all(
      [old.key, rotated.body.key].map((key) => later.call('GET', '/probe/key', { key })),
    )
    expect(statuses.map(({ status }) => status)).toEqual([401, 200])
    await later.close()
  })

  test('an overlap extends no key', async () => {
    const expires_at = new Date(Date.now() + 60_000).toISOString()
    const old = await newKey({ expires_at })
    const rotated = await post(`${keys}/${old.id}/rotate`, { overlap_seconds: 3600 })
    expect(rotated.body.previous.expires_at).toBe(expires_at)
    expect(rotated.body.expires_at).toBe(expires_at)
    const { id } = await newKey({ expires_at })
    expect((await post(`${keys}/${id}/rotate`, { expires_at: null })).body.expires_at).toBeNull()
  })

  test('of two concurrent rotations one succeeds', async () => {
    const { id } = await newKey()
    const both = await Promise.all([1, 2].map(() => post(`${keys}/${id}/rotate`)))
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409])
  })

  test('the time of its last use is written later', async () => {
    const { id, key } = await newKey()
    const { key_id } = (await app.access.keys.authenticate(key)) ?? {}
    expect(key_id).toBe(id)
    await app.access.close()
    const listed = await get(keys)
    const found = listed.body.api_keys.find((row: { id: string }) => row.id === id)
    expect(Date.parse(found.last_used_at)).toBeGreaterThanOrEqual(Date.parse(found.created_at))
  })

  test.each([
    ['no name', {}],
    ['an unknown scope', { name: 'a', scopes: ['root'] }],
    ['a time that is over', { name: 'a', expires_at: '2020-01-01T00:00:00Z' }],
    ['a time without a zone', { name: 'a', expires_at: '2030-01-01T00:00:00' }],
    ['a key of their own', { name: 'a', key: 'lt_mine' }],
  ])('%s is a bad request', async (_name, body) => {
    expect(outcome(await post(keys, body))).toEqual([400, 'invalid_request'])
  })

  test('an overlap of more than a day is a bad request', async () => {
    const { id } = await newKey()
    const reply = await post(`${keys}/${id}/rotate`, { overlap_seconds: 86_401 })
    expect(outcome(reply)).toEqual([400, 'invalid_request'])
  })
})

describe('tenants', () => {
  test.each(['revoke', 'rotate', 'scopes'])('a foreign key is not found by %s', async (action) => {
    const body = action === 'scopes' ? { scopes: [] } : undefined
    for (const id of [foreign.key_id, stranger]) {
      const reply = await post(`${keys}/${id}/${action}`, body)
      expect(outcome(reply)).toEqual([404, 'api_key_not_found'])
    }
  })

  test('any request for a foreign project is not found', async () => {
    const { token } = await app.person('insider@example.com', 'admin')
    const base = `${root}/projects/${foreign.project_id}`
    const selected = `?project_id=${foreign.project_id}`
    for (const reply of [
      await get(base, { token }),
      await get(`${base}/members`, { token }),
      await get(`${base}/api-keys`, { token }),
      await post(`${base}/api-keys`, { name: 'mine' }, { token }),
      await post(`${base}/api-keys/${foreign.key_id}/revoke`, undefined, { token }),
      await get(`${root}/service-accounts${selected}`, { token }),
      await post(`${root}/service-accounts/${foreign.account_id}/keys${selected}`, {}, { token }),
    ]) {
      expect(outcome(reply)).toEqual([404, 'project_not_found'])
    }
  })

  test('a foreign service account is not found', async () => {
    for (const id of [foreign.account_id, stranger]) {
      const missing = [404, 'service_account_not_found']
      expect(outcome(await post(accountUrl(id, '/keys'), {}))).toEqual(missing)
      const removed = await app.call('DELETE', accountUrl(id), { token: owner })
      expect(outcome(removed)).toEqual(missing)
    }
    const url = `${root}/service-accounts?project_id=${foreign.project_id}`
    expect((await get(url)).body.service_accounts).toHaveLength(1)
  })

  test.each([
    ['viewer', 403],
    ['editor', 403],
    ['admin', 201],
  ])('a %s creating a key gets %i', async (role, status) => {
    const { user_id, token } = await app.person(`${role}-of-keys@example.com`, 'member')
    const url = `${root}/projects/${app.first.project_id}/members/${user_id}`
    await app.call('PUT', url, { token: owner, body: { role } })
    expect((await post(keys, { name: 'a' }, { token })).status).toBe(status)
  })

  test('no key manages keys, with any scopes', async () => {
    const { key } = await newKey({ scopes: ['access:read', 'ingest:write'] })
    const reply = await app.call('POST', keys, { key, body: { name: 'another' } })
    expect(outcome(reply)).toEqual([401, 'credentials_unsupported'])
  })
})

describe('a key with only access:read', () => {
  const own = () => `${root}/projects/${app.first.project_id}`
  test('reads who and what has access to its project', async () => {
    const { key, id } = await newKey({ scopes: ['access:read'] })
    const account = await post(`${root}/service-accounts`, { name: 'reader', scopes: [] })
    expect(account.status).toBe(201)
    const { body: list } = await app.call('GET', `${own()}/members`, { key })
    const paths = [
      own(),
      ...[`${own()}/members`, `${own()}/members/${list.members[0].user_id}`],
      ...[`${own()}/api-keys`, `${own()}/api-keys/${id}`],
      ...[`${root}/service-accounts`, `${root}/service-accounts/${account.body.id}`],
      `${root}/service-accounts/${account.body.id}/keys`,
    ]
    for (const path of paths) {
      const reply = await app.call('GET', path, { key })
      expect([path, reply.status]).toEqual([path, 200])
      expect(reply.text).not.toContain(key)
    }
    const { key: other } = await newKey({ scopes: ['tasks:read'] })
    for (const path of paths) {
      const reply = await app.call('GET', path, { key: other })
      expect([path, ...outcome(reply)]).toEqual([path, 403, 'permission_denied'])
    }
  })

  test('reads no other project, and changes nothing', async () => {
    const { key } = await newKey({ scopes: ['access:read'] })
    const organization = `${root}/organizations/${app.first.organization_id}`
    const other = await post(`${organization}/projects`, { name: 'beside the key' })
    for (const path of ['', '/members', '/api-keys']) {
      const reply = await app.call('GET', `${root}/projects/${other.body.id}${path}`, { key })
      expect([path, ...outcome(reply)]).toEqual([path, 404, 'project_not_found'])
    }
    const elsewhere = { key, headers: { 'x-project-id': other.body.id } }
    const accounts = await app.call('GET', `${root}/service-accounts`, elsewhere)
    expect(outcome(accounts)).toEqual([404, 'project_not_found'])
    for (const [method, path] of [
      ['POST', `${root}/service-accounts`],
      ['PUT', `${own()}/members/${newId()}`],
      ['POST', `${own()}/archive`],
    ] as const) {
      const reply = await app.call(method, path, { key, body: {} })
      expect([path, reply.status]).toEqual([path, 401])
    }
  })
})
