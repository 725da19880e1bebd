import { decodeJwt } from 'jose'
import { problem } from '../../../kernel/problem.ts'
import type { Issuer } from '../oidc/issuer.ts'
import { type IssuerPerson, subjectField, verifiedEmail } from '../oidc/person.ts'

/** The person of an access token, whose e-mail the issuer has verified. */
export type TokenPerson = IssuerPerson & {
  email: string
  /** Undefined for a token without `iat`. */
  issued_at_ms: number | undefined
}

/** Access tokens of an external issuer, which programs and other front ends send as Bearer. */
export type ExternalTokens = {
  /** Whether the token names this issuer. The token is not verified yet. */
  claims(token: string): boolean
  /** Verifies the token and returns the person. */
  verify(token: string): Promise<TokenPerson>
}

/**
 * Accepts tokens of an external OpenID Connect issuer that are signed by a key of its published
 * set, for the configured audience, with a verified e-mail. Rejects with `credentials_invalid`, or
 * with `issuer_unreachable` when the issuer's keys cannot be fetched.
 */
export function createExternalTokens(issuer: Issuer, audience: string): ExternalTokens {
  return {
    claims: (token) => issuerOf(token) === issuer.url,
    verify: async (token) => {
      const claims = await issuer.verify(token, { audience })
      const subject = subjectField.safeParse(claims.sub)
      const email = verifiedEmail([claims])
      if (subject.success && email !== undefined) {
        const { url, subjects } = issuer
        const issued_at_ms = claims.iat === undefined ? undefined : claims.iat * 1000
        const person = { issuer: url, subjects, client_id: audience, subject: subject.data }
        return { ...person, email, issued_at_ms }
      }
      throw problem('credentials_invalid', {
        detail: 'The token of the external issuer has no verified e-mail',
      })
    },
  }
}

function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss
  } catch {
    return undefined
  }
}
