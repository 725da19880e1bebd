import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { newId } from '../../../kernel/ids.ts'
import { problem } from '../../../kernel/problem.ts'
import type { Clock } from '../../../kernel/time.ts'
import type { SigningKeys } from './signing-keys.ts'

/** Creates the service's own issuer of RFC 9068 access tokens, which are signed only with EdDSA. */
export function createAccessTokens(options: {
  signing_keys: SigningKeys
  clock: Clock
  /** `iss` of our tokens. */
  issuer: string
  /** Lifetime of a token; at most one hour. */
  ttl_ms: number
}): AccessTokens {
  const { signing_keys, clock, issuer, ttl_ms } = options
  const expires_in = Math.floor(ttl_ms / 1000)
  return {
    issue: async (subject) => {
      const { kid, private_key } = await signing_keys.current()
      const now_s = Math.floor(clock.now_ms() / 1000)
      const access_token = await new SignJWT(claimsOf(subject))
        .setProtectedHeader({ alg: 'EdDSA', typ: tokenType, kid })
        .setIssuer(issuer)
        .setAudience(tokenAudience)
        .setIssuedAt(now_s)
        .setExpirationTime(now_s + expires_in)
        .setJti(newId())
        .sign(private_key)
      return { access_token, expires_in }
    },
    verify: async (token) => {
      const verified = await jwtVerify(token, keyOf(signing_keys), {
        algorithms: ['EdDSA'],
        typ: tokenType,
        issuer,
        audience: tokenAudience,
        requiredClaims: ['sub', 'iat', 'exp', 'jti'],
        maxTokenAge: expires_in,
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(clock.now_ms()),
      }).catch((error: unknown) => {
        throw refusal(error)
      })
      return subjectOf(verified.payload)
    },
  }
}

/** `aud` of our tokens. */
const tokenAudience = 'looptrace-api'
const tokenType = 'at+jwt'

/** Largest tolerated difference between the clocks of pods. */
const clockToleranceSeconds = 5

function keyOf(signing_keys: SigningKeys) {
  return async ({ kid }: { kid?: string }) => {
    const key = kid === undefined ? undefined : await signing_keys.find(kid)
    if (key === undefined) throw new errors.JWKSNoMatchingKey()
    return key
  }
}

function claimsOf(subject: TokenSubject): JWTPayload {
  if (subject.kind === 'user') {
    return { sub: subject.user_id, kind: 'user', session_number: subject.session_number }
  }
  const { service_account_id, key_id } = subject
  return { sub: service_account_id, kind: 'service_account', key_id }
}

function subjectOf(payload: Readonly<Record<string, unknown>>): TokenSubject {
  const { sub, kind, key_id, session_number = 0 } = payload
  if (typeof sub === 'string' && kind === 'user' && typeof session_number === 'number') {
    return { kind, user_id: sub, session_number }
  }
  if (typeof sub === 'string' && kind === 'service_account' && typeof key_id === 'string') {
    return { kind, service_account_id: sub, key_id }
  }
  throw refusal(undefined)
}

/** Returns the error for a refused token; it reveals only whether the token has expired. */
function refusal(error: unknown): unknown {
  if (error !== undefined && !(error instanceof errors.JOSEError)) return error
  const expired = error instanceof errors.JWTExpired
  return problem('credentials_invalid', {
    detail: expired ? 'The access token has expired' : 'The access token is not valid',
  })
}

/** The subject of an access token. Its permissions are read from the store, not from the token. */
export type TokenSubject =
  /** The token ends when the user's session number changes. In older tokens it is 0. */
  | { kind: 'user'; user_id: string; session_number: number }
  /** `key_id` is the key for which the token was issued: revoking the key ends the token too. */
  | { kind: 'service_account'; service_account_id: string; key_id: string }

/** Issues and verifies access tokens. */
export type AccessTokens = {
  /** Returns a signed JWT; `expires_in` is in seconds. */
  issue(subject: TokenSubject): Promise<{ access_token: string; expires_in: number }>
  /** Rejects with `credentials_invalid` for anything that is not a valid token of Looptrace. */
  verify(token: string): Promise<TokenSubject>
}
