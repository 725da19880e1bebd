import { once } from 'node:events'
import { createServer } from 'node:http'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'

/** An issuer whose every answer a test can replace, for answers that a real provider never gives. */
export type HostileIssuer = Awaited<ReturnType<typeof startHostileIssuer>>

/** What the issuer answers. Undefined answers honestly. */
type World = {
  url: string
  /** Replaces fields of the discovery document. */
  document: Record<string, unknown>
  /** Replaces claims of the ID token; undefined leaves one out. */
  claims: Record<string, unknown>
  /** Makes the whole ID token. */
  idToken: ((honest: JWTPayload) => Promise<string>) | undefined
  userinfo: Record<string, unknown>
  /** Status of a path, instead of 200. */
  statuses: Record<string, number>
  requests: string[]
  nonce: string
}

/** Starts the issuer on loopback. */
export async function startHostileIssuer() {
  const pair = await generateKeyPair('RS256', { extractable: true })
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }
  const world: World = { url: '', requests: [], nonce: '', ...honest() }
  const sign = (claims: JWTPayload) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(pair.privateKey)
  const answers: Record<string, () => unknown> = {
    '/.well-known/openid-configuration': () => ({
      ...{ issuer: world.url, jwks_uri: `${world.url}/keys` },
      authorization_endpoint: `${world.url}/authorize`,
      token_endpoint: `${world.url}/token`,
      userinfo_endpoint: `${world.url}/userinfo`,
      ...world.document,
    }),
    '/keys': () => ({ keys: [jwk] }),
    '/userinfo': () => ({ sub: 'ada', ...world.userinfo }),
    '/token': async () => {
      const now_s = Math.floor(Date.now() / 1000)
      const claims = {
        ...{ iss: world.url, aud: 'client', sub: 'ada', iat: now_s, exp: now_s + 600 },
        ...{ nonce: world.nonce, email: 'ada@example.com', email_verified: true, groups: ['all'] },
        ...(world.claims as JWTPayload),
      }
      const id_token = await (world.idToken ?? sign)(claims)
      return { access_token: 'opaque', token_type: 'Bearer', expires_in: 60, id_token }
    },
  }
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://issuer.test')
    world.requests.push(pathname)
    const status = world.statuses[pathname] ?? 200
    const location = { location: `${world.url}/keys` }
    const body = JSON.stringify((await answers[pathname]?.()) ?? {})
    response.writeHead(status, { 'content-type': 'application/json', ...location }).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  world.url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  return {
    world,
    jwk,
    sign,
    reset: () => Object.assign(world, honest()),
    close: () => server.close(),
  }
}

function honest(): Omit<World, 'url' | 'requests' | 'nonce'> {
  return { document: {}, claims: {}, idToken: undefined, userinfo: {}, statuses: {} }
}
