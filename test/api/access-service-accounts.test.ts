import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AccessApp, callsAs, outcome, startAccessApp } from '../support/access-app.ts'

const root = '/api/v2/access'
const stranger = '01890000-0000-7000-8000-000000000000'
let app: AccessApp
let owner: string
let keys: string
let accounts: string
/** A second project, so that one must be named. */
let foreign: { project_id: string }

beforeAll(async () => {
  app = await startAccessApp()
  owner = await app.signIn(app.first.admin_email, app.first.admin_password)
  keys = `${root}/projects/${app.first.project_id}/api-keys`
  accounts = `${root}/service-accounts?project_id=${app.first.project_id}`
  const { body: other } = await post(`${root}/organizations`, { name: 'other' })
  const { body: project } = await post(`${root}/organizations/${other.id}/projects`, { name: 'p' })
  foreign = { project_id: project.id }
})
afterAll(() => app.close())

const { get, post } = callsAs(() => ({ app, token: owner }))

const accountUrl = (id: string, rest = '') =>
  `${root}/service-accounts/${id}${rest}?project_id=${app.first.project_id}`

const grant = (client_secret: string, client_id?: string) =>
  app.call('POST', '/api/v1/auth/token', {
    body: { grant_type: 'client_credentials', client_secret, client_id },
  })
const newAccount = async (name: string, scopes = ['tasks:read', 'access:read']) =>
  (await post(accounts, { name, scopes })).body
const accountKey = (id: string, body: object = {}) => post(accountUrl(id, '/keys'), body)

test('its key works as X-API-Key and for a token', async () => {
  const account = await newAccount('robot')
  expect((await get(accounts)).body.service_accounts).toContainEqual(account)
  const made = await accountKey(account.id)
  expect(made.status).toBe(201)
  const { key } = made.body
  expect(key).toMatch(/^lt_sa_[0-9A-Za-z]{8}_[0-9A-Za-z]{32}$/)
  expect(made.body).toMatchObject({ name: 'robot', service_account_id: account.id })
  const me = { kind: 'service_account', id: account.id, project_id: app.first.project_id }
  expect((await app.call('GET', '/probe/either', { key })).body).toEqual(me)
  const { body } = await grant(key, account.id)
  expect(body).not.toHaveProperty('refresh_token')
  const token = body.access_token
  expect((await app.call('GET', '/probe/either', { token })).body).toEqual(me)
  expect((await get(`${keys}?service_account_id=${account.id}`)).body.total).toBe(1)
})

test('with access:read its token reads access control and changes nothing', async () => {
  const { key } = (await accountKey((await newAccount('reader')).id)).body
  const token = (await grant(key)).body.access_token
  const project = `${root}/projects/${app.first.project_id}`
  expect((await get(project, { token })).body.role).toBeNull()
  expect((await get(keys, { token })).status).toBe(200)
  for (const reply of [
    await post(keys, { name: 'mine' }, { token }),
    await post(`${root}/service-accounts`, { name: 'mine', scopes: [] }, { token }),
    await get(`${root}/organizations`, { token }),
    await get('/probe/editor', { token }),
  ]) {
    expect(outcome(reply)).toEqual([403, 'permission_denied'])
  }
  const other = await get(`${root}/projects/${foreign.project_id}`, { token })
  expect(outcome(other)).toEqual([404, 'project_not_found'])
})

test('a key has no scope that its account lacks', async () => {
  const account = await newAccount('narrow')
  const beyond = await accountKey(account.id, { scopes: ['query:run'] })
  expect(outcome(beyond)).toEqual([400, 'invalid_request'])
  const made = await accountKey(account.id, { scopes: ['tasks:read'] })
  expect(made.body.scopes).toEqual(['tasks:read'])
  const widened = await post(`${keys}/${made.body.id}/scopes`, { scopes: ['query:run'] })
  expect(outcome(widened)).toEqual([400, 'invalid_request'])
})

test('no token for a project key, a wrong account or an invented key', async () => {
  const { key } = (await accountKey((await newAccount('strict')).id)).body
  for (const reply of [
    await grant(app.first.project_key),
    await grant(key, stranger),
    await grant(`lt_sa_abcdefgh_${'x'.repeat(32)}`),
    await grant('anything'),
  ]) {
    expect(outcome(reply)).toEqual([401, 'credentials_invalid'])
  }
})

test('a token ends with the key that it was issued for', async () => {
  const { body } = await accountKey((await newAccount('brief')).id)
  const token = (await grant(body.key)).body.access_token
  expect((await get('/probe/either', { token })).status).toBe(200)
  await post(`${keys}/${body.id}/revoke`)
  expect(outcome(await get('/probe/either', { token }))).toEqual([401, 'credentials_invalid'])
})

test('deleting it deletes its keys and tokens, and frees its name', async () => {
  const account = await newAccount('gone')
  const { key } = (await accountKey(account.id)).body
  const token = (await grant(key)).body.access_token
  expect((await app.call('GET', '/probe/either', { key })).status).toBe(200)
  const removed = await app.call('DELETE', accountUrl(account.id), { token: owner })
  expect(removed.status).toBe(204)
  expect((await app.call('GET', '/probe/either', { key })).status).toBe(401)
  expect((await get('/probe/either', { token })).status).toBe(401)
  expect((await newAccount('gone')).id).not.toBe(account.id)
})

test('its name is unique in a project', async () => {
  await newAccount('same')
  const again = await post(accounts, { name: 'same', scopes: [] })
  expect(outcome(again)).toEqual([409, 'name_taken'])
})

test('a person who saw several projects at once must name one', async () => {
  const { organization_id } = app.first
  const body = { name: 'beside the first' }
  await app.call('POST', `${root}/organizations/${organization_id}/projects`, {
    token: owner,
    body,
  })
  const { token } = await app.person('several@example.com', 'admin')
  const reply = await app.call('GET', `${root}/service-accounts`, { token })
  expect(outcome(reply)).toEqual([400, 'project_required'])
})

test('its keys lose the scopes that it loses, and a disabled account has no valid key', async () => {
  const account = await newAccount('shrinking')
  const { id, key } = (await accountKey(account.id)).body
  const { prefix } = (await get(keys)).body.api_keys.find((row: { id: string }) => row.id === id)
  const change = async (columns: { scopes?: string[]; disabled_at?: Date }) => {
    await app.relational.db
      .updateTable('service_accounts')
      .set(columns)
      .where('id', '=', account.id)
      .execute()
    app.access.keys.forget(prefix)
    return (await app.call('GET', '/probe/either', { key })).status
  }
  expect(await change({ scopes: ['tasks:read'] })).toBe(200)
  expect(await change({ scopes: ['access:read'] })).toBe(403)
  expect(await change({ disabled_at: new Date() })).toBe(401)
})

test("a token for one account with another's key is refused", async () => {
  const account = await newAccount('itself')
  const { id: key_id } = (await accountKey(account.id)).body
  const tokenOf = async (service_account_id: string) => {
    const subject = { kind: 'service_account', service_account_id, key_id } as const
    return (await app.access.tokens.issue(subject)).access_token
  }
  const mine = await tokenOf(account.id)
  expect((await get('/probe/either', { token: mine })).status).toBe(200)
  const forged = await tokenOf(stranger)
  expect(outcome(await get('/probe/either', { token: forged }))).toEqual([
    401,
    'credentials_invalid',
  ])
})

test('one Idempotency-Key of a person in two projects makes an account in each', async () => {
  const create = (project_id: string) =>
    app.call('POST', `${root}/service-accounts`, {
      token: owner,
      headers: { 'idempotency-key': 'the-same', 'x-project-id': project_id },
      body: { name: 'in both', scopes: ['tasks:read'] },
    })
  const [one, other] = [await create(app.first.project_id), await create(foreign.project_id)]
  expect([one.status, other.status]).toEqual([201, 201])
  expect(one.body.project_id).toBe(app.first.project_id)
  expect(other.body.project_id).toBe(foreign.project_id)
  expect((await create(foreign.project_id)).body).toEqual(other.body)
})
