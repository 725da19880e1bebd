import { once } from 'node:events'
import { createServer } from 'node:http'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AccessApp, startAccessApp } from '../support/access-app.ts'

/** An OpenID Connect issuer: discovery, a key set, and tokens of any content. */
async function startIssuer() {
  const pair = await generateKeyPair('RS256', { extractable: true })
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }
  const world = { keySetStatus: 200, url: '' }
  const server = createServer((request, response) => {
    const documents: Record<string, unknown> = {
      '/.well-known/openid-configuration': { issuer: world.url, jwks_uri: `${world.url}/keys` },
      '/keys': { keys: [jwk] },
    }
    const status = request.url === '/keys' ? world.keySetStatus : 200
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(documents[request.url ?? ''] ?? {}))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  world.url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const tokenWith = (claims: Record<string, unknown>, header = {}, key = pair.privateKey) =>
    new SignJWT({
      iss: world.url,
      aud: 'looptrace',
      sub: `subject of ${claims['email'] ?? 'person@example.com'}`,
      exp: Date.now() / 1000 + 600,
      email: 'Person@Example.com',
      email_verified: true,
      ...claims,
    })
      .setProtectedHeader({ alg: 'RS256', kid: 'one', ...header })
      .sign(key)
  return { world, tokenWith, close: () => server.close() }
}

let issuer: Awaited<ReturnType<typeof startIssuer>>
let app: AccessApp
let user_id: string
beforeAll(async () => {
  issuer = await startIssuer()
  app = await startAccessApp({ oidc_issuer: issuer.world.url, oidc_audience: 'looptrace' })
  const person = await app.person('person@example.com', 'member')
  user_id = person.user_id
})
afterAll(async () => {
  issuer.close()
  await app.close()
})

const who = (token: string) => app.call('GET', '/probe/user', { token })

test("another issuer's token is accepted as the person with its verified e-mail", async () => {
  const reply = await who(await issuer.tokenWith({}))
  expect([reply.status, reply.body]).toEqual([200, { kind: 'user', id: user_id, project_id: '' }])
})

test('our own tokens are still accepted', async () => {
  const token = await app.signIn(app.first.admin_email, app.first.admin_password)
  expect((await who(token)).status).toBe(200)
})

test('proof of the address by the issuer ends the password and sessions of an unproven account', async () => {
  const squatter = await app.person('victim@example.com', 'member')
  expect((await who(squatter.token)).status).toBe(200)
  const victim = await issuer.tokenWith({ email: 'victim@example.com' })
  expect((await who(victim)).body.id).toBe(squatter.user_id)
  expect((await who(squatter.token)).status).toBe(401)
  const signedIn = app.signIn('victim@example.com', 'correct horse battery')
  await expect(signedIn).rejects.toThrow('credentials_invalid')
  expect((await who(victim)).status).toBe(200)
})

test('a person without an account accepts an invitation with a token of the issuer', async () => {
  const owner = await app.signIn(app.first.admin_email, app.first.admin_password)
  const members = `/api/v2/access/organizations/${app.first.organization_id}/members`
  const body = { email: 'new@example.com', role: 'member' }
  const invited = await app.call('POST', members, { token: owner, body })
  const accept = (token: string) =>
    app.call('POST', '/api/v1/auth/invitations/accept', {
      token,
      body: { token: invited.body.token },
    })
  const other = await accept(await issuer.tokenWith({ email: 'other@example.com' }))
  expect([other.status, other.body.code]).toEqual([403, 'permission_denied'])
  const token = await issuer.tokenWith({ email: 'new@example.com' })
  expect((await who(token)).status).toBe(401)
  const accepted = await accept(token)
  expect([accepted.status, accepted.body.tokens]).toEqual([201, null])
  // The subject that accepted is the person from then on.
  const stranger = await issuer.tokenWith({ email: 'new@example.com', sub: 'another subject' })
  expect((await who(stranger)).status).toBe(401)
  expect((await who(token)).body.id).toBe(accepted.body.user_id)
})

describe('a token is refused', () => {
  test.each([
    ['with an e-mail that is not verified', { email_verified: false }],
    ['with an e-mail that is said to be verified as text', { email_verified: 'true' }],
    ['without an e-mail', { email: undefined }],
    ['for an unknown person', { email: 'nobody@example.com' }],
    ['for another audience', { aud: 'elsewhere' }],
    ['from another issuer', { iss: 'http://127.0.0.1:1' }],
    ['that has expired', { exp: Date.now() / 1000 - 60 }],
    ['that never expires', { exp: undefined }],
    ['issued in the future', { iat: Date.now() / 1000 + 60 }],
    ['without a subject', { sub: undefined }],
    ['with a subject that no store can hold', { sub: 'a\u0000b' }],
  ])('%s', async (_name, claims) => {
    const reply = await who(await issuer.tokenWith(claims))
    expect([reply.status, reply.body.code]).toEqual([401, 'credentials_invalid'])
  })

  test('of another key, or with a kid that is not in the set', async () => {
    const other = await generateKeyPair('RS256')
    expect((await who(await issuer.tokenWith({}, {}, other.privateKey))).status).toBe(401)
    expect((await who(await issuer.tokenWith({}, { kid: 'two' }))).status).toBe(401)
  })

  test('without a signature', async () => {
    const [, claims] = (await issuer.tokenWith({})).split('.')
    const header = Buffer.from('{"alg":"none"}').toString('base64url')
    expect((await who(`${header}.${claims}.`)).status).toBe(401)
  })
})

test('without an external issuer its tokens are invalid', async () => {
  const plain = await startAccessApp()
  const token = await issuer.tokenWith({})
  expect((await plain.call('GET', '/probe/user', { token })).status).toBe(401)
  await plain.close()
})

test.each([
  ['does not answer', 'http://127.0.0.1:1', 200],
  ['has no key set', undefined, 500],
])('an issuer that %s does not make the token invalid', async (_name, url, status) => {
  issuer.world.keySetStatus = status
  const oidc_issuer = url ?? issuer.world.url
  const cut = await startAccessApp({ oidc_issuer, oidc_audience: 'looptrace' })
  const token = await issuer.tokenWith({ iss: oidc_issuer })
  const reply = await cut.call('GET', '/probe/user', { token })
  expect([reply.status, reply.body.code]).toEqual([503, 'issuer_unreachable'])
  issuer.world.keySetStatus = 200
  await cut.close()
})
