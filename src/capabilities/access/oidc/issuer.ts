import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type JWTPayload,
  type JWTVerifyOptions,
  jwtVerify,
  type RemoteJWKSet,
} from 'jose'
import { z } from 'zod'
import { Problem, problem } from '../../../kernel/problem.ts'
import type { Clock } from '../../../kernel/time.ts'
import type { Outbound } from '../../../platform/outbound/index.ts'
import { portsOf } from '../../../platform/outbound/index.ts'
import type { SubjectType } from './person.ts'

/** The external OpenID Connect issuer: its metadata and keys, fetched when they are needed. */
export type Issuer = {
  /** URL of the issuer, exactly as in the `iss` of its tokens. */
  url: string
  subjects: SubjectType
  /** Returns the metadata, at most an hour old. Rejects with `issuer_unreachable`. */
  metadata(): Promise<IssuerMetadata>
  /**
   * Verifies signature, issuer, audience and times of a token. Rejects with `credentials_invalid`,
   * or with `issuer_unreachable` when keys are missing and cannot be fetched.
   */
  verify(token: string, rules: TokenRules): Promise<JWTPayload>
  /** `fetch` through the guard of outbound requests. */
  fetch: IssuerFetch
}

/** The discovery document, of which only the fields that we use are checked. */
export type IssuerMetadata = z.output<typeof metadataSchema>

type TokenRules = { audience: string } & Pick<JWTVerifyOptions, 'maxTokenAge' | 'requiredClaims'>

/** The part of `fetch` that `jose` and `openid-client` call. */
type IssuerFetch = (
  url: string,
  options: {
    method: string
    headers: Headers | Record<string, string>
    body?: unknown
    signal?: AbortSignal | undefined
  },
) => Promise<Response>

export type IssuerOptions = {
  issuer: string
  /** Default: `public`. */
  subjects?: SubjectType | undefined
  outbound: Outbound
  clock: Clock
  /** Longest wait for one reply of the issuer. */
  timeout_ms?: number
  /** Shortest time between two fetches of the keys for a `kid` that the set does not have. */
  unknown_kid_refresh_ms?: number
}

/** Creates an issuer. Sends no request. */
export function createIssuer(options: IssuerOptions): Issuer {
  const { issuer, outbound, clock, timeout_ms = 5_000 } = options
  const { unknown_kid_refresh_ms = 10_000 } = options
  const fetch = guardedFetch(outbound, { issuer, timeout_ms })
  const metadata = createMetadata({ issuer, clock, fetch, timeout_ms })
  let keySet: { uri: string; find: RemoteJWKSet } | undefined
  const keys = async () => {
    const { jwks_uri: uri } = await metadata()
    if (keySet?.uri !== uri) {
      const find = createRemoteJWKSet(new URL(uri), {
        timeoutDuration: timeout_ms,
        cooldownDuration: unknown_kid_refresh_ms,
        [customFetch]: fetch,
      })
      keySet = { uri, find }
    }
    return keySet.find
  }
  return {
    url: issuer,
    subjects: options.subjects ?? 'public',
    metadata,
    fetch,
    verify: async (token, { audience, requiredClaims = [], ...rules }) => {
      const now_ms = clock.now_ms()
      const { payload } = await jwtVerify(token, async (header) => (await keys())(header), {
        ...rules,
        algorithms: [...asymmetricAlgorithms],
        issuer,
        audience,
        requiredClaims: ['sub', 'exp', ...requiredClaims],
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(now_ms),
      }).catch((error: unknown) => {
        throw refusal(error)
      })
      const { iat } = payload
      if (iat !== undefined && iat > now_ms / 1000 + clockToleranceSeconds) throw refusal(undefined)
      return payload
    },
  }
}

/** Largest tolerated difference between the clocks of the issuer and this service, in seconds. */
export const clockToleranceSeconds = 5

/** Excludes HMAC, for which the public key would be the secret. */
const asymmetricAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'ES256',
  'ES384',
  'EdDSA',
] as const

const metadataSchema = z.looseObject({
  issuer: z.string(),
  jwks_uri: z.url(),
  authorization_endpoint: z.url().optional(),
  token_endpoint: z.url().optional(),
  userinfo_endpoint: z.url().optional(),
  end_session_endpoint: z.url().optional(),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
})

/** Sends through the guard of outbound requests. Both libraries refuse redirects. */
function guardedFetch(
  outbound: Outbound,
  { issuer, timeout_ms }: { issuer: string; timeout_ms: number },
): IssuerFetch {
  return async (url, { method, headers, body, signal }) => {
    const reply = await outbound.send({
      url,
      method: method === 'POST' ? 'POST' : 'GET',
      headers: Object.fromEntries(new Headers(headers)),
      ...(body !== undefined && body !== null && { body: String(body) }),
      ...(signal !== undefined && { signal }),
      timeout_ms,
      limits: { bytes: reply_bytes_max, decoded_bytes: reply_bytes_max },
      public_ports: portsOf(issuer),
    })
    const kept = ['content-type', 'location', 'www-authenticate'].flatMap((name) => {
      const value = reply.headers[name]
      return typeof value === 'string' ? [[name, value] as const] : []
    })
    const hasBody = ![204, 304].includes(reply.status)
    const content = hasBody ? new Uint8Array(reply.body) : null
    return new Response(content, { status: reply.status, headers: Object.fromEntries(kept) })
  }
}

const reply_bytes_max = 512 * 1024
const metadataKeptMs = 60 * 60 * 1000
const retryAfterMs = 1_000

/**
 * OpenID Connect Discovery 1.0, section 4: the document must name the requested issuer. An outdated
 * document is used while a newer one cannot be fetched.
 */
function createMetadata(options: {
  issuer: string
  clock: Clock
  fetch: IssuerFetch
  timeout_ms: number
}): () => Promise<IssuerMetadata> {
  const { issuer, clock, fetch, timeout_ms } = options
  let known: { document: IssuerMetadata; at_ms: number } | undefined
  let failed: { error: unknown; at_ms: number } | undefined
  let running: Promise<IssuerMetadata> | undefined
  const read = async () => {
    const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    const signal = AbortSignal.timeout(timeout_ms)
    const reply = await fetch(url, { method: 'GET', headers: {}, signal })
    if (!reply.ok) throw new Error(`${url} answered ${reply.status}`)
    const document = metadataSchema.parse(await reply.json())
    if (document.issuer !== issuer) throw new Error(`${url} names the issuer ${document.issuer}`)
    known = { document, at_ms: clock.now_ms() }
    failed = undefined
    return document
  }
  return async () => {
    const now_ms = clock.now_ms()
    if (known !== undefined && now_ms - known.at_ms < metadataKeptMs) return known.document
    const hasJustFailed = failed !== undefined && now_ms - failed.at_ms < retryAfterMs
    try {
      if (hasJustFailed) throw failed?.error
      running ??= read().finally(() => {
        running = undefined
      })
      return await running
    } catch (error) {
      if (!hasJustFailed) failed = { error, at_ms: now_ms }
      if (known !== undefined) return known.document
      throw issuerUnreachable(error)
    }
  }
}

function refusal(error: unknown): unknown {
  if (error instanceof Problem) return error
  if (error !== undefined && !isAboutToken(error)) return issuerUnreachable(error)
  return problem('credentials_invalid', { detail: 'The token of the external issuer is not valid' })
}

/** Recognises the errors of jose and fetch for a key set that cannot be fetched. */
function isAboutToken(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return false
  return ![errors.JOSEError.code, errors.JWKSTimeout.code, errors.JWKSInvalid.code].includes(
    error.code,
  )
}

/** Returns the error for an issuer that does not answer, or violates the protocol. */
export function issuerUnreachable(cause: unknown): Error {
  return problem('issuer_unreachable', { detail: 'The external issuer does not answer', cause })
}
