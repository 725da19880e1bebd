import { createRemoteJWKSet, decodeJwt, errors, jwtVerify, type RemoteJWKSet } from 'jose'
import { z } from 'zod'
import { Problem, problem } from '../../../kernel/problem.ts'
import type { Clock } from '../../../kernel/time.ts'

/** Tokens of an external issuer. Users are identified by their verified e-mail. */
export type ExternalTokens = {
  /** Whether the token names this issuer. The token is not verified yet. */
  claims(token: string): boolean
  /** Verifies the token and returns the (lower-case) e-mail that the issuer has verified. */
  verify(token: string): Promise<{ email: string }>
}

/**
 * Accepts tokens of an external OpenID Connect issuer that are signed by a key of its published
 * set, for our audience, with a verified e-mail. Rejects with `credentials_invalid`, or with
 * `issuer_unreachable` when the issuer's keys can not be fetched.
 */
export function createExternalTokens(options: {
  /** URL of the issuer, exactly as in the `iss` of its tokens. */
  issuer: string
  audience: string
  clock: Clock
  timeout_ms?: number
}): ExternalTokens {
  const { issuer, audience, clock, timeout_ms = 5_000 } = options
  let keySet: Promise<RemoteJWKSet> | undefined
  const keys = () => {
    keySet ??= discover(issuer, timeout_ms).catch((error: unknown) => {
      keySet = undefined
      throw error
    })
    return keySet
  }
  return {
    claims: (token) => issuerOf(token) === issuer,
    verify: async (token) => {
      const { payload } = await jwtVerify(token, async (header) => (await keys())(header), {
        algorithms: [...asymmetricAlgorithms],
        issuer,
        audience,
        requiredClaims: ['sub', 'exp'],
        clockTolerance: 5,
        currentDate: new Date(clock.now_ms()),
      }).catch((error: unknown) => {
        throw refusal(error)
      })
      const person = personSchema.safeParse(payload)
      if (!person.success) throw refusal(undefined)
      return { email: person.data.email.toLowerCase() }
    },
  }
}

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

const personSchema = z.object({ email: z.email().max(320), email_verified: z.literal(true) })

function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss
  } catch {
    return undefined
  }
}

/** OpenID Connect Discovery 1.0, section 4: the document must name the requested issuer. */
async function discover(issuer: string, timeout_ms: number): Promise<RemoteJWKSet> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  try {
    const reply = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(timeout_ms) })
    if (!reply.ok) throw new Error(`${url} answered ${reply.status}`)
    const document = z
      .object({ issuer: z.literal(issuer), jwks_uri: z.url() })
      .parse(await reply.json())
    return createRemoteJWKSet(new URL(document.jwks_uri), { timeoutDuration: timeout_ms })
  } catch (cause) {
    throw unreachable(cause)
  }
}

function refusal(error: unknown): unknown {
  if (error instanceof Problem) return error
  if (error !== undefined && !isAboutToken(error)) return unreachable(error)
  return problem('credentials_invalid', { detail: 'The token of the external issuer is not valid' })
}

/** For a key set that can not be fetched, jose throws its base class and fetch its own errors. */
function isAboutToken(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return false
  return ![errors.JOSEError.code, errors.JWKSTimeout.code, errors.JWKSInvalid.code].includes(
    error.code,
  )
}

function unreachable(cause: unknown): Error {
  return problem('issuer_unreachable', { detail: 'The external issuer does not answer', cause })
}
