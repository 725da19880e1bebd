import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import { type Configuration, Provider } from 'oidc-provider'
import { freePort } from './free-port.ts'

/** A person at the provider, with the claims that the provider sends. */
type ProviderPerson = { sub: string } & Record<string, unknown>

/** The real OpenID Connect provider of the npm package `oidc-provider`, on loopback. */
export type TestProvider = {
  url: string
  client_id: string
  client_secret: string
  /** The person who signs in next, without a form. */
  person: ProviderPerson
  /** Requests so far, by path. */
  requests: string[]
  /** Replaces the signing key by another one, with another `kid`. */
  rotateKey(): Promise<void>
  /** Gets a JWT access token by client credentials, for a resource. */
  accessToken(resource: string): Promise<string>
  close(): Promise<void>
}

/** Audience of access tokens for a resource. */
const audiences: Record<string, string> = {
  'https://looptrace.test': 'looptrace',
  'https://other.test': 'elsewhere',
}

/** Starts the provider with one confidential client, whose redirect URI is at `public_url`. */
export async function startProvider(public_url: string): Promise<TestProvider> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const state = { person: { sub: 'nobody' } as ProviderPerson, handler: undefined as Handler }
  const requests: string[] = []
  const client = { client_id: 'looptrace-console', client_secret: 'a secret of the client' }
  const build = async (kid: string) => {
    const provider = new Provider(
      url,
      configuration({ ...client, public_url, kid, state }, await newKey(kid)),
    )
    provider.use(async (context, next) => {
      if (context.path.startsWith('/interaction/')) {
        const login = { accountId: state.person.sub }
        await provider.interactionFinished(context.req, context.res, { login })
        context.respond = false
        return
      }
      await next()
    })
    state.handler = provider.callback()
  }
  await build('first')
  const server: Server = createServer((request, response) => {
    requests.push(new URL(request.url ?? '', url).pathname)
    state.handler?.(request, response)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  let keys = 1
  return {
    ...{ url, requests, ...client },
    get person() {
      return state.person
    },
    set person(person) {
      state.person = person
    },
    rotateKey: () => {
      keys += 1
      return build(`key-${keys}`)
    },
    accessToken: async (resource) => {
      const basic = Buffer.from(`${client.client_id}:${encodeURIComponent(client.client_secret)}`)
      const reply = await fetch(`${url}/token`, {
        method: 'POST',
        headers: {
          authorization: `Basic ${basic.toString('base64')}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: new URLSearchParams({ grant_type: 'client_credentials', resource }).toString(),
      })
      const body = (await reply.json()) as { access_token?: string }
      if (body.access_token === undefined) throw new Error(`no token: ${JSON.stringify(body)}`)
      return body.access_token
    },
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

type Handler = ((request: IncomingMessage, response: ServerResponse) => unknown) | undefined

async function newKey(kid: string): Promise<JWK> {
  const pair = await generateKeyPair('RS256', { extractable: true })
  return { ...(await exportJWK(pair.privateKey)), kid, alg: 'RS256', use: 'sig' }
}

type World = {
  client_id: string
  client_secret: string
  public_url: string
  state: { person: ProviderPerson }
}

function configuration(
  { client_id, client_secret, public_url, state }: World & { kid: string },
  key: JWK,
): Configuration {
  return {
    jwks: { keys: [key] },
    clients: [
      {
        ...{ client_id, client_secret, response_types: ['code'] },
        grant_types: ['authorization_code', 'client_credentials'],
        redirect_uris: [`${public_url}/api/v1/auth/oidc/callback`],
        post_logout_redirect_uris: [`${public_url}/`],
      },
    ],
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name'],
      groups: ['groups'],
    },
    scopes: ['openid', 'email', 'profile', 'groups'],
    cookies: { keys: ['a key for cookies'] },
    ttl: {
      AccessToken: 600,
      ClientCredentials: 600,
      Grant: 600,
      IdToken: 600,
      Interaction: 600,
      Session: 600,
    },
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context, resource) => ({
          scope: '',
          audience: audiences[resource] ?? resource,
          accessTokenFormat: 'jwt',
        }),
      },
    },
    extraTokenClaims: () => ({ email: state.person['email'], email_verified: true }),
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => Promise.resolve({ ...state.person, sub: id }),
    }),
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    loadExistingGrant: async (context) => {
      const { session, client, provider } = context.oidc
      const grant = new provider.Grant({
        clientId: client?.clientId ?? '',
        accountId: session?.accountId ?? '',
      })
      grant.addOIDCScope('openid email profile groups')
      await grant.save()
      return grant
    },
    renderError: (context, out) => {
      context.body = JSON.stringify(out)
    },
  }
}
