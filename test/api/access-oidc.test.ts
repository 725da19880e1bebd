import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type AccessApp, outcome, startAccessApp } from '../support/access-app.ts'
import { type Browser, openBrowser } from '../support/browser.ts'
import { startProvider, type TestProvider } from '../support/oidc-provider.ts'

const public_url = 'https://looptrace.test'
const session = '/api/v1/auth/session'
let provider: TestProvider
let app: AccessApp
let browser: Browser
let owner: string

const ada = (more = {}) => ({
  sub: 'ada',
  email: 'Ada@Example.com',
  email_verified: true,
  name: 'Ada',
  groups: ['engineers'],
  ...more,
})

beforeAll(async () => {
  provider = await startProvider(public_url)
  app = await startAccessApp({
    public_url,
    oidc_issuer: provider.url,
    oidc_client_id: provider.client_id,
    oidc_client_secret: provider.client_secret,
    oidc_audience: 'looptrace',
    oidc_scopes: 'openid email profile groups',
    unknown_kid_refresh_ms: 0,
    oidc_group_roles: [
      { group: 'engineers', organization: 'default', project: 'default', role: 'editor' },
      { group: 'leads', organization: 'default', role: 'admin' },
      { group: 'directors', organization: 'default', role: 'owner' },
      { group: 'lost', organization: 'no such organization', role: 'owner' },
    ],
  })
  owner = await app.signIn(app.first.admin_email, app.first.admin_password)
})
beforeEach(() => {
  provider.person = ada()
  browser = openBrowser(app)
})
afterAll(async () => {
  await app.close()
  await provider.close()
})

const members = async () => {
  const { project_id } = app.first
  const url = `/api/v2/access/projects/${project_id}/members`
  const { body } = await app.call('GET', url, { token: owner })
  return Object.fromEntries(
    body.members.map((one: { email: string }) => [one.email, one]),
  ) as Record<string, { role: string; organization_role: string; project_role: string | null }>
}

describe('a person of a group in the mapping', () => {
  test('gets an account, a role and a session whose cookie no script can read', async () => {
    const { reply, location } = await browser.start('?return_to=/tasks%3Fstate%3Dfailed')
    expect(reply.status).toBe(302)
    const asked = new URL(location)
    expect(asked.origin).toBe(provider.url)
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      ...{ response_type: 'code', code_challenge_method: 'S256', client_id: provider.client_id },
      redirect_uri: `${public_url}/api/v1/auth/oidc/callback`,
      ...{ state: expect.stringMatching(/.{40}/), nonce: expect.stringMatching(/.{40}/) },
    })
    const back = await browser.comeBack(await browser.atProvider(location))
    expect([back.status, back.headers['location']]).toEqual([
      302,
      `${public_url}/tasks?state=failed`,
    ])
    const [cookie, removed] = back.headers['set-cookie'] as string[]
    expect(cookie).toMatch(
      /^__Host-looptrace_session=lts_\w{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800; Secure$/,
    )
    expect(removed).toMatch(/^__Host-looptrace_sign_in=; .*Max-Age=0; Secure$/)
    expect(back.headers['cache-control']).toBe('no-store')
    const own = await browser.call('GET', session)
    expect(own.body).toMatchObject({
      ...{ email: 'ada@example.com', display_name: 'Ada', by_issuer: true },
      ...{ must_change_password: false, installation_admin: false },
    })
    expect((await browser.call('GET', '/probe/editor')).body).toEqual({
      ...{ kind: 'user', id: own.body.user_id, project_id: app.first.project_id },
    })
    expect(await members()).toMatchObject({
      'ada@example.com': { organization_role: 'member', project_role: 'editor' },
    })
  })

  test('is the same account the next time, also with another e-mail at the provider', async () => {
    await browser.signIn()
    const first = (await browser.call('GET', session)).body.user_id
    const other = openBrowser(app)
    provider.person = ada({ email: 'ada.lovelace@example.com' })
    await other.signIn()
    expect((await other.call('GET', session)).body).toMatchObject({
      ...{ user_id: first, email: 'ada@example.com' },
    })
  })

  test('follows the groups at each sign-in, and loses the role with the group', async () => {
    provider.person = ada({
      sub: 'grace',
      email: 'grace@example.com',
      groups: ['leads', 'engineers'],
    })
    await browser.signIn()
    const grace = async () => (await members())['grace@example.com']
    expect(await grace()).toMatchObject({ organization_role: 'admin', project_role: 'editor' })
    provider.person = { ...provider.person, groups: ['engineers'] }
    await browser.signIn()
    expect(await grace()).toMatchObject({ organization_role: 'member', project_role: 'editor' })
    provider.person = { ...provider.person, groups: ['others', 'lost'] }
    await browser.signIn()
    expect(await grace()).toBeUndefined()
    expect(outcome(await browser.call('GET', '/probe/editor'))).toEqual([400, 'project_required'])
  })

  test('keeps a role that a person gave, whatever the groups say', async () => {
    const { user_id } = await app.person('kept@example.com', 'admin')
    provider.person = ada({ sub: 'kept', email: 'kept@example.com', groups: [] })
    await browser.signIn()
    expect((await browser.call('GET', session)).body.user_id).toBe(user_id)
    expect((await members())['kept@example.com']).toMatchObject({ organization_role: 'admin' })
  })

  test('who was made the last owner by a group stays owner', async () => {
    const { db } = app.relational
    provider.person = ada({ sub: 'boss', email: 'boss@example.com', groups: ['directors'] })
    await browser.signIn()
    const { user_id } = (await browser.call('GET', session)).body
    const others = db.updateTable('users').where('id', '<>', user_id)
    await others.set({ disabled_at: new Date() }).execute()
    provider.person = { ...provider.person, groups: ['engineers'] }
    await browser.signIn()
    await others.set({ disabled_at: null }).execute()
    expect((await members())['boss@example.com']).toMatchObject({ organization_role: 'owner' })
    expect(app.logged()).toContain('the last owner keeps the role')
    await browser.signIn()
    expect((await members())['boss@example.com']).toMatchObject({ organization_role: 'member' })
  })
})

describe('a person without a group in the mapping', () => {
  test('gets no account', async () => {
    provider.person = ada({ sub: 'eve', email: 'eve@example.com', groups: ['others', 'lost'] })
    const back = await browser.signIn()
    expect(outcome(back)).toEqual([403, 'permission_denied'])
    expect(back.body.detail).toContain('none of your groups grants a role')
    expect(browser.own.has('__Host-looptrace_session')).toBe(false)
    const users = await app.call('GET', '/api/v2/access/users', { token: owner })
    expect(users.text).not.toContain('eve@example.com')
  })

  test('gets one for an invitation, sees nothing, and accepts it with the session', async () => {
    const url = `/api/v2/access/organizations/${app.first.organization_id}/members`
    const body = { email: 'invited@example.com', role: 'member' }
    const { token } = (await app.call('POST', url, { token: owner, body })).body
    provider.person = ada({ sub: 'invited', email: 'invited@example.com', groups: [] })
    expect((await browser.signIn()).status).toBe(302)
    const organizations = () => browser.call('GET', '/api/v2/access/organizations')
    expect((await organizations()).body.total).toBe(0)
    const accept = (headers = {}) =>
      browser.call('POST', '/api/v1/auth/invitations/accept', { body: { token }, headers })
    expect(outcome(await accept({ 'x-looptrace-csrf': '' }))).toEqual([403, 'permission_denied'])
    expect((await accept()).body).toMatchObject({ role: 'member', tokens: null })
    expect((await organizations()).body.total).toBe(1)
  })

  test.each([
    ['is not verified', { email_verified: false }],
    ['is said to be verified as text', { email_verified: 'true' }],
    ['is missing', { email: undefined }],
  ])('gets none by an e-mail that %s', async (_name, claims) => {
    provider.person = ada({ sub: 'mallory', email: 'mallory@example.com', ...claims })
    expect(outcome(await browser.signIn())).toEqual([403, 'permission_denied'])
  })

  test('does not take the account of an e-mail that was linked to another person', async () => {
    await browser.signIn()
    browser.leaveProvider()
    provider.person = ada({ sub: 'the next owner of the address' })
    const back = await browser.signIn()
    expect(outcome(back)).toEqual([403, 'permission_denied'])
    expect(back.body.detail).toContain('belongs to another person')
  })

  test('loses the roles by groups when the provider sends no list of groups', async () => {
    provider.person = ada({ groups: undefined })
    expect((await browser.signIn()).status).toBe(302)
    expect((await members())['ada@example.com']).toBeUndefined()
  })
})

test('a first sign-in ends the password and sessions of an account whose e-mail was not proven', async () => {
  const squatter = await app.person('victim@example.com', 'member')
  provider.person = ada({ sub: 'victim', email: 'victim@example.com', groups: [] })
  await browser.signIn()
  expect((await browser.call('GET', session)).body.user_id).toBe(squatter.user_id)
  expect((await app.call('GET', '/probe/user', { token: squatter.token })).status).toBe(401)
  const again = app.signIn('victim@example.com', 'correct horse battery')
  await expect(again).rejects.toThrow('credentials_invalid')
})

test('a disabled person does not sign in, and the session ends at once', async () => {
  provider.person = ada({ sub: 'away', email: 'away@example.com' })
  await browser.signIn()
  const { user_id } = (await browser.call('GET', session)).body
  const users = `/api/v2/access/users/${user_id}`
  await app.call('POST', `${users}/disable`, { token: owner })
  expect((await browser.call('GET', session)).status).toBe(401)
  expect(outcome(await browser.signIn())).toEqual([403, 'permission_denied'])
  await app.call('POST', `${users}/enable`, { token: owner })
  expect((await browser.call('GET', session)).status).toBe(401)
  expect((await browser.signIn()).status).toBe(302)
})

test('signing out ends the session here and names the page that ends it at the provider', async () => {
  await browser.signIn()
  const cookie = browser.own.get('__Host-looptrace_session')
  const out = await browser.call('DELETE', session)
  const logout = new URL(out.body.logout_url)
  expect([logout.origin, logout.pathname]).toEqual([provider.url, '/session/end'])
  expect(logout.searchParams.get('post_logout_redirect_uri')).toBe(`${public_url}/`)
  expect(browser.own.has('__Host-looptrace_session')).toBe(false)
  const headers = { cookie: `__Host-looptrace_session=${cookie}` }
  expect((await app.call('GET', session, { headers })).status).toBe(401)
})

describe('keys of the provider', () => {
  test('are fetched again after a rotation', async () => {
    await browser.signIn()
    await provider.rotateKey()
    provider.requests.length = 0
    expect((await browser.signIn()).status).toBe(302)
    expect(provider.requests.filter((path) => path === '/jwks')).toHaveLength(1)
    browser.leaveProvider()
    expect((await browser.signIn()).status).toBe(302)
    expect(provider.requests.filter((path) => path === '/jwks')).toHaveLength(1)
  })

  test('verify an access token for our audience, and no token for another', async () => {
    const { user_id } = await app.person('program@example.com', 'member')
    provider.person = { sub: 'program', email: 'program@example.com' }
    const ours = await provider.accessToken('https://looptrace.test')
    const who = (token: string) => app.call('GET', '/probe/user', { token })
    expect((await who(ours)).body).toMatchObject({ kind: 'user', id: user_id })
    const others = await provider.accessToken('https://other.test')
    expect(outcome(await who(others))).toEqual([401, 'credentials_invalid'])
  })
})

describe('a redirect that comes back is refused', () => {
  test('with a code that was used, also from the browser that used it', async () => {
    const { location } = await browser.start()
    const cookie = browser.own.get('__Host-looptrace_sign_in') ?? ''
    const back = await browser.atProvider(location)
    expect((await browser.comeBack(back)).status).toBe(302)
    expect(outcome(await browser.comeBack(back))).toEqual([401, 'credentials_invalid'])
    browser.own.set('__Host-looptrace_sign_in', cookie)
    const replayed = await browser.comeBack(back)
    expect(replayed.body.detail).toContain('was already completed')
    // The provider refuses the code too, in a sign-in with another state.
    const second = await browser.start()
    const mixed = new URL(back)
    const state = new URL(second.location).searchParams.get('state') ?? ''
    mixed.searchParams.set('state', state)
    expect(outcome(await browser.comeBack(mixed.href))).toEqual([401, 'credentials_invalid'])
  })

  test('in another browser, or with the state of another sign-in', async () => {
    const { location } = await browser.start()
    const back = await browser.atProvider(location)
    const victim = openBrowser(app)
    expect(outcome(await victim.comeBack(back))).toEqual([401, 'credentials_invalid'])
    await victim.start()
    const forged = await victim.comeBack(back)
    expect(forged.body.detail).toContain('for another sign-in')
    expect(victim.own.has('__Host-looptrace_session')).toBe(false)
  })

  test('after ten minutes', async () => {
    const { location } = await browser.start()
    const back = await browser.atProvider(location)
    app.clock.ahead_ms = 10 * 60_000
    const late = await browser.comeBack(back)
    app.clock.ahead_ms = 0
    expect(late.body.detail).toContain('no sign-in in the last ten minutes')
  })

  test('with the name of another issuer (mix-up), or without the name', async () => {
    const { location } = await browser.start()
    const back = new URL(await browser.atProvider(location))
    expect(back.searchParams.get('iss')).toBe(provider.url)
    back.searchParams.set('iss', 'https://attacker.test')
    expect(outcome(await browser.comeBack(back.href))).toEqual([401, 'credentials_invalid'])
    const again = new URL(await browser.atProvider((await browser.start()).location))
    again.searchParams.delete('iss')
    expect(outcome(await browser.comeBack(again.href))).toEqual([401, 'credentials_invalid'])
  })

  test('with an error, whose description is not shown', async () => {
    const { location } = await browser.start()
    const state = new URL(location).searchParams.get('state') ?? ''
    const query = new URLSearchParams({
      ...{ state, error: 'access_denied', error_description: '<b>click here</b>' },
      iss: provider.url,
    })
    const back = await browser.comeBack(`${public_url}/api/v1/auth/oidc/callback?${query}`)
    expect(outcome(back)).toEqual([403, 'permission_denied'])
    expect(back.text).toContain('access_denied')
    expect(back.text).not.toContain('click here')
  })

  test('with a cookie that was changed', async () => {
    const { location } = await browser.start()
    const back = await browser.atProvider(location)
    const cookie = browser.own.get('__Host-looptrace_sign_in') ?? ''
    const at = 40
    const changed = cookie.at(at) === 'A' ? 'B' : 'A'
    browser.own.set(
      '__Host-looptrace_sign_in',
      `${cookie.slice(0, at)}${changed}${cookie.slice(at + 1)}`,
    )
    expect(outcome(await browser.comeBack(back))).toEqual([401, 'credentials_invalid'])
  })
})

test.each([
  'https://attacker.test',
  '//attacker.test',
  '/\\attacker.test',
  '/\t/attacker.test',
  '/ok\r\nset-cookie: a=b',
  'tasks',
  '',
  `/${'a'.repeat(1_000)}`,
])('a sign-in does not end at %j', async (path) => {
  const { reply } = await browser.start(`?return_to=${encodeURIComponent(path)}`)
  expect(outcome(reply)).toEqual([400, 'invalid_request'])
})

test('nothing secret is logged or stored in plain text', async () => {
  const { location } = await browser.start()
  const back = new URL(await browser.atProvider(location))
  await browser.comeBack(back.href)
  const cookie = browser.own.get('__Host-looptrace_session') ?? ''
  const secrets = [cookie, back.searchParams.get('code') ?? '', provider.client_secret]
  const { rows } = await app.relational.pool.query(
    'select to_jsonb(b) as row from browser_sessions b',
  )
  const stored = JSON.stringify(rows)
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(10)
    expect(app.logged()).not.toContain(secret)
    expect(stored).not.toContain(secret)
  }
})

test('without a client there is no sign-in', async () => {
  const plain = await startAccessApp()
  const reply = await plain.call('GET', '/api/v1/auth/oidc/login')
  expect(outcome(reply)).toEqual([404, 'issuer_not_configured'])
  await plain.close()
})

describe('the audit trail of sign-ins', () => {
  const records = async () =>
    (
      await app.relational.db
        .selectFrom('audit_records')
        .selectAll()
        .where('action', '=', 'finishIssuerSignIn')
        .orderBy('seq')
        .execute()
    ).map(({ change_value, ...record }) => ({
      ...record,
      change: JSON.parse(change_value ?? 'null'),
    }))

  test('has one record for each, with the person, the account and the changed roles', async () => {
    const { organization_id, project_id } = app.first
    const before = (await records()).length
    provider.person = ada({ sub: 'mary', email: 'mary@example.com', groups: ['engineers'] })
    await browser.signIn()
    const { user_id } = (await browser.call('GET', session)).body
    await browser.signIn()
    provider.person = { ...provider.person, groups: ['leads'] }
    await browser.signIn()
    const { location } = await browser.start()
    const back = await browser.atProvider(location)
    await browser.comeBack(back)
    const used = await browser.comeBack(back)
    expect(outcome(used)).toEqual([401, 'credentials_invalid'])

    const made = (await records()).slice(before)
    const member = (role: string | null) => ({ organization_id, project_id: null, role })
    const editor = (role: string | null) => ({ organization_id, project_id, role })
    const signedIn = { outcome: 'succeeded', actor_kind: 'user', actor_id: user_id }
    expect(made).toMatchObject([
      {
        ...signedIn,
        resource_type: 'auth/oidc/callback',
        change: {
          before: { roles: [member(null), editor(null)] },
          after: { account: 'created', roles: [member('member'), editor('editor')] },
        },
      },
      {
        ...signedIn,
        change: { before: { roles: [] }, after: { account: 'unchanged', roles: [] } },
      },
      {
        ...signedIn,
        change: {
          before: { roles: [member('member'), editor('editor')] },
          after: { account: 'unchanged', roles: [member('admin'), editor(null)] },
        },
      },
      { ...signedIn, change: { after: { roles: [] } } },
      { outcome: 'refused', code: 'credentials_invalid', actor_kind: 'anonymous', change: null },
    ])
    const query = new URL(back).searchParams
    for (const name of ['code', 'state']) {
      expect(query.get(name)).toBeTruthy()
      expect(JSON.stringify(made)).not.toContain(query.get(name))
    }
  })

  test('names the account that is linked, and a disabled person who is refused', async () => {
    const before = (await records()).length
    const { user_id } = await app.person('joan@example.com', 'member')
    provider.person = ada({ sub: 'joan', email: 'joan@example.com', groups: [] })
    await browser.signIn()
    await app.call('POST', `/api/v2/access/users/${user_id}/disable`, { token: owner })
    expect((await browser.signIn()).status).toBe(403)
    expect((await records()).slice(before)).toMatchObject([
      { outcome: 'succeeded', actor_id: user_id, change: { after: { account: 'linked' } } },
      { outcome: 'refused', code: 'permission_denied', actor_id: user_id, change: null },
    ])
  })

  test('names the person of a session by password', async () => {
    const person = await app.person('ruth@example.com', 'member')
    const body = {
      ...{ grant_type: 'password', username: 'ruth@example.com' },
      password: 'correct horse battery',
    }
    const headers = { 'x-request-id': 'session-of-ruth' }
    expect((await browser.call('POST', session, { body, headers })).status).toBe(201)
    const made = app.relational.db.selectFrom('audit_records').selectAll()
    const of = made.where('request_id', '=', 'session-of-ruth')
    expect(await of.execute()).toMatchObject([
      { outcome: 'succeeded', actor_kind: 'user', actor_id: person.user_id },
    ])
  })
})
