import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AccessApp, outcome, type Person, startAccessApp } from '../support/access-app.ts'
import { openBrowser } from '../support/browser.ts'
import { blocked, whileLocked } from '../support/row-locks.ts'

const users = '/api/v2/access/users'
const stranger = '01890000-0000-7000-8000-000000000000'
let app: AccessApp
let admin: string
let admin_id: string
/** An owner of the first organization, who is no administrator of the installation. */
let owner: Person

beforeAll(async () => {
  app = await startAccessApp()
  admin = await app.signIn(app.first.admin_email, app.first.admin_password)
  admin_id = (await app.call('GET', '/probe/user', { token: admin })).body.id
  owner = await app.person('owner@example.com', 'owner')
})
afterAll(() => app.close())

const post = (path: string, body?: unknown, token = admin) =>
  app.call('POST', `${users}${path}`, { token, body })
const list = (query = '', token = admin) => app.call('GET', `${users}${query}`, { token })
const who = (token: string) => app.call('GET', '/probe/user', { token })
const replace = (token: string, current_password: string, new_password: string) =>
  app.call('PUT', '/api/v1/auth/password', { token, body: { current_password, new_password } })

test('only an administrator of the installation manages users, not an owner of an organization', async () => {
  const password = 'a password of the owner'
  for (const reply of [
    await list('', owner.token),
    await post('', { email: 'x@example.com', password }, owner.token),
    await post(`/${admin_id}/password`, { password }, owner.token),
    await post(`/${admin_id}/disable`, undefined, owner.token),
    await post(`/${owner.user_id}/enable`, undefined, owner.token),
    await app.call('GET', '/api/v2/access/operator-keys', { token: owner.token }),
  ]) {
    expect(outcome(reply)).toEqual([403, 'permission_denied'])
  }
  expect(await app.signIn(app.first.admin_email, app.first.admin_password)).toBeDefined()
})

test('the list has every user without secrets, and is paged', async () => {
  const all = await list()
  expect(all.body.users).toMatchObject([
    { id: admin_id, installation_admin: true, password_origin: 'installation' },
    { id: owner.user_id, installation_admin: false, password_origin: 'self', has_password: true },
  ])
  expect(all.text).not.toContain('scrypt')
  const first = await list('?limit=1')
  const rest = await list(`?limit=1&cursor=${first.body.next_cursor}`)
  expect([...first.body.users, ...rest.body.users]).toEqual(all.body.users)
  expect((await list('?password_origin=administrator')).body).toMatchObject({ users: [], total: 0 })
})

test('a new account must replace its password before anything else', async () => {
  const body = { email: 'Made@Example.com', password: 'chosen by the administrator' }
  const made = await post('', body)
  expect([made.status, made.body.email]).toEqual([201, 'made@example.com'])
  expect(made.body).toMatchObject({ must_change_password: true, email_verified_at: null })
  expect(outcome(await post('', body))).toEqual([409, 'account_exists'])
  const token = await app.signIn('made@example.com', body.password)
  const mustChange = [403, 'password_change_required']
  for (const path of ['/probe/user', '/probe/jwt', '/probe/either', '/api/v2/access/projects']) {
    expect(outcome(await app.call('GET', path, { token }))).toEqual(mustChange)
  }
  const refreshed = await app.call('POST', '/api/v1/auth/token', {
    body: { grant_type: 'password', username: 'made@example.com', password: body.password },
  })
  const again = await app.call('POST', '/api/v1/auth/token', {
    body: { grant_type: 'refresh_token', refresh_token: refreshed.body.refresh_token },
  })
  expect(outcome(await who(again.body.access_token))).toEqual(mustChange)
  expect((await replace(token, body.password, 'chosen by the person')).status).toBe(204)
  expect((await who(await app.signIn('made@example.com', 'chosen by the person'))).status).toBe(200)
})

test('a password set by an administrator ends all sessions, here at once and elsewhere soon', async () => {
  const { user_id, token } = await app.person('lost@example.com', 'member')
  const elsewhere = await startAccessApp({
    database_url: app.relational.pool.options.connectionString ?? '',
  })
  expect((await elsewhere.call('GET', '/probe/user', { token })).status).toBe(200)
  const set = await post(`/${user_id}/password`, { password: 'passed on by phone' })
  expect(set.body).toMatchObject({ id: user_id, password_origin: 'administrator' })
  expect((await who(token)).status).toBe(401)
  // A new session is known at once where the old one was seen last.
  const fresh = await app.signIn('lost@example.com', 'passed on by phone')
  expect((await elsewhere.call('GET', '/probe/user', { token: fresh })).status).toBe(403)
  expect((await elsewhere.call('GET', '/probe/user', { token })).status).toBe(401)
  await elsewhere.close()
  expect(outcome(await post(`/${stranger}/password`, { password: 'passed on by phone' }))).toEqual([
    404,
    'user_not_found',
  ])
  const own = await post(`/${admin_id}/password`, { password: 'a stolen token' })
  expect(outcome(own)).toEqual([403, 'permission_denied'])
})

test('a disabled user is out until enabled', async () => {
  const { user_id, token } = await app.person('away@example.com', 'member')
  expect((await post(`/${user_id}/disable`)).body.disabled_at).not.toBeNull()
  expect((await who(token)).status).toBe(401)
  await expect(app.signIn('away@example.com', 'correct horse battery')).rejects.toThrow('401')
  expect((await post(`/${user_id}/enable`)).body.disabled_at).toBeNull()
  expect(await app.signIn('away@example.com', 'correct horse battery')).toBeDefined()
  expect(outcome(await post(`/${stranger}/enable`))).toEqual([404, 'user_not_found'])
})

test('a disabled person is out in every process: sessions at once, access tokens within 30 s', async () => {
  const elsewhere = await startAccessApp({
    database_url: app.relational.pool.options.connectionString ?? '',
  })
  const { user_id, token } = await app.person('gone@example.com', 'member')
  const body = { grant_type: 'password', username: 'gone@example.com' }
  const signedIn = { body: { ...body, password: 'correct horse battery' } }
  const { refresh_token } = (await app.call('POST', '/api/v1/auth/token', signedIn)).body
  const browser = openBrowser(app)
  await browser.call('POST', '/api/v1/auth/session', signedIn)
  const cookie = [...browser.own].map(([name, value]) => `${name}=${value}`).join('; ')
  const headers = { cookie, 'sec-fetch-site': 'same-origin', 'x-looptrace-csrf': '1' }
  const statuses = (at: AccessApp) =>
    Promise.all([
      at.call('GET', '/probe/user', { token }),
      at.call('GET', '/api/v1/auth/session', { headers }),
    ]).then((replies) => replies.map(({ status }) => status))
  expect([await statuses(app), await statuses(elsewhere)]).toEqual([
    [200, 200],
    [200, 200],
  ])
  await post(`/${user_id}/disable`)
  expect(await statuses(app)).toEqual([401, 401])
  // The other process may know the role of an access token for 30 s.
  expect((await statuses(elsewhere))[1]).toBe(401)
  elsewhere.clock.ahead_ms = 30_000
  expect(await statuses(elsewhere)).toEqual([401, 401])
  const renewed = { body: { grant_type: 'refresh_token', refresh_token } }
  for (const at of [elsewhere, app]) {
    const { status } = await at.call('POST', '/api/v1/auth/token', renewed)
    expect(status).toBe(401)
  }
  await elsewhere.close()
})

test('of administrators who disable each other one remains', async () => {
  expect(outcome(await post(`/${admin_id}/disable`))).toEqual([403, 'permission_denied'])
  const second = await app.person('second@example.com', 'member')
  const { db } = app.relational
  await db
    .updateTable('users')
    .set({ installation_admin: true })
    .where('id', '=', second.user_id)
    .execute()
  const lock = (trx: typeof db) =>
    trx.selectFrom('users').select('id').where('id', '=', admin_id).forUpdate().execute()
  const { both } = await whileLocked(db, lock, async () => {
    const both = [
      post(`/${second.user_id}/disable`),
      post(`/${admin_id}/disable`, undefined, second.token),
    ]
    await blocked(db, 2)
    return { both }
  })
  const statuses = (await Promise.all(both)).map(({ status }) => status).toSorted()
  expect(statuses).toEqual([200, 403])
})
