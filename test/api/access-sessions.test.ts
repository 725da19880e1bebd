import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type AccessApp, outcome, startAccessApp } from '../support/access-app.ts'
import { type Browser, openBrowser } from '../support/browser.ts'

const public_url = 'https://looptrace.test'
const session = '/api/v1/auth/session'
const name = '__Host-looptrace_session'
const password = 'correct horse battery'
const minute_ms = 60_000
let app: AccessApp
let owner: string
let email: string
let user_id: string
let browser: Browser
let people = 0
let organization_id: string

beforeAll(async () => {
  app = await startAccessApp({ public_url })
  owner = await app.signIn(app.first.admin_email, app.first.admin_password)
})
beforeEach(async () => {
  app.clock.ahead_ms = 0
  // An organization sends at most 20 invitations a minute.
  if (people % 10 === 0) {
    const body = { name: `organization ${people}` }
    const made = await app.call('POST', '/api/v2/access/organizations', { token: owner, body })
    organization_id = made.body.id
  }
  people += 1
  email = `person-${people}@example.com`
  user_id = (await app.person(email, 'member', organization_id)).user_id
  browser = openBrowser(app, `10.0.0.${people}`)
})
afterAll(() => app.close())

const signIn = (at = browser) =>
  at.call('POST', session, { body: { grant_type: 'password', username: email, password } })
const renew = (at = browser) => at.call('POST', session, { body: { grant_type: 'session' } })
const who = (at = browser) => at.call('GET', '/probe/user')
const cookieOf = (at: Browser) => at.own.get(name) ?? ''

test('a password starts a session, whose reply has no token', async () => {
  const started = await signIn()
  expect([started.status, started.body]).toEqual([
    201,
    expect.objectContaining({ user_id, email, by_issuer: false, installation_admin: false }),
  ])
  expect(started.text).not.toContain(cookieOf(browser))
  expect(started.headers['set-cookie']).toMatch(
    /^__Host-looptrace_session=lts_\w{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800; Secure$/,
  )
  expect((await who()).body).toMatchObject({ kind: 'user', id: user_id })
  const { idle_expires_at: _, ...same } = started.body
  expect((await browser.call('GET', session)).body).toMatchObject(same)
})

test('the page of the sign-in learns who is signed in, without an error', async () => {
  const before = await browser.call('GET', '/api/v1/auth/sign-in')
  expect([before.status, before.body]).toEqual([200, { session: null, has_issuer: false }])
  expect(before.headers['cache-control']).toBe('no-store')
  await signIn()
  const { body } = await browser.call('GET', '/api/v1/auth/sign-in')
  expect(body).toMatchObject({ session: { user_id, email }, has_issuer: false })
  const headers = { 'sec-fetch-site': 'cross-site' }
  const foreign = await browser.call('GET', '/api/v1/auth/sign-in', { headers })
  expect([foreign.status, foreign.text]).toEqual([403, expect.not.stringContaining(email)])
})

describe('the link of the terminal', () => {
  const open = (token: string, at = browser) =>
    at.call('POST', session, { body: { grant_type: 'link', token } })

  test('signs its person in once', async () => {
    const token = app.access.first_links.create(email)
    expect(token).toMatch(/^lt_first_\w{43}$/)
    const opened = await open(token)
    expect([opened.status, opened.body.email]).toEqual([201, email])
    expect(opened.text).not.toContain(token)
    expect((await who()).body).toMatchObject({ kind: 'user', id: user_id })
    const again = await open(token, openBrowser(app, '10.9.0.1'))
    expect(outcome(again)).toEqual([401, 'credentials_invalid'])
    expect(again.body.detail).toMatch(/link has been used or is too old/)
  })

  test('is refused after an hour, from another site, when replaced, and for a disabled person', async () => {
    const old = app.access.first_links.create(email)
    app.clock.ahead_ms = 61 * minute_ms
    expect(outcome(await open(old))).toEqual([401, 'credentials_invalid'])
    app.clock.ahead_ms = 0
    const token = app.access.first_links.create(email)
    const headers = { 'sec-fetch-site': 'cross-site' }
    const body = { grant_type: 'link', token }
    const foreign = await browser.call('POST', session, { body, headers })
    expect(outcome(foreign)).toEqual([403, 'permission_denied'])
    app.access.first_links.create(email)
    expect(outcome(await open(token))).toEqual([401, 'credentials_invalid'])
    const last = app.access.first_links.create(email)
    await app.call('POST', `/api/v2/access/users/${user_id}/disable`, { token: owner, body: {} })
    expect(outcome(await open(last))).toEqual([401, 'credentials_invalid'])
  })
})

test('a wrong password starts none, and counts as a failed sign-in', async () => {
  const body = { grant_type: 'password', username: email, password: 'wrong' }
  for (let i = 0; i < 10; i += 1) {
    expect(outcome(await browser.call('POST', session, { body }))).toEqual([
      401,
      'credentials_invalid',
    ])
  }
  expect((await browser.call('POST', session, { body })).status).toBe(429)
  expect(browser.own.size).toBe(0)
})

describe('a request that another site makes the browser send', () => {
  const write = (headers: Record<string, string>) =>
    browser.call('PUT', '/api/v1/auth/default-project', {
      body: { project_id: app.first.project_id },
      headers,
    })
  test.each([
    ['without our header', { 'x-looptrace-csrf': '' }],
    ['from another site', { 'sec-fetch-site': 'cross-site' }],
    ['from another host of our domain', { 'sec-fetch-site': 'same-site' }],
    ['with another origin', { origin: 'https://attacker.test' }],
    ['with our name on another port', { origin: 'https://looptrace.test:8443' }],
    ['without TLS', { origin: 'http://looptrace.test' }],
    ['of a sandbox', { origin: 'null' }],
    ['opened by a link', { 'sec-fetch-site': 'none' }],
  ])('%s changes nothing', async (_name, headers) => {
    await signIn()
    expect(outcome(await write(headers))).toEqual([403, 'permission_denied'])
  })

  test('reads nothing either', async () => {
    await signIn()
    for (const site of ['cross-site', 'same-site']) {
      const headers = { 'sec-fetch-site': site }
      expect((await browser.call('GET', '/probe/user', { headers })).status).toBe(403)
    }
    const opened = await browser.call('GET', '/probe/user', {
      headers: { 'sec-fetch-site': 'none' },
    })
    expect(opened.status).toBe(200)
  })

  test('cannot sign the browser in or out', async () => {
    const body = { grant_type: 'password', username: email, password }
    for (const headers of [{ 'x-looptrace-csrf': '' }, { 'sec-fetch-site': 'cross-site' }]) {
      expect((await browser.call('POST', session, { body, headers })).status).toBe(403)
      expect((await browser.call('DELETE', session, { headers })).status).toBe(403)
    }
  })

  test('from our own page is accepted', async () => {
    await signIn()
    // The person sees no project, which is another refusal.
    expect(outcome(await write({ origin: public_url }))).toEqual([404, 'project_not_found'])
  })
})

describe('a cookie', () => {
  test('that was set before the sign-in is not used for the session (fixation)', async () => {
    const attacker = openBrowser(app)
    await signIn(attacker)
    const planted = cookieOf(attacker)
    browser.own.set(name, planted)
    await signIn()
    expect(cookieOf(browser)).not.toBe(planted)
    expect((await who(attacker)).status).toBe(401)
    browser.own.set(name, `lts_${'A'.repeat(43)}`)
    await signIn()
    expect(cookieOf(browser)).not.toContain('AAAA')
  })

  test('that comes twice is none', async () => {
    await signIn()
    const cookie = `${name}=${cookieOf(browser)}; ${name}=${cookieOf(browser)}`
    const reply = await app.call('GET', '/probe/user', { headers: { cookie } })
    expect(outcome(reply)).toEqual([401, 'credentials_missing'])
  })

  test('without the prefix is none, and so is one of a guess', async () => {
    await signIn()
    const cookie = `looptrace_session=${cookieOf(browser)}`
    expect((await app.call('GET', '/probe/user', { headers: { cookie } })).status).toBe(401)
    browser.own.set(name, `${cookieOf(browser).slice(0, -1)}!`)
    expect((await who()).status).toBe(401)
  })

  test('does not count beside a token, nor on a route of keys', async () => {
    await signIn()
    const headers = { cookie: `${name}=${cookieOf(browser)}` }
    const both = await app.call('GET', '/probe/user', { token: owner, headers })
    expect(both.body.id).not.toBe(user_id)
    const key = await app.call('GET', '/probe/key', { headers })
    expect(outcome(key)).toEqual([401, 'credentials_missing'])
  })
})

describe('a renewal', () => {
  test('replaces the cookie, and a late use of the cookie before it ends the session', async () => {
    await signIn()
    const before = cookieOf(browser)
    const thief = openBrowser(app)
    thief.own.set(name, before)
    expect((await renew()).status).toBe(200)
    expect(cookieOf(browser)).not.toBe(before)
    expect((await who(thief)).status).toBe(200)
    expect((await renew(thief)).headers['set-cookie']).toBeUndefined()
    app.clock.ahead_ms = 2 * minute_ms
    expect((await who()).status).toBe(200)
    expect((await who(thief)).status).toBe(401)
    expect((await who()).status).toBe(401)
  })

  test('of two at once renews once, and the end of the session stays', async () => {
    const { expires_at } = (await signIn()).body
    const twin = openBrowser(app)
    twin.own.set(name, cookieOf(browser))
    app.clock.ahead_ms = 60 * minute_ms
    const replies = await Promise.all([renew(), renew(twin)])
    expect(replies.map(({ status }) => status)).toEqual([200, 200])
    const cookies = replies.flatMap(({ headers }) => headers['set-cookie'] ?? [])
    expect(cookies).toHaveLength(1)
    expect(replies[0]?.body.expires_at).toBe(expires_at)
  })
})

describe('a session ends', () => {
  test('when it is not used for twelve hours, and not before', async () => {
    await signIn()
    app.clock.ahead_ms = 11 * 60 * minute_ms
    expect((await who()).status).toBe(200)
    await app.access.sessions.close()
    app.clock.ahead_ms = 22 * 60 * minute_ms
    expect((await who()).status).toBe(200)
    await app.access.sessions.close()
    app.clock.ahead_ms = 35 * 60 * minute_ms
    expect((await who()).status).toBe(401)
  })

  test('seven days after its start in any case', async () => {
    const { expires_at } = (await signIn()).body
    for (let hour = 10; hour < 7 * 24; hour += 10) {
      app.clock.ahead_ms = hour * 60 * minute_ms
      expect((await renew()).body.expires_at).toBe(expires_at)
    }
    app.clock.ahead_ms = (7 * 24 * 60 + 1) * minute_ms
    expect((await who()).status).toBe(401)
  })

  const users = () => `/api/v2/access/users/${user_id}`
  const admin = (method: 'POST' | 'DELETE', path: string, body?: unknown) =>
    app.call(method, `${users()}${path}`, { token: owner, body })
  test.each<[string, () => Promise<{ status: number }>]>([
    ['signs out', () => browser.call('DELETE', session)],
    ['signs out everywhere', () => browser.call('DELETE', '/api/v1/auth/sessions')],
    ['is signed out by an administrator', () => admin('DELETE', '/sessions')],
    ['is disabled', () => admin('POST', '/disable')],
    ['gets another password', () => admin('POST', '/password', { password: 'passed on by phone' })],
    [
      'changes the password',
      () =>
        browser.call('PUT', '/api/v1/auth/password', {
          body: { current_password: password, new_password: 'four words of a person' },
        }),
    ],
  ])('at once, in every process, when the person %s', async (_name, act) => {
    await signIn()
    const elsewhere = await startAccessApp({
      public_url,
      database_url: app.relational.pool.options.connectionString ?? '',
    })
    const other = openBrowser(elsewhere)
    other.own.set(name, cookieOf(browser))
    expect((await who(other)).status).toBe(200)
    expect((await act()).status).toBeLessThan(300)
    expect((await who(other)).status).toBe(401)
    await elsewhere.close()
  })
})

test('signing out everywhere ends access tokens and refresh tokens too', async () => {
  const grant = { grant_type: 'password', username: email, password }
  const { body } = await app.call('POST', '/api/v1/auth/token', { body: grant })
  const { access_token: token, refresh_token } = body
  expect((await app.call('DELETE', '/api/v1/auth/sessions', { token })).status).toBe(204)
  expect((await app.call('GET', '/probe/user', { token })).status).toBe(401)
  const refresh = { grant_type: 'refresh_token', refresh_token }
  expect((await app.call('POST', '/api/v1/auth/token', { body: refresh })).status).toBe(401)
  expect(await app.signIn(email, password)).toBeDefined()
})

test('only an administrator of the installation ends the sessions of another person', async () => {
  await signIn()
  const url = `/api/v2/access/users/${user_id}/sessions`
  expect(outcome(await browser.call('DELETE', url))).toEqual([403, 'permission_denied'])
  const unknown = '/api/v2/access/users/01890000-0000-7000-8000-000000000000/sessions'
  const reply = await app.call('DELETE', unknown, { token: owner })
  expect(outcome(reply)).toEqual([404, 'user_not_found'])
})

test('a person who must replace the password sees the session and nothing else', async () => {
  const passed_on = 'passed on by phone'
  await app.call('POST', `/api/v2/access/users/${user_id}/password`, {
    token: owner,
    body: { password: passed_on },
  })
  const body = { grant_type: 'password', username: email, password: passed_on }
  expect((await browser.call('POST', session, { body })).body.must_change_password).toBe(true)
  expect(outcome(await who())).toEqual([403, 'password_change_required'])
})

test('the table does not grow with expired sessions', async () => {
  await signIn()
  app.clock.ahead_ms = 8 * 24 * 60 * minute_ms
  // Each sign-in deletes up to 20, also those that other tests left.
  for (let i = 0; i < 10; i += 1) await signIn()
  const now = new Date(app.clock.now_ms())
  const { rows } = await app.relational.pool.query(
    'select count(*) as n from browser_sessions where expires_at < $1',
    [now],
  )
  expect(Number(rows[0].n)).toBe(0)
})
