import * as openid from 'openid-client'
import { Problem, problem } from '../../../kernel/problem.ts'
import type { Clock } from '../../../kernel/time.ts'
import { OutboundFailed } from '../../../platform/outbound/index.ts'
import type { Attempt } from './attempt.ts'
import {
  clockToleranceSeconds,
  type Issuer,
  type IssuerMetadata,
  issuerUnreachable,
} from './issuer.ts'
import { type ArrivingPerson, personFrom } from './person.ts'

/** The client of the external issuer: authorization code with PKCE, state and nonce. */
export type IssuerClient = {
  /** Returns the URL at the issuer to open, and the values that the issuer must return. */
  start(): Promise<{ url: string } & Pick<Attempt, 'state' | 'nonce' | 'verifier'>>
  /**
   * Exchanges the code in the parameters of the redirect. Rejects with `credentials_invalid`,
   * `permission_denied` when the issuer refused the person, and `issuer_unreachable`.
   */
  finish(parameters: string, attempt: Attempt): Promise<ArrivingPerson>
  /** Returns the page of the issuer that ends the person's session there, if it has one. */
  logoutUrl(): Promise<string | null>
}

export type IssuerClientOptions = {
  issuer: Issuer
  clock: Clock
  client_id: string
  /** Undefined for a public client. */
  client_secret: string | undefined
  scopes: string
  groups_claim: string
  /** Origin of the pages of Looptrace, to which the issuer sends browsers back. */
  public_url: string
}

/** Path of the redirect URI, which the issuer must allow for the client. */
const callbackPath = '/api/v1/auth/oidc/callback'

/** Creates the client. Sends no request. */
export function createIssuerClient(options: IssuerClientOptions): IssuerClient {
  const { issuer, client_id, groups_claim, public_url, scopes } = options
  const redirect_uri = `${public_url}${callbackPath}`
  const configured = async () => configure(await issuer.metadata(), options)
  return {
    start: async () => {
      const config = await configured()
      const state = openid.randomState()
      const nonce = openid.randomNonce()
      const verifier = openid.randomPKCECodeVerifier()
      const code_challenge = await openid.calculatePKCECodeChallenge(verifier)
      const url = openid.buildAuthorizationUrl(config, {
        redirect_uri,
        state,
        nonce,
        code_challenge,
        scope: scopes,
        code_challenge_method: 'S256',
      })
      return { url: url.href, state, nonce, verifier }
    },
    finish: async (parameters, attempt) => {
      const config = await configured()
      const back = new URL(`${redirect_uri}?${parameters}`)
      try {
        const tokens = await openid.authorizationCodeGrant(config, back, {
          pkceCodeVerifier: attempt.verifier,
          expectedState: attempt.state,
          expectedNonce: attempt.nonce,
          idTokenExpected: true,
        })
        const claims = await issuer.verify(tokens.id_token ?? '', {
          audience: client_id,
          requiredClaims: ['iat'],
          maxTokenAge: maxIdTokenAgeSeconds,
        })
        const user_info = await userInfo(config, tokens.access_token, claims, groups_claim)
        const origin = { issuer: issuer.url, subjects: issuer.subjects, client_id }
        return personFrom({ id_token: claims, user_info }, { ...origin, groups_claim })
      } catch (error) {
        throw refusal(error)
      }
    },
    logoutUrl: async () => {
      const config = await configured().catch(() => undefined)
      if (config?.serverMetadata().end_session_endpoint === undefined) return null
      const post_logout_redirect_uri = `${public_url}/`
      return openid.buildEndSessionUrl(config, { post_logout_redirect_uri }).href
    },
  }
}

const maxIdTokenAgeSeconds = 600

/** Fetches UserInfo: most issuers send groups and e-mail only here. Requires the same subject. */
async function userInfo(
  config: openid.Configuration,
  access_token: string,
  claims: Readonly<Record<string, unknown>>,
  groups_claim: string,
): Promise<Record<string, unknown>> {
  const needed = ['email', 'email_verified', groups_claim]
  const isComplete = needed.every((name) => claims[name] !== undefined)
  if (isComplete || config.serverMetadata().userinfo_endpoint === undefined) return {}
  return openid.fetchUserInfo(config, access_token, String(claims['sub']))
}

function configure(metadata: IssuerMetadata, options: IssuerClientOptions): openid.Configuration {
  const { issuer, client_id, client_secret, clock } = options
  // OpenID Connect Discovery 1.0, section 3: without a list, the issuer supports Basic.
  const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = metadata
  const auth = authentication(client_secret, methods)
  const config = new openid.Configuration(
    metadata as openid.ServerMetadata,
    client_id,
    {
      [openid.clockTolerance]: clockToleranceSeconds,
      [openid.clockSkew]: Math.round((clock.now_ms() - Date.now()) / 1000),
    },
    auth,
  )
  config[openid.customFetch] = issuer.fetch
  if (issuer.url.startsWith('http:')) openid.allowInsecureRequests(config)
  return config
}

function authentication(secret: string | undefined, methods: readonly string[]): openid.ClientAuth {
  if (secret === undefined) return openid.None()
  const isBasic = methods.includes('client_secret_basic')
  return isBasic ? openid.ClientSecretBasic(secret) : openid.ClientSecretPost(secret)
}

/** Error codes of RFC 6749 that messages may quote. */
const errorName = /^[a-z_]{1,40}$/

function refusal(error: unknown): unknown {
  if (error instanceof Problem) return error
  if (isUnavailable(error)) return issuerUnreachable(error)
  if (error instanceof openid.AuthorizationResponseError && errorName.test(error.error)) {
    return problem('permission_denied', {
      detail: `The external issuer refused the sign-in: ${error.error}`,
      cause: error,
    })
  }
  return signInRefused('The external issuer sent an invalid answer', error)
}

/** Returns whether the issuer did not answer, or answered with a server error. */
function isUnavailable(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < causes_max; depth += 1) {
    if (at instanceof OutboundFailed || at.name === 'TimeoutError') return true
    if (at.cause instanceof Response && at.cause.status >= 500) return true
    at = at.cause
  }
  return false
}

const causes_max = 5

/** Returns the error for a sign-in that must be started again. */
export function signInRefused(what: string, cause?: unknown): Error {
  return problem('credentials_invalid', {
    detail: `${what}. Start again at /api/v1/auth/oidc/login`,
    cause,
  })
}
