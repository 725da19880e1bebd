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
