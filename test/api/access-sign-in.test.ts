import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AccessApp, startAccessApp } from '../support/access-app.ts'

const url = '/api/v1/auth/token'
let app: AccessApp
beforeAll(async () => {
  app = await startAccessApp()
})
afterAll(() => app.close())

const trade = (body: unknown) => app.call('POST', url, { body })
const password = (username: string, given: string) =>
  trade({ grant_type: 'password', username, password: given })
const refresh = (refresh_token: string) => trade({ grant_type: 'refresh_token', refresh_token })
const signIn = () => password(app.first.admin_email, app.first.admin_password)
const probe = (token: string) => app.call('GET', '/probe/jwt', { token })

describe('by password', () => {
  test('an access token and a refresh token', async () => {
    const reply = await signIn()
    expect(reply.status).toBe(200)
    expect(reply.headers['cache-control']).toBe('no-store')
    const { access_token, ...rest } = reply.body
    expect(rest).toEqual({
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: expect.stringMatching(/^ltr_[0-9A-Za-z]{43}$/),
    })
    expect(decodeProtectedHeader(access_token)).toMatchObject({ alg: 'EdDSA', typ: 'at+jwt' })
    const claims = decodeJwt(access_token)
    expect(claims).toMatchObject({ iss: 'looptrace', aud: 'looptrace-api', kind: 'user' })
    expect(Number(claims.exp) - Number(claims.iat)).toBe(3600)
    expect((await probe(access_token)).body).toEqual({
      kind: 'user',
      id: claims.sub,
      project_id: app.first.project_id,
    })
  })

  test('the e-mail is case-insensitive', async () => {
    const reply = await password(app.first.admin_email.toUpperCase(), app.first.admin_password)
    expect(reply.status).toBe(200)
  })

  test('all refusals are the same, whatever was wrong', async () => {
    const disabled = await app.person('disabled@example.com', 'member')
    await app.relational.db
      .updateTable('users')
      .set({ disabled_at: new Date() })
      .where('id', '=', disabled.user_id)
      .execute()
    const external = await app.person('external@example.com', 'member')
    await app.relational.db
      .updateTable('users')
      .set({ password_hash: null })
      .where('id', '=', external.user_id)
      .execute()
    const replies = await Promise.all([
      password(app.first.admin_email, 'not the password'),
      password('nobody@example.com', 'correct horse battery'),
      password('disabled@example.com', 'correct horse battery'),
      password('external@example.com', 'correct horse battery'),
      password('with a \u0000 in it', 'correct horse battery'),
    ])
    for (const { status, body } of replies) {
      expect([status, body.code]).toEqual([401, 'credentials_invalid'])
      expect(body).toEqual(replies[0]?.body)
    }
  })

  test('guesses at one account are rate limited; others and, after a while, its owner are not', async () => {
    await app.person('guessed@example.com', 'member')
    for (let guess = 0; guess < 10; guess += 1) await password('guessed@example.com', 'a guess')
    const refused = await password('guessed@example.com', 'correct horse battery')
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited'])
    expect(refused.headers['retry-after']).toBe('1')
    expect((await signIn()).status).toBe(200)
    app.clock.ahead_ms += 1_000
    expect((await password('guessed@example.com', 'correct horse battery')).status).toBe(200)
  })
})

describe('by refresh token', () => {
  test('each one can be exchanged once', async () => {
    const first = (await signIn()).body.refresh_token
    const second = await refresh(first)
    expect(second.status).toBe(200)
    expect(second.body.refresh_token).not.toBe(first)
    expect((await probe(second.body.access_token)).status).toBe(200)
    expect((await refresh(second.body.refresh_token)).status).toBe(200)
  })

  test('using one again ends the whole sign-in, and no other', async () => {
    const other = (await signIn()).body.refresh_token
    const first = (await signIn()).body.refresh_token
    const second = (await refresh(first)).body.refresh_token
    expect((await refresh(first)).body.code).toBe('credentials_invalid')
    expect((await refresh(second)).body.code).toBe('credentials_invalid')
    expect((await refresh(other)).status).toBe(200)
  })

  test('of two concurrent uses at most one succeeds', async () => {
    const token = (await signIn()).body.refresh_token
    const replies = await Promise.all([refresh(token), refresh(token), refresh(token)])
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
    const won = replies.find(({ status }) => status === 200)
    expect((await refresh(won?.body.refresh_token)).status).toBe(401)
  })

  test('it ends 30 days after the sign-in, however often it was renewed', async () => {
    const elsewhere = await startAccessApp({ database_url: await currentDatabase() })
    const first = (await signIn()).body.refresh_token
    const trade_ = (refresh_token: string) =>
      elsewhere.call('POST', url, { body: { grant_type: 'refresh_token', refresh_token } })
    elsewhere.clock.ahead_ms = 29 * 24 * 3_600_000
    const second = await trade_(first)
    expect(second.status).toBe(200)
    elsewhere.clock.ahead_ms = 30 * 24 * 3_600_000 + 5_000
    expect((await trade_(second.body.refresh_token)).status).toBe(401)
    await elsewhere.close()
  })

  test('a disabled person gets no new one', async () => {
    const { user_id } = await app.person('leaving@example.com', 'member')
    const { body } = await password('leaving@example.com', 'correct horse battery')
    const disabled_at = new Date()
    await app.relational.db
      .updateTable('users')
      .set({ disabled_at })
      .where('id', '=', user_id)
      .execute()
    app.access.roles.forget()
    expect((await refresh(body.refresh_token)).body.code).toBe('credentials_invalid')
  })

  test('only its hash is stored', async () => {
    const token = (await signIn()).body.refresh_token
    const rows = await app.relational.db.selectFrom('refresh_tokens').selectAll().execute()
    expect(rows.length).toBeGreaterThan(0)
    expect(JSON.stringify(rows)).not.toContain(token)
  })
})

test.each([
  ['an unknown grant', { grant_type: 'implicit' }],
  ['a missing field', { grant_type: 'password', username: 'a@b.c' }],
  ['a field too many', { grant_type: 'refresh_token', refresh_token: 'x', password: 'hunter2' }],
  ['a number', 7],
])('%s is a bad request that quotes nothing', async (_name, body) => {
  const reply = await trade(body)
  expect([reply.status, reply.body.code]).toEqual([400, 'invalid_request'])
  expect(reply.text).not.toContain('hunter2')
})

test('signing out ends the sign-in and no other; an unknown token is no error', async () => {
  const [one, other] = await Promise.all([signIn(), signIn()])
  const next = (await refresh(one.body.refresh_token)).body.refresh_token
  for (const refresh_token of [next, next, 'ltr_unknown']) {
    const reply = await app.call('POST', '/api/v1/auth/revoke', { body: { refresh_token } })
    expect([reply.status, reply.text]).toEqual([204, ''])
  }
  expect((await refresh(next)).status).toBe(401)
  expect((await refresh(other.body.refresh_token)).status).toBe(200)
})

test('the key set is public, may be cached, and is enough to verify a token', async () => {
  const { access_token } = (await signIn()).body
  const keySet = await app.call('GET', '/.well-known/jwks.json')
  expect(keySet.headers['cache-control']).toBe('public, max-age=300')
  expect(keySet.text).not.toContain('"d"')
  const verified = await jwtVerify(access_token, createLocalJWKSet(keySet.body), {
    issuer: 'looptrace',
    audience: 'looptrace-api',
  })
  expect(verified.payload.sub).toBe(decodeJwt(access_token).sub)
})

test('more than 60 calls a minute from one address are refused', async () => {
  const own = await startAccessApp()
  const body = { grant_type: 'implicit' }
  for (let call = 0; call < 60; call += 1) {
    expect((await own.call('POST', url, { body })).status).toBe(400)
  }
  const refused = await own.call('POST', url, { body })
  expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited'])
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  await own.close()
})

test('passwords and tokens are in no log line', async () => {
  const { body } = await signIn()
  await password(app.first.admin_email, 'a wrong password of mine')
  await probe(`${body.access_token}x`)
  await app.call('GET', '/probe/key', { key: app.first.project_key })
  expect(app.logged()).toContain('answered')
  const { admin_password, project_key } = app.first
  const secrets = ['a wrong password of mine', admin_password, project_key, body.refresh_token]
  for (const secret of [...secrets, String(body.access_token).slice(-40)]) {
    expect(app.logged().includes(secret)).toBe(false)
  }
})

async function currentDatabase(): Promise<string> {
  const { connectionString = '' } = app.relational.pool.options
  return connectionString
}
