import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  createInvitationFlow,
  createResetFlow,
} from '../../src/capabilities/link-pages/browser/account-flows.js'
import { readToken } from '../../src/capabilities/link-pages/browser/replies.js'
import { type AccessApp, startAccessApp } from '../support/access-app.ts'

const better = 'purple monkey dishwasher'
const origin = 'https://looptrace.example.com'
let app: AccessApp
let owner: string

beforeAll(async () => {
  app = await startAccessApp({ public_url: origin })
  owner = await app.signIn(app.first.admin_email, app.first.admin_password)
})
/** An organization sends a limited number of links per minute. */
beforeEach(() => {
  app.clock.ahead_ms += 61_000
})
afterAll(() => app.close())

const pages = ['/invitation', '/reset-password', '/incident']
const files = [
  ...['pages.css', 'page.js', 'replies.js', 'account-flows.js', 'incident-flow.js'],
].map((name) => `/link-pages/${name}`)

describe.each(pages)('GET %s', (url) => {
  test('runs and loads only files of its own server, and cannot be framed or kept', async () => {
    const { statusCode, headers, body } = await app.server.inject({ url })
    expect(statusCode).toBe(200)
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    })
    const policy = String(headers['content-security-policy']).split('; ')
    expect(policy.toSorted()).toEqual([
      "base-uri 'none'",
      "connect-src 'self'",
      "default-src 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "img-src 'self'",
      "require-trusted-types-for 'script'",
      "script-src 'self'",
      "style-src 'self'",
      "trusted-types 'none'",
    ])
    expect(headers['set-cookie']).toBeUndefined()
    const loads = /<(?:script|link|img|iframe|object|embed)\b[^>]*?(?:src|href)="([^"]*)"/g
    expect([...body.matchAll(loads)].map(([, path]) => path).toSorted()).toEqual([
      '/link-pages/page.js',
      '/link-pages/pages.css',
    ])
    const opened = [...body.matchAll(/<a\b[^>]*href="([^"]*)"/g)].map(([, path]) => path)
    for (const path of opened) expect(['/', '/reset-password']).toContain(path)
    expect(body).not.toMatch(/<script(?! type="module" src=)|<style|style=|\son\w+=|javascript:/i)
  })

  test('repeats nothing of a request', async () => {
    const attack = '<img src=x onerror=alert(1)>'
    const plain = (await app.server.inject({ url })).body
    const reply = await app.server.inject({
      url: `${url}?token=${encodeURIComponent(attack)}&lti_secret`,
      headers: { host: 'evil.example', cookie: 'c=1', 'x-forwarded-host': 'evil.example' },
    })
    expect([reply.statusCode, reply.body]).toEqual([200, plain])
  })

  test('accepts no other method, and no path below it', async () => {
    const posted = await app.server.inject({ method: 'POST', url })
    expect([posted.statusCode, posted.headers['allow']]).toEqual([405, 'GET, HEAD, OPTIONS'])
    expect((await app.server.inject({ url: `${url}/replies.js` })).statusCode).toBe(404)
  })
})

test.each(files)('GET %s is typed, public, and cannot be sniffed', async (url) => {
  const { statusCode, headers, body } = await app.server.inject({ url })
  expect(statusCode).toBe(200)
  expect(headers).toMatchObject({
    'content-type': url.endsWith('.css')
      ? 'text/css; charset=utf-8'
      : 'text/javascript; charset=utf-8',
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'content-security-policy':
      "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'cross-origin-resource-policy': 'same-origin',
  })
  // A sink of markup, of code, or of stored secrets.
  expect(body).not.toMatch(/innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|Function\(/)
  expect(body).not.toMatch(/localStorage|sessionStorage|document\.cookie|@import|url\(/)
})

test('only the listed files are served', async () => {
  for (const path of [
    '',
    'pages.ts',
    'flows.test.ts',
    '..%2fpages.ts',
    '../pages.ts',
    'page.js/x',
  ]) {
    const reply = await app.server.inject({ url: `/link-pages/${path}` })
    expect([path, reply.statusCode]).toEqual([path, 404])
  }
})

test('pages have a limit of requests by network, of their own', async () => {
  const from = { url: '/invitation', remoteAddress: '203.0.113.9' }
  const { headers } = await app.server.inject(from)
  expect(Number(headers['ratelimit-limit'])).toBe(300)
  for (let sent = 1; sent < 300; sent += 1) await app.server.inject(from)
  expect((await app.server.inject(from)).statusCode).toBe(429)
  expect((await app.server.inject({ ...from, url: '/reset-password' })).statusCode).toBe(200)
  expect((await app.server.inject('/invitation')).statusCode).toBe(200)
})

/** An organization of which only the owner is a member. */
let second: string
beforeAll(async () => {
  second = await organization('Second')
})

async function organization(name: string): Promise<string> {
  const made = { token: owner, body: { name } }
  return (await app.call('POST', '/api/v2/access/organizations', made)).body.id
}

/** Every URL that the pages requested, to look for secrets in it. */
const requested: string[] = []
const call = async (
  method: 'POST' | 'PUT',
  path: string,
  sent: { body: object; access_token?: string },
) => {
  requested.push(path)
  const { access_token: token, body } = sent
  const reply = await app.call(method, path, { body, ...(token !== undefined && { token }) })
  const retry_after_s = Number(reply.headers['retry-after'] ?? Number.NaN)
  return { status: reply.status, body: reply.body ?? {}, retry_after_s }
}

async function invite(email: string, role = 'member', organization = app.first.organization_id) {
  const url = `/api/v2/access/organizations/${organization}/members`
  const { body } = await app.call('POST', url, { token: owner, body: { email, role } })
  return { link: new URL(body.accept_url), token: String(body.token), id: body.id }
}

const flowOf = (link: URL) => createInvitationFlow({ token: readToken(link.hash) ?? '', call })

const sessions = async (email: string) => {
  const { rows } = await app.relational.pool.query(
    `select revoked_at from refresh_tokens join users on users.id = user_id where email = $1`,
    [email],
  )
  return rows.filter(({ revoked_at }) => revoked_at === null).length
}

describe('the page of an invitation', () => {
  test('is what the link opens, with the token in the fragment', async () => {
    const { link, token } = await invite('link@example.com')
    expect(link.href).toBe(`${origin}/invitation#token=${token}`)
    expect(readToken(link.hash)).toBe(token)
    expect((await app.server.inject(link.pathname)).statusCode).toBe(200)
  })

  test('creates an account, after advice on a weak password, and keeps no session', async () => {
    const { link, token } = await invite('ada@example.com', 'admin')
    const flow = flowOf(link)
    expect(await flow.open()).toMatchObject({
      view: 'new_account',
      texts: { organization: 'default', email: 'ada@example.com', role: 'admin' },
    })
    const weak = await flow.create({ display_name: 'Ada', password: 'password1234' })
    expect(weak).toMatchObject({
      view: 'new_account',
      fault: { field: 'password', text: expect.stringContaining('Use a longer phrase') },
    })
    const done = await flow.create({ display_name: 'Ada', password: better })
    expect(done).toMatchObject({ view: 'done', texts: { organization: 'default' } })
    expect(await app.signIn('ada@example.com', better)).toBeDefined()
    expect(await sessions('ada@example.com')).toBe(1)
    expect(await flowOf(link).open()).toMatchObject({ view: 'ended' })
    expect(app.logged()).not.toContain(token)
    expect(requested.join()).not.toContain(token)
  })

  test('signs a person with an account in, and out after the acceptance', async () => {
    const email = 'grace@example.com'
    await app.person(email, 'member')
    const before = await sessions(email)
    const { link } = await invite(email, 'admin', second)
    const flow = flowOf(link)
    expect((await flow.open()).view).toBe('new_account')
    const exists = await flow.create({ display_name: 'Grace', password: better })
    expect(exists).toMatchObject({ view: 'sign_in', notice: expect.stringContaining(email) })
    const wrong = await flow.signIn({ password: 'not the password' })
    expect(wrong).toMatchObject({ view: 'sign_in', fault: { field: 'password' } })
    const done = await flow.signIn({ password: 'correct horse battery' })
    expect(done).toMatchObject({ view: 'done', texts: { organization: 'Second', role: 'admin' } })
    expect(await sessions(email)).toBe(before)
  })

  test('replaces a password that an administrator knows, then accepts', async () => {
    const email = 'given@example.com'
    const { user_id } = await app.person(email, 'member')
    const given = { token: owner, body: { password: 'passed on by phone' } }
    await app.call('POST', `/api/v2/access/users/${user_id}/password`, given)
    const flow = flowOf((await invite(email, 'admin', second)).link)
    await flow.open()
    flow.chooseSignIn()
    expect((await flow.signIn({ password: 'passed on by phone' })).view).toBe('replace_password')
    const weak = await flow.replacePassword({ password: 'password1234' })
    expect(weak).toMatchObject({ view: 'replace_password', fault: { field: 'password' } })
    expect((await flow.replacePassword({ password: better })).view).toBe('done')
    expect(await app.signIn(email, better)).toBeDefined()
    expect(await sessions(email)).toBe(1)
  })

  test('says how long to wait after failed sign-ins', async () => {
    const email = 'waiting@example.com'
    await app.person(email, 'member')
    const flow = flowOf((await invite(email, 'admin', second)).link)
    await flow.open()
    for (let guess = 0; guess < 10; guess += 1) await flow.signIn({ password: 'a wrong guess' })
    const limited = await flow.signIn({ password: 'correct horse battery' })
    expect(limited).toMatchObject({
      view: 'sign_in',
      fault: { text: 'Too many attempts. Try again in 1 second.' },
    })
  })

  test('shows a hostile name of an organization as text', async () => {
    const name = '<img src=x onerror=alert(1)>'
    const { link } = await invite('target@example.com', 'member', await organization(name))
    expect((await flowOf(link).open()).texts).toMatchObject({ organization: name })
  })

  test('makes characters visible that would reorder the text around a name', async () => {
    const id = await organization('Acme evil')
    // Such a name is refused now; it can be an earlier one.
    const name = 'Acme \u202eevil'
    await app.relational.db
      .updateTable('organizations')
      .set({ name })
      .where('id', '=', id)
      .execute()
    const { link } = await invite('reordered@example.com', 'member', id)
    const { texts } = await flowOf(link).open()
    expect(texts['organization']).toBe('Acme \\u202eevil')
  })
})

describe('the page of a reset link', () => {
  const resetLink = async (email: string) => {
    const { user_id } = await app.person(email, 'member')
    const url = `/api/v2/access/users/${user_id}/password-reset`
    return new URL((await app.call('POST', url, { token: owner })).body.url)
  }

  test('sets a password once', async () => {
    const link = await resetLink('forgot@example.com')
    expect((await app.server.inject(link.pathname)).statusCode).toBe(200)
    const token = readToken(link.hash) ?? ''
    const flow = createResetFlow({ token, call })
    expect((await flow.open()).view).toBe('new_password')
    const differ = await flow.setPassword({ password: better, again: 'another phrase' })
    expect(differ).toMatchObject({ view: 'new_password', fault: { field: 'again' } })
    const weak = await flow.setPassword({ password: 'password1234', again: 'password1234' })
    expect(weak).toMatchObject({
      view: 'new_password',
      fault: { field: 'password', text: expect.stringContaining('Use a longer phrase') },
    })
    expect((await flow.setPassword({ password: better, again: better })).view).toBe('done')
    expect(await app.signIn('forgot@example.com', better)).toBeDefined()
    const used = await createResetFlow({ token, call }).setPassword({
      password: better,
      again: better,
    })
    expect(used.view).toBe('ended')
    expect(app.logged()).not.toContain(token)
    expect(requested.join()).not.toContain(token)
  })

  test('without a link requests one, with the same answer for every e-mail', async () => {
    const flow = createResetFlow({ token: undefined, call })
    expect((await flow.open()).view).toBe('request')
    const known = await flow.request({ email: app.first.admin_email })
    const unknown = await flow.request({ email: 'unknown@example.com' })
    expect(known).toMatchObject({ view: 'requested' })
    expect(unknown).toEqual(known)
  })
})
