import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Mailer } from '../../src/platform/mail/index.ts'
import { type AccessApp, outcome, startAccessApp } from '../support/access-app.ts'

type Mail = Parameters<Mailer['send']>[0]

const root = '/api/v2/access/organizations'
const users = '/api/v2/access/users'
/** The same installation without and with a mail server. */
let app: AccessApp
let mailing: AccessApp
const mails: Mail[] = []
let mailFails = false
let owner: string
/** The organization of the victim, and the one of the attacker. */
let a: string
let b: string
let attacker: string
/** An organization of the attacker alone. */
let c: string

beforeAll(async () => {
  app = await startAccessApp()
  mailing = await startAccessApp({
    database_url: app.relational.pool.options.connectionString ?? '',
    public_url: 'https://looptrace.example/',
    mailer: {
      configured: true,
      send: async (mail) => {
        if (mailFails) throw new Error('421 try again later')
        mails.push(mail)
      },
      close: () => undefined,
    },
  })
  owner = await app.signIn(app.first.admin_email, app.first.admin_password)
  a = app.first.organization_id
  b = (await app.call('POST', root, { token: owner, body: { name: 'b' } })).body.id
  attacker = (await app.person('admin@b.example', 'admin', b)).token
  c = (await app.call('POST', root, { token: attacker, body: { name: 'c' } })).body.id
})
/** An organization sends a limited number of links per minute. */
beforeEach(() => {
  app.clock.ahead_ms += 61_000
  mailing.clock.ahead_ms = app.clock.ahead_ms
})
afterAll(async () => {
  await mailing.close()
  await app.close()
})

const invite = (by: AccessApp, organization: string, email: string, token = owner) =>
  by.call('POST', `${root}/${organization}/members`, { token, body: { email, role: 'admin' } })
const acceptNew = (token: string, password: string) =>
  app.call('POST', '/api/v1/auth/invitations/accept', {
    body: { token, display_name: 'Me', password },
  })
const acceptAs = (token: string, as: string) =>
  app.call('POST', '/api/v1/auth/invitations/accept', { token: as, body: { token } })
const changePassword = (token: string, current_password: string, new_password: string) =>
  app.call('PUT', '/api/v1/auth/password', { token, body: { current_password, new_password } })
const tokenIn = (mail: Mail | undefined) => /lti_[0-9A-Za-z]{43}/.exec(mail?.text ?? '')?.[0] ?? ''
const who = (token: string) => app.call('GET', '/probe/user', { token })
const userWith = async (email: string) => {
  const { body } = await app.call('GET', `${users}?limit=1000`, { token: owner })
  return body.users.find((user: { email: string }) => user.email === email)
}

describe('an account cannot be taken over', () => {
  test('an organization sets no password of another person', async () => {
    const body = { email: 'v@corp-a.example', role: 'member', initial_password: 'chosen by B' }
    const reply = await app.call('POST', `${root}/${b}/members`, { token: attacker, body })
    expect(outcome(reply)).toEqual([400, 'invalid_request'])
    expect(reply.body.errors).toMatchObject([
      { pointer: '/initial_password', detail: expect.stringContaining('chooses a password') },
    ])
    expect(reply.text).not.toContain('chosen by B')
  })

  test('the first account of an address gets no membership by the invitation of another organization', async () => {
    const email = 'victim@corp-a.example'
    const squatted = (await invite(app, b, email, attacker)).body.token
    const squatter = (await acceptNew(squatted, 'the password of B')).body.tokens.access_token
    const real = (await invite(app, a, email)).body
    expect((await app.call('GET', `${root}/${a}/invitations`, { token: squatter })).status).toBe(
      404,
    )
    // A link that was passed on does not change the account of another person.
    expect(outcome(await acceptNew(real.token, 'a password of mine'))).toEqual([
      409,
      'account_exists',
    ])
    expect(await app.signIn(email, 'the password of B')).toBeDefined()
    // An administrator of the installation gives the account to the victim.
    const { id } = await userWith(email)
    const given = { token: owner, body: { password: 'passed on by phone' } }
    expect((await app.call('POST', `${users}/${id}/password`, given)).status).toBe(200)
    expect((await who(squatter)).status).toBe(401)
    const victim = await app.signIn(email, 'passed on by phone')
    const mustChange = [403, 'password_change_required']
    expect(outcome(await who(victim))).toEqual(mustChange)
    expect(outcome(await acceptAs(real.token, victim))).toEqual(mustChange)
    await changePassword(victim, 'passed on by phone', 'known to the victim')
    const own = await app.signIn(email, 'known to the victim')
    expect((await acceptAs(real.token, own)).status).toBe(200)
    expect((await app.call('GET', `${root}/${a}/invitations`, { token: own })).status).toBe(200)
  })

  test('a mailed link gives an account to the owner of the mailbox, and ends all other access', async () => {
    const email = 'mailbox@corp-a.example'
    const project = { token: owner, body: { name: 'trap' } }
    await app.call('POST', `${root}/${b}/projects`, project)
    const squatted = (await invite(app, b, email, attacker)).body.token
    const { tokens } = (await acceptNew(squatted, 'the password of B')).body
    expect((await app.call('GET', '/probe/jwt', { token: tokens.access_token })).status).toBe(200)
    expect(await invite(mailing, a, email)).toMatchObject({
      status: 201,
      body: { delivery: 'email', token: null, accept_url: null },
    })
    const claimed = await acceptNew(tokenIn(mails.at(-1)), 'chosen by the victim')
    expect(claimed.status).toBe(200)
    expect((await who(tokens.access_token)).status).toBe(401)
    const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }
    expect((await app.call('POST', '/api/v1/auth/token', { body: refresh })).status).toBe(401)
    await expect(app.signIn(email, 'the password of B')).rejects.toThrow('401')
    const victim = claimed.body.tokens.access_token
    // Calls without a project do not go to the project that the attacker reads.
    const { project_id } = app.first
    expect((await app.call('GET', '/probe/jwt', { token: victim })).body.project_id).toBe(
      project_id,
    )
    expect((await userWith(email)).email_verified_at).not.toBeNull()
    // From now on no link changes the account.
    await invite(mailing, c, email, attacker)
    const mailed = tokenIn(mails.at(-1))
    const exists = [409, 'account_exists']
    expect(outcome(await acceptNew(mailed, 'the password of B'))).toEqual(exists)
    const shown = (await invite(app, c, email, attacker)).body.token
    expect(outcome(await acceptNew(shown, 'the password of B'))).toEqual(exists)
  })

  test('no link claims an administrator of the installation or a disabled account', async () => {
    const { user_id } = await app.person('off@corp-a.example', 'member')
    await app.call('POST', `${users}/${user_id}/disable`, { token: owner })
    const pool = app.relational.pool
    await pool.query('update users set email_verified_at = null where installation_admin')
    for (const email of ['off@corp-a.example', app.first.admin_email]) {
      expect((await invite(mailing, c, email, attacker)).status).toBe(201)
      const claim = await acceptNew(tokenIn(mails.at(-1)), 'the password of B')
      expect(outcome(claim)).toEqual([409, 'account_exists'])
    }
    expect(await app.signIn(app.first.admin_email, app.first.admin_password)).toBeDefined()
  })

  test('a password that another person may know is replaced before a membership', async () => {
    const { user_id, token } = await app.person('old@b.example', 'member', b)
    await app.relational.pool.query(
      "update users set password_origin = 'administrator' where id = $1",
      [user_id],
    )
    const invited = (await invite(app, a, 'old@b.example')).body.token
    expect(outcome(await acceptAs(invited, token))).toEqual([403, 'password_change_required'])
    await changePassword(token, 'correct horse battery', 'known to one person')
    expect((await acceptAs(invited, token)).status).toBe(200)
  })
})

describe('mail', () => {
  test('has the link, the names in quotes on one line, and a fixed subject', async () => {
    const name = 'Bcc: x@y.example "quoted" <b>now</b>'
    const { id } = (await app.call('POST', root, { token: owner, body: { name } })).body
    await app.relational.pool.query('update organizations set name = name || $1 where id = $2', [
      '\r\nBcc: z@y.example\u2028',
      id,
    ])
    await invite(mailing, id, 'reader@example.com')
    const mail = mails.at(-1)
    expect(mail).toMatchObject({ to: 'reader@example.com', subject: 'Invitation to Looptrace' })
    expect(mail?.text.split('\n')[0]).toBe(
      `You are invited to the organization "Bcc: x@y.example 'quoted' <b>now</b>\\u000d\\u000aBcc: z@y.example\\u2028" in Looptrace.`,
    )
    expect(mail?.text).toContain(
      `Open this link to accept:\n\nhttps://looptrace.example/invitation#token=${tokenIn(mail)}\n`,
    )
    expect(mailing.logged()).not.toContain(tokenIn(mail))
  })

  test('goes to an address three times a day, from all organizations together', async () => {
    const email = 'flooded@example.com'
    const sent = mails.length
    const first = await invite(mailing, a, email)
    const resent = `${root}/${a}/invitations/${first.body.id}/resend`
    expect((await mailing.call('POST', resent, { token: owner })).status).toBe(200)
    expect((await invite(mailing, b, email, attacker)).status).toBe(201)
    const refused = await invite(mailing, a, email)
    expect(outcome(refused)).toEqual([429, 'rate_limited'])
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(80_000)
    expect(outcome(await mailing.call('POST', resent, { token: owner }))).toEqual([
      429,
      'rate_limited',
    ])
    expect(mails).toHaveLength(sent + 3)
    // A refused call changes nothing: the link that was sent last still works.
    const last = tokenIn(mails.at(-2))
    const lookedUp = await app.call('POST', '/api/v1/auth/invitations/lookup', {
      body: { token: last },
    })
    expect(lookedUp.status).toBe(200)
  })

  test('is counted for concurrent invitations of several organizations too', async () => {
    const email = 'crowded@example.com'
    expect((await invite(mailing, a, email)).status).toBe(201)
    const sent = mails.length
    const replies = await Promise.all(
      [a, b, c].map((id) => invite(mailing, id, email, id === a ? owner : attacker)),
    )
    expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 201, 429])
    expect(mails).toHaveLength(sent + 2)
  })

  test('that can not be sent leaves the invitation, which is sent again later', async () => {
    mailFails = true
    const failed = await invite(mailing, a, 'later@example.com')
    expect(outcome(failed)).toEqual([503, 'mail_unavailable'])
    mailFails = false
    const listed = await app.call('GET', `${root}/${a}/invitations?limit=1000`, { token: owner })
    const { id } = listed.body.invitations.find(
      (one: { email: string }) => one.email === 'later@example.com',
    )
    const resent = await mailing.call('POST', `${root}/${a}/invitations/${id}/resend`, {
      token: owner,
    })
    expect([resent.status, resent.body.delivery]).toEqual([200, 'email'])
    expect((await acceptNew(tokenIn(mails.at(-1)), 'a password of mine')).status).toBe(201)
    expect((await userWith('later@example.com')).email_verified_at).not.toBeNull()
  })
})
