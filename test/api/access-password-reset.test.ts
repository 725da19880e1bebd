import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openMailer } from '../../src/platform/mail/index.ts'
import { createMetrics } from '../../src/platform/telemetry/index.ts'
import { type AccessApp, startAccessApp } from '../support/access-app.ts'
import { main } from '../support/bundle.ts'
import { eventually } from '../support/eventually.ts'
import { startSmtp, type TestSmtp, textOf } from '../support/smtp.ts'

const secret = 'correct horse battery'
const better = 'purple monkey dishwasher'
let smtp: TestSmtp
let app: AccessApp
/** The same installation without mail, so that invitations show their link. */
let plain: AccessApp
beforeAll(async () => {
  smtp = await startSmtp()
  const mailer = openMailer({
    smtp_url: `smtp://127.0.0.1:${smtp.port}`,
    from: 'looptrace@example.com',
    logger: pino({ level: 'silent' }),
    metrics: createMetrics(),
  })
  plain = await startAccessApp()
  const database_url = plain.relational.pool.options.connectionString ?? ''
  const public_url = 'https://looptrace.example.com'
  app = await startAccessApp({ mailer, public_url, database_url })
})
afterAll(async () => {
  await app.close()
  await plain.close()
  await smtp.close()
})

let network = 0
/** Asks for a link, each time from another network unless one is given. */
function request(email: string, more: { from?: string; headers?: Record<string, string> } = {}) {
  network += 1
  const from = `203.0.113.${network}`
  return app.call('POST', '/api/v1/auth/password-reset', { body: { email }, from, ...more })
}

const confirm = (token: string, new_password = better) =>
  app.call('POST', '/api/v1/auth/password-reset/confirm', { body: { token, new_password } })

const signIn = (username: string, password: string) =>
  app.call('POST', '/api/v1/auth/token', {
    body: { grant_type: 'password', username, password },
  })

const mailsTo = (email: string) => smtp.mails.filter(({ to }) => to.includes(email))

/** Returns the links that were mailed to an address, once there are as many. */
async function linksTo(email: string, count = 1): Promise<string[]> {
  await eventually(`${count} mails to ${email}`, () => mailsTo(email).length >= count)
  return mailsTo(email).map((mail) => /https?:\S+/.exec(textOf(mail))?.[0] ?? '')
}

async function tokenFor(email: string): Promise<string> {
  await plain.person(email, 'member')
  expect((await request(email)).status).toBe(202)
  const [link = ''] = await linksTo(email)
  return new URL(link).hash.replace('#token=', '')
}

const userOf = (email: string) =>
  app.relational.db
    .selectFrom('users')
    .selectAll()
    .where('email', '=', email)
    .executeTakeFirstOrThrow()

describe('a link by mail', () => {
  test('sets the password once, ends all sign-ins and delays, and confirms the e-mail', async () => {
    const email = 'forgetful@example.com'
    const token = await tokenFor(email)
    const { refresh_token } = (await signIn(email, secret)).body
    for (let guess = 0; guess < 10; guess += 1) await signIn(email, 'a wrong guess')
    expect((await signIn(email, secret)).status).toBe(429)
    expect((await userOf(email)).email_verified_at).toBeNull()
    expect((await confirm(token)).status).toBe(204)
    expect((await signIn(email, better)).status).toBe(200)
    expect((await signIn(email, secret)).status).toBe(401)
    const body = { grant_type: 'refresh_token', refresh_token }
    expect((await app.call('POST', '/api/v1/auth/token', { body })).status).toBe(401)
    expect((await userOf(email)).email_verified_at).not.toBeNull()
    const again = await confirm(token, 'another phrase of mine')
    expect([again.status, again.body.code]).toEqual([401, 'credentials_invalid'])
  })

  test('is built from the public URL, whatever the request claims', async () => {
    const email = 'poisoned@example.com'
    await plain.person(email, 'member')
    const evil = 'evil.example'
    await request(email, {
      headers: {
        ...{ host: evil, origin: `https://${evil}`, referer: `https://${evil}/` },
        ...{ 'x-forwarded-host': evil, 'x-forwarded-proto': 'http', forwarded: `host=${evil}` },
      },
    })
    const [link] = await linksTo(email)
    expect(link).toMatch(
      /^https:\/\/looptrace\.example\.com\/reset-password#token=lt_reset_[0-9A-Za-z]{43}$/,
    )
    expect(mailsTo(email)[0]?.source).not.toContain(evil)
  })

  test('is used by one of two concurrent calls', async () => {
    const token = await tokenFor('racing@example.com')
    const replies = await Promise.all([confirm(token), confirm(token, 'another phrase of mine')])
    expect(replies.map(({ status }) => status).toSorted()).toEqual([204, 401])
  })

  test('is not used up by a weak password, which is not quoted', async () => {
    const email = 'weak@example.com'
    const token = await tokenFor(email)
    for (const weak of ['password1234', 'weak@example.com']) {
      const reply = await confirm(token, weak)
      expect([reply.status, reply.body.code]).toEqual([400, 'invalid_request'])
      expect(reply.body.errors?.[0] ?? reply.body).toMatchObject({ pointer: '/new_password' })
      expect(reply.text).toContain('Use a longer phrase')
      expect(reply.text).not.toContain(weak)
    }
    expect((await confirm(token)).status).toBe(204)
  })

  test('expires after 30 minutes, and with a change of the password', async () => {
    const token = await tokenFor('late@example.com')
    app.clock.ahead_ms += 30 * 60_000
    expect((await confirm(token)).status).toBe(401)
    const changed = await tokenFor('changed@example.com')
    await app.call('PUT', '/api/v1/auth/password', {
      token: (await signIn('changed@example.com', secret)).body.access_token,
      body: { current_password: secret, new_password: better },
    })
    expect((await confirm(changed, 'another phrase of mine')).status).toBe(401)
  })

  test('of a person who is disabled meanwhile does nothing', async () => {
    const email = 'leaver@example.com'
    const token = await tokenFor(email)
    await app.relational.db
      .updateTable('users')
      .set({ disabled_at: new Date() })
      .where('email', '=', email)
      .execute()
    expect((await confirm(token)).status).toBe(401)
  })

  test('is neither stored nor logged', async () => {
    const token = await tokenFor('secretive@example.com')
    const rows = await app.relational.db.selectFrom('password_resets').selectAll().execute()
    expect(rows.length).toBeGreaterThan(0)
    expect(JSON.stringify(rows)).not.toContain(token)
    expect(app.logged()).not.toContain(token)
  })
})

describe('requests', () => {
  test('are answered alike with and without an account; only a person with a password gets mail', async () => {
    await plain.person('present@example.com', 'member')
    const email = 'sso@example.com'
    await app.relational.db
      .insertInto('users')
      .values({ id: randomUUID(), email, display_name: email })
      .execute()
    const emails = ['absent', 'sso', 'Present'].map((name) => `${name}@example.com`)
    for (const email of emails) {
      const reply = await request(email)
      expect([reply.status, reply.body]).toEqual([202, { status: 'accepted' }])
    }
    await linksTo('present@example.com')
    expect(mailsTo('absent@example.com')).toEqual([])
    expect(mailsTo('sso@example.com')).toEqual([])
  })

  test('send at most three mails a day to one address', async () => {
    const email = 'flooded@example.com'
    await plain.person(email, 'member')
    const replies = await Promise.all([1, 2, 3, 4, 5].map(() => request(email)))
    expect(replies.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202])
    await linksTo(email, 3)
    await plain.person('after@example.com', 'member')
    await request('after@example.com')
    await linksTo('after@example.com')
    expect(mailsTo(email)).toHaveLength(3)
  })

  test('are limited to ten by network, for any address', async () => {
    const from = '198.51.100.77'
    for (let i = 0; i < 10; i += 1) {
      expect((await request(`nobody-${i}@example.com`, { from })).status).toBe(202)
    }
    const refused = await request('nobody@example.com', { from })
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited'])
    expect((await request('nobody@example.com')).status).toBe(202)
  })

  test.each(['not an address', 'a@b.c\r\nBcc: eve@example.com', 'a@b.c, eve@example.com', ''])(
    'for %j are invalid',
    async (email) => {
      expect((await request(email)).status).toBe(400)
    },
  )
})

test.each(['lt_reset_unknown', '\u0000', 'x'.repeat(256)])('%j is no token', async (token) => {
  const reply = await confirm(token)
  expect([reply.status, reply.body.code]).toEqual([401, 'credentials_invalid'])
})

describe('a link by an administrator', () => {
  const create = (token: string, user_id: string) =>
    app.call('POST', `/api/v2/access/users/${user_id}/password-reset`, { token })

  test('sets a password, and does not confirm the e-mail', async () => {
    const email = 'helped@example.com'
    const { user_id } = await plain.person(email, 'member')
    const admin = await app.signIn(plain.first.admin_email, plain.first.admin_password)
    const { status, body, headers } = await create(admin, user_id)
    expect([status, headers['cache-control']]).toEqual([201, 'no-store'])
    expect(body.url).toBe(`https://looptrace.example.com/reset-password#token=${body.token}`)
    expect((await confirm(body.token)).status).toBe(204)
    expect((await signIn(email, better)).status).toBe(200)
    expect((await userOf(email)).email_verified_at).toBeNull()
    expect(app.logged()).not.toContain(body.token)
    expect(app.logged()).toContain('a reset link was made')
  })

  test('is refused to everyone else, and for an unknown user', async () => {
    const victim = await plain.person('victim@example.com', 'member')
    const other = await plain.person('administrator@example.com', 'admin')
    const made = await app.call('POST', '/api/v2/access/organizations', {
      token: other.token,
      body: { name: 'A second organization' },
    })
    expect(made.status).toBe(201)
    const refused = await create(other.token, victim.user_id)
    expect([refused.status, refused.body.code]).toEqual([403, 'permission_denied'])
    const admin = await app.signIn(plain.first.admin_email, plain.first.admin_password)
    const missing = await create(admin, '018f0000-0000-7000-8000-000000000000')
    expect([missing.status, missing.body.code]).toEqual([404, 'user_not_found'])
  })
})

test('without a mail server the answer is the same, and the log says that no mail can be sent', async () => {
  const { connectionString = '' } = app.relational.pool.options
  const own = await startAccessApp({ database_url: connectionString })
  const body = { email: 'forgetful@example.com' }
  const reply = await own.call('POST', '/api/v1/auth/password-reset', { body, from: '192.0.2.1' })
  expect([reply.status, reply.body]).toEqual([202, { status: 'accepted' }])
  await own.close()
  expect(own.logged()).toContain('no mail can be sent: set LOOPTRACE_SMTP_URL')
})

test('the command line makes a link for the owner of the machine, and none for other e-mails', async () => {
  // The command line has the clock of the machine.
  app.clock.ahead_ms = 0
  const env = {
    PATH: process.env['PATH'],
    LOOPTRACE_POSTGRES_URL: app.relational.pool.options.connectionString,
    LOOPTRACE_PUBLIC_URL: 'https://looptrace.example.com/',
  }
  const run = (email: string) =>
    promisify(execFile)(process.execPath, [main, 'reset-password', email], { env })
  const refused = expect(run('nobody@example.com')).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringContaining('no account has this e-mail'),
  })
  const link = JSON.parse((await run(plain.first.admin_email.toUpperCase())).stdout)
  expect(link.url).toBe(`https://looptrace.example.com/reset-password#token=${link.token}`)
  expect((await confirm(link.token)).status).toBe(204)
  expect((await signIn(plain.first.admin_email, better)).status).toBe(200)
  await refused
})
