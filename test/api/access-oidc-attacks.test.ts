import { createHmac } from 'node:crypto'
import { generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openOutbound } from '../../src/platform/outbound/index.ts'
import { type AccessApp, outcome, startAccessApp } from '../support/access-app.ts'
import { openBrowser } from '../support/browser.ts'
import { type HostileIssuer, startHostileIssuer } from '../support/hostile-issuer.ts'

const public_url = 'http://looptrace.test:8080'
let issuer: HostileIssuer
let app: AccessApp

const settings = () => ({
  public_url,
  oidc_issuer: issuer.world.url,
  oidc_client_id: 'client',
  oidc_audience: 'api',
  oidc_group_roles: [{ group: 'all', organization: 'default', role: 'member' as const }],
})
beforeAll(async () => {
  issuer = await startHostileIssuer()
  app = await startAccessApp(settings())
})
beforeEach(() => issuer.reset())
afterAll(async () => {
  issuer.close()
  await app.close()
})

/** Starts a sign-in and comes back with a code, as the issuer's own page would. */
async function signIn(at = app) {
  const browser = openBrowser(at)
  const { reply, location } = await browser.start()
  if (reply.status !== 302) return reply
  const { searchParams } = new URL(location)
  issuer.world.nonce = searchParams.get('nonce') ?? ''
  const state = searchParams.get('state') ?? ''
  const query = new URLSearchParams({ state, code: 'a code' })
  return browser.comeBack(`${public_url}/api/v1/auth/oidc/callback?${query}`)
}

const encoded = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url')

test('an honest answer signs in; without HTTPS the cookie has no Secure', async () => {
  const back = await signIn()
  expect([back.status, back.headers['location']]).toEqual([302, `${public_url}/`])
  expect(back.headers['set-cookie']).toEqual([
    expect.stringMatching(/^looptrace_session=lts_\w{43}; Path=\/; HttpOnly; SameSite=Strict; Max/),
    expect.stringMatching(/^looptrace_sign_in=; Path=\/; HttpOnly; SameSite=Lax; Max-Age=0$/),
  ])
})

describe('an ID token is refused', () => {
  const now_s = () => Math.floor(Date.now() / 1000)
  test.each<[string, () => Record<string, unknown>]>([
    ['with another nonce', () => ({ nonce: 'of another sign-in' })],
    ['without a nonce', () => ({ nonce: undefined })],
    ['for another client', () => ({ aud: 'another client' })],
    ['for our API instead of our client', () => ({ aud: 'api' })],
    ['for several clients, for the use of another', () => ({ aud: ['client', 'x'], azp: 'x' })],
    ['of another issuer', () => ({ iss: 'https://attacker.test' })],
    ['that has expired', () => ({ exp: now_s() - 60 })],
    ['that never expires', () => ({ exp: undefined })],
    ['issued in the future', () => ({ iat: now_s() + 60 })],
    ['issued long ago', () => ({ iat: now_s() - 3_600 })],
    ['not valid yet', () => ({ nbf: now_s() + 60 })],
    ['without a subject', () => ({ sub: undefined })],
  ])('%s', async (_name, claims) => {
    issuer.world.claims = claims()
    expect(outcome(await signIn())).toEqual([401, 'credentials_invalid'])
  })

  test.each<[string, (claims: JWTPayload) => Promise<string>]>([
    ['without a signature', async (claims) => `${encoded({ alg: 'none' })}.${encoded(claims)}.`],
    [
      'signed with the public key as a secret (HS256)',
      async (claims) => {
        const content = `${encoded({ alg: 'HS256', kid: 'one' })}.${encoded(claims)}`
        const secret = JSON.stringify(issuer.jwk)
        return `${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`
      },
    ],
    [
      'signed by another key with a known kid',
      async (claims) => {
        const { privateKey } = await generateKeyPair('RS256')
        return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(privateKey)
      },
    ],
    [
      'whose claims were changed',
      async (claims) => {
        const [header, , signature] = (await issuer.sign(claims)).split('.')
        return `${header}.${encoded({ ...claims, sub: 'another' })}.${signature}`
      },
    ],
    ['that is no token', async () => 'no token'],
  ])('%s', async (_name, idToken) => {
    issuer.world.idToken = idToken
    expect(outcome(await signIn())).toEqual([401, 'credentials_invalid'])
  })

  test('when the user information is about another subject', async () => {
    issuer.world.claims = { groups: undefined }
    issuer.world.userinfo = { sub: 'somebody else', groups: ['all'] }
    expect(outcome(await signIn())).toEqual([401, 'credentials_invalid'])
  })
})

test('a skew of seconds between the clocks is tolerated', async () => {
  const now_s = Math.floor(Date.now() / 1000)
  for (const claims of [{ iat: now_s + 3 }, { nbf: now_s + 3 }, { exp: now_s - 3 }]) {
    issuer.world.claims = claims
    expect((await signIn()).status).toBe(302)
  }
})

describe('an issuer that fails makes no sign-in invalid', () => {
  test.each(['/.well-known/openid-configuration', '/token', '/userinfo'])('%s', async (path) => {
    const cut = await startAccessApp(settings())
    issuer.world.claims = { groups: undefined }
    issuer.world.statuses = { [path]: 503 }
    expect(outcome(await signIn(cut))).toEqual([503, 'issuer_unreachable'])
    await cut.close()
  })

  test('a document that names another issuer is not used', async () => {
    issuer.world.document = { issuer: 'https://attacker.test' }
    const cut = await startAccessApp(settings())
    expect(outcome(await signIn(cut))).toEqual([503, 'issuer_unreachable'])
    await cut.close()
  })

  test('an outage after the first sign-in: the last metadata is used', async () => {
    const cut = await startAccessApp(settings())
    await signIn(cut)
    issuer.world.statuses = { '/.well-known/openid-configuration': 503 }
    cut.clock.ahead_ms = 2 * 3_600_000
    const started = await openBrowser(cut).start()
    cut.clock.ahead_ms = 0
    expect(started.reply.status).toBe(302)
    await cut.close()
  })
})

describe('requests to the issuer', () => {
  test('go to no other address of the network that the issuer names', async () => {
    const outbound = openOutbound({ allowed: [], trusted_hosts: ['127.0.0.1'] })
    const cut = await startAccessApp({ ...settings(), outbound })
    const inside = 'http://169.254.169.254/latest/meta-data'
    issuer.world.document = { token_endpoint: inside }
    expect(outcome(await signIn(cut))).toEqual([503, 'issuer_unreachable'])
    await cut.close()
  })

  test('follow no redirect', async () => {
    issuer.world.statuses = { '/token': 307 }
    issuer.world.requests.length = 0
    const back = await signIn()
    expect(back.status).toBe(401)
    expect(issuer.world.requests.filter((path) => path !== '/token')).not.toContain('/keys')
  })

  test('for unknown keys, which anybody can name, are rare', async () => {
    const cut = await startAccessApp(settings())
    issuer.world.requests.length = 0
    for (let i = 0; i < 20; i += 1) {
      const header = encoded({ alg: 'RS256', kid: `kid-${i}` })
      const token = `${header}.${encoded({ iss: issuer.world.url, aud: 'api', sub: 'a' })}.AAAA`
      const reply = await cut.call('GET', '/probe/user', { token })
      expect(outcome(reply)).toEqual([401, 'credentials_invalid'])
    }
    expect(issuer.world.requests).toEqual(['/.well-known/openid-configuration', '/keys'])
    await cut.close()
  })
})

test('starting sign-ins stores nothing', async () => {
  const count = async () => {
    const { rows } = await app.relational.pool.query('select count(*) as n from used_sign_ins')
    return Number(rows[0].n)
  }
  const before = await count()
  for (let i = 0; i < 5; i += 1) await openBrowser(app).start()
  expect(await count()).toBe(before)
})

test('a client without the issuer or the public URL is refused at the start', async () => {
  const { public_url: _, ...without } = settings()
  await expect(startAccessApp(without)).rejects.toThrow('requires LOOPTRACE_PUBLIC_URL')
  await expect(startAccessApp({ public_url, oidc_client_id: 'client' })).rejects.toThrow(
    'requires LOOPTRACE_OIDC_ISSUER',
  )
})

describe('claims of the ID token and of the user information are not mixed', () => {
  const victim = 'victim-of-mixing@example.com'
  const mine = 'mallory-mixing@example.com'
  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    [
      'an e-mail that only the user information verifies',
      { email: victim, email_verified: undefined },
      { email: mine, email_verified: true },
    ],
    [
      'an e-mail of the user information that only the ID token verifies',
      { email: undefined, email_verified: true },
      { email: victim },
    ],
    [
      'a verification without an e-mail beside an e-mail without a verification',
      { email: victim, email_verified: undefined },
      { email_verified: true },
    ],
  ])('%s gives no account', async (_name, claims, userinfo) => {
    const { user_id } = await app.person(`${crypto.randomUUID()}-${victim}`, 'member')
    await app.relational.db
      .updateTable('users')
      .set({ email: victim })
      .where('id', '=', user_id)
      .execute()
    issuer.world.claims = { sub: 'mallory mixing', groups: undefined, ...claims }
    issuer.world.userinfo = { sub: 'mallory mixing', ...userinfo }
    await signIn()
    const linked = await app.relational.db
      .selectFrom('user_identities')
      .innerJoin('users', 'users.id', 'user_identities.user_id')
      .select('users.email')
      .where('subject', '=', 'mallory mixing')
      .execute()
    expect(linked).toEqual([])
    await app.relational.db.deleteFrom('users').where('id', '=', user_id).execute()
  })

  test.each<[string, unknown, unknown]>([
    ['the ID token', false, true],
    ['the user information', true, false],
    ['the ID token, as text', 'false', true],
    ['the user information, as text', true, 'False'],
  ])('a `false` of %s wins', async (_name, token, info) => {
    const email = 'denied@example.com'
    issuer.world.claims = { sub: 'denied', groups: undefined, email, email_verified: token }
    issuer.world.userinfo = { sub: 'denied', groups: ['all'], email, email_verified: info }
    expect(outcome(await signIn())).toEqual([403, 'permission_denied'])
  })

  test('one source that has both is enough', async () => {
    const info = { email: 'whole@example.com', email_verified: true, groups: ['all'] }
    issuer.world.claims = { sub: 'whole', ...{ email: undefined, groups: undefined } }
    issuer.world.claims['email_verified'] = undefined
    issuer.world.userinfo = { sub: 'whole', ...info }
    expect((await signIn()).status).toBe(302)
  })
})

describe('a subject of the issuer is one person in every client', () => {
  const accessToken = (claims: Record<string, unknown>) => {
    const iat = Math.floor(Date.now() / 1000)
    const token = { iss: issuer.world.url, aud: 'api', iat, exp: iat + 600, email_verified: true }
    return issuer.sign({ ...token, ...claims })
  }
  const who = (token: string, at = app) => at.call('GET', '/probe/user', { token })

  test('an access token of another subject with the same verified e-mail is refused', async () => {
    const email = 'one-subject@example.com'
    issuer.world.claims = { sub: 'rightful', email }
    expect((await signIn()).status).toBe(302)
    const stranger = await who(await accessToken({ sub: 'stranger', email }))
    expect(outcome(stranger)).toEqual([401, 'credentials_invalid'])
    expect((await who(await accessToken({ sub: 'rightful', email }))).status).toBe(200)
    expect((await signIn()).status).toBe(302)
  })

  test('a sign-in of another subject than that of an access token is refused', async () => {
    const email = 'api-first@example.com'
    const { user_id } = await app.person(email, 'member')
    const first = await who(await accessToken({ sub: 'first', email }))
    expect(first.body.id).toBe(user_id)
    issuer.world.claims = { sub: 'second', email }
    expect(outcome(await signIn())).toEqual([403, 'permission_denied'])
    issuer.world.claims = { sub: 'first', email: 'moved@example.com' }
    expect((await signIn()).status).toBe(302)
    const moved = await who(await accessToken({ sub: 'first', email: 'moved@example.com' }))
    expect(moved.body.id).toBe(user_id)
  })

  test('of several first tokens at once, one subject is linked', async () => {
    const email = 'raced@example.com'
    await app.person(email, 'member')
    const tokens = await Promise.all(
      Array.from({ length: 6 }, (_, at) => accessToken({ sub: `racer ${at}`, email })),
    )
    const signedIn = () => {
      issuer.world.claims = { sub: 'racer in a browser', email }
      return signIn()
    }
    const replies = await Promise.all([signedIn(), ...tokens.map((token) => who(token))])
    const { rows } = await app.relational.pool.query(
      'select distinct subject from user_identities join users on users.id = user_id where email = $1',
      [email],
    )
    expect(rows).toHaveLength(1)
    expect(replies.filter(({ status }) => status < 400)).toHaveLength(1)
  })

  test('an administrator removes the links, which ends the sessions; the next one is linked', async () => {
    const email = 'relinked@example.com'
    const person = await app.person(email, 'member')
    const old = await accessToken({ sub: 'old subject', email })
    expect((await who(old)).status).toBe(200)
    const owner = await app.signIn(app.first.admin_email, app.first.admin_password)
    const url = `/api/v2/access/users/${person.user_id}/identities`
    const listed = await app.call('GET', url, { token: owner })
    expect(listed.body.identities).toEqual([
      {
        ...{ issuer: issuer.world.url, client_id: 'api', subject: 'old subject' },
        created_at: expect.any(String),
      },
    ])
    for (const method of ['GET', 'DELETE'] as const) {
      const { token } = await app.person(`${method}-x@example.com`, 'admin')
      const denied = await app.call(method, url, { token })
      expect(outcome(denied)).toEqual([403, 'permission_denied'])
    }
    expect((await app.call('DELETE', url, { token: owner })).status).toBe(204)
    const hour_ago_s = Math.floor(Date.now() / 1000) - 3_600
    for (const iat of [hour_ago_s, undefined]) {
      const older = await accessToken({ sub: 'old subject', email, iat })
      expect(outcome(await who(older))).toEqual([401, 'credentials_invalid'])
    }
    const fresh = await accessToken({ sub: 'new subject', email })
    expect((await who(fresh)).body.id).toBe(person.user_id)
    expect(outcome(await who(old))).toEqual([401, 'credentials_invalid'])
    const record = await app.relational.db
      .selectFrom('audit_records')
      .select(['resource_id', 'change_value', 'outcome'])
      .where('action', '=', 'unlinkUserIdentities')
      .where('outcome', '=', 'succeeded')
      .executeTakeFirstOrThrow()
    expect(record.resource_id).toBe(person.user_id)
    expect(record.change_value).toContain('old subject')
    const unknown = `/api/v2/access/users/${crypto.randomUUID()}/identities`
    expect(outcome(await app.call('DELETE', unknown, { token: owner }))).toEqual([
      404,
      'user_not_found',
    ])
  })

  test('with pairwise subjects, each client has its own subject of an account', async () => {
    const pairwise = await startAccessApp({ ...settings(), oidc_subjects: 'pairwise' })
    const email = 'pairwise@example.com'
    issuer.world.claims = { sub: 'in the console', email }
    expect((await signIn(pairwise)).status).toBe(302)
    const api = await who(await accessToken({ sub: 'in the api', email }), pairwise)
    expect(api.status).toBe(200)
    issuer.world.claims = { sub: 'somebody else', email }
    expect(outcome(await signIn(pairwise))).toEqual([403, 'permission_denied'])
    await pairwise.close()
  })
})
