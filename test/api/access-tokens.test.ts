import { createHmac } from 'node:crypto'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AccessApp, startAccessApp } from '../support/access-app.ts'
import { testPostgres } from '../support/postgres.ts'

const hour = 3_600_000
const day = 24 * hour
let database_url: string
let app: AccessApp
let token: string
beforeAll(async () => {
  database_url = await testPostgres()
  app = await startAccessApp({ database_url })
  token = await app.signIn(app.first.admin_email, app.first.admin_password)
})
afterAll(() => app.close())

const probe = (given: string) => app.call('GET', '/probe/jwt', { token: given })
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const parts = (given: string) =>
  given
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()))

/** A token of a faulty issuer: signed with our own key, with the given differences. */
async function tokenWith(differences: Record<string, unknown>, header = {}): Promise<string> {
  const { kid, private_key } = await app.access.signing_keys.current()
  const [, claims] = parts(token)
  return new SignJWT({ ...claims, ...differences })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid, ...header })
    .sign(private_key)
}

describe('a token is refused', () => {
  test('without a signature, for any declared algorithm', async () => {
    const [header, claims] = parts(token)
    for (const alg of ['none', 'None', 'EdDSA', undefined]) {
      const forged = `${encoded({ ...header, alg })}.${encoded(claims)}.`
      expect((await probe(forged)).body.code).toBe('credentials_invalid')
    }
  })

  test('when it is signed with the public key as a secret', async () => {
    const [header, claims] = parts(token)
    const { body } = await app.call('GET', '/.well-known/jwks.json')
    const signed = `${encoded({ ...header, alg: 'HS256' })}.${encoded(claims)}`
    const mac = createHmac('sha256', Buffer.from(body.keys[0].x, 'base64url')).update(signed)
    expect((await probe(`${signed}.${mac.digest('base64url')}`)).status).toBe(401)
  })

  test('when another key signed it, with our kid, its own or none', async () => {
    const pair = await generateKeyPair('EdDSA', { extractable: true })
    const [header, claims] = parts(token)
    const jwk = await exportJWK(pair.publicKey)
    for (const kid of [header.kid, 'another', undefined]) {
      const forged = await new SignJWT(claims)
        .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', jwk, ...(kid && { kid }) })
        .sign(pair.privateKey)
      expect((await probe(forged)).body.code).toBe('credentials_invalid')
    }
  })

  test.each([
    ['another issuer', { iss: 'elsewhere' }, {}],
    ['another audience', { aud: 'elsewhere' }, {}],
    ['no expiry', { exp: undefined }, {}],
    ['no subject', { sub: undefined }, {}],
    ['another kind of subject', { kind: 'root' }, {}],
    ['a service account without its key', { kind: 'service_account' }, {}],
    ['another type', {}, { typ: 'JWT' }],
    ['an issue time in the future', { iat: Date.now() / 1000 + 600 }, {}],
    ['a life of more than an hour', { iat: Date.now() / 1000 - 3700, exp: 4e9 }, {}],
    ['a user who is not there', { sub: '01890000-0000-7000-8000-000000000000' }, {}],
  ])('with %s', async (_name, claims, header) => {
    expect((await probe(await tokenWith({}))).status).toBe(200)
    const reply = await probe(await tokenWith(claims, header))
    expect([reply.status, reply.body.code]).toEqual([401, 'credentials_invalid'])
  })

  test('when a byte of it was changed', async () => {
    const [header = '', claims = '', signature] = token.split('.')
    const changed = { ...parts(token)[1], kind: 'service_account' }
    expect((await probe(`${header}.${encoded(changed)}.${signature}`)).status).toBe(401)
    expect((await probe(`${header}.${claims}.${'A'.repeat(86)}`)).status).toBe(401)
  })

  test('after an hour, with a specific error', async () => {
    const later = await startAccessApp({ database_url })
    later.clock.ahead_ms = hour + 10_000
    const reply = await later.call('GET', '/probe/jwt', { token })
    expect([reply.status, reply.body.detail]).toEqual([401, 'The access token has expired'])
    await later.close()
  })
})

describe('signing keys', () => {
  test('two concurrent starts create one', async () => {
    const shared = { database_url: await testPostgres() }
    const [one, two] = await Promise.all([startAccessApp(shared), startAccessApp(shared)])
    const kids = await Promise.all([one, two].map(({ access }) => access.signing_keys.current()))
    expect(new Set(kids.map(({ kid }) => kid)).size).toBe(1)
    const rows = await one.relational.db.selectFrom('signing_keys').select('id').execute()
    expect(rows).toHaveLength(1)
    await Promise.all([one.close(), two.close()])
  })

  test('an old one is replaced: published first, then signing, then removed', async () => {
    const own = await startAccessApp()
    const { admin_email, admin_password } = own.first
    const kidOf = (given: string) => parts(given)[0].kid
    const published = async () => {
      const { body } = await own.call('GET', '/.well-known/jwks.json')
      return body.keys.map(({ kid }: { kid: string }) => kid)
    }
    const old = kidOf(await own.signIn(admin_email, admin_password))
    own.clock.ahead_ms = 30 * day + 1_000
    expect(kidOf(await own.signIn(admin_email, admin_password))).toBe(old)
    const both = await published()
    expect(both).toHaveLength(2)
    expect(both).toContain(old)
    const last = await own.signIn(admin_email, admin_password)
    own.clock.ahead_ms += 11 * 60_000
    const fresh = kidOf(await own.signIn(admin_email, admin_password))
    expect([fresh === old, both.includes(fresh)]).toEqual([false, true])
    expect((await own.call('GET', '/probe/jwt', { token: last })).status).toBe(200)
    own.clock.ahead_ms += 2 * hour
    expect(await published()).toEqual([fresh])
    await own.close()
  })

  test("a process finds another's new key at once, and polls only occasionally for unknown ones", async () => {
    const shared = { database_url: await testPostgres() }
    const one = await startAccessApp(shared)
    const two = await startAccessApp(shared)
    await two.call('GET', '/probe/jwt', { token })
    two.clock.ahead_ms += 5_000
    const mine = await one.signIn(one.first.admin_email, one.first.admin_password)
    expect((await two.call('GET', '/probe/jwt', { token: mine })).status).toBe(200)
    await Promise.all([one.close(), two.close()])
  })

  test('the private part is not stored in plain text', async () => {
    const rows = await app.relational.db.selectFrom('signing_keys').selectAll().execute()
    const { private_key } = await app.access.signing_keys.current()
    expect(private_key.extractable).toBe(false)
    for (const { private_key_encrypted, public_jwk } of rows) {
      expect(private_key_encrypted.toString('latin1')).not.toContain('PRIVATE')
      expect(public_jwk).not.toHaveProperty('d')
    }
  })

  test('another secret key still works: it gets its own signing key', async () => {
    const other = await startAccessApp({ database_url, secret_key: 'x'.repeat(32) })
    const theirs = await other.signIn(app.first.admin_email, app.first.admin_password)
    expect((await other.call('GET', '/probe/jwt', { token: theirs })).status).toBe(200)
    expect((await other.call('GET', '/probe/jwt', { token })).status).toBe(200)
    await other.close()
  })
})

test('while the store is unavailable a token is neither valid nor invalid', async () => {
  const cut = await startAccessApp({ database_url })
  await cut.relational.close()
  const reply = await cut.call('GET', '/probe/jwt', { token })
  expect([reply.status, reply.body.code]).toEqual([503, 'store_unavailable'])
  const key = await cut.call('GET', '/probe/key', { key: app.first.project_key })
  expect([key.status, key.body.code]).toEqual([503, 'store_unavailable'])
  expect(key.headers['retry-after']).toBe('1')
  await cut.close()
})
