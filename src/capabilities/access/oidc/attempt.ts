import { z } from 'zod'
import { parsedJson } from '../../../kernel/json-values.ts'
import { openSealed, sealValue } from '../../../kernel/sealed-value.ts'
import type { RequestHeaders } from '../../../platform/http/index.ts'
import { type Cookie, readCookie, setCookie } from '../sessions/cookies.ts'
import { isSecure } from '../sessions/sessions.ts'

/** A sign-in that a browser has started at the external issuer. */
export type Attempt = z.output<typeof attemptSchema>

const attemptSchema = z.strictObject({
  /** Returned by the issuer with the code. Proves that this browser started the sign-in. */
  state: z.string(),
  /** Returned in the ID token. Proves that the token is for this sign-in. */
  nonce: z.string(),
  /** Proves to the issuer that the client that returns the code also requested it (PKCE). */
  verifier: z.string(),
  /** Path of our pages that the browser opens after the sign-in. */
  return_to: z.string(),
  started_at_ms: z.number(),
})

/** Maximum time for the sign-in at the issuer. */
export const attempt_ms_max = 10 * 60 * 1000

/** Keeps each attempt in a sealed cookie, which binds it to the browser that started it. */
export type Attempts = {
  /** Returns the Set-Cookie of an attempt. It replaces an earlier attempt of the browser. */
  keep(attempt: Attempt): string
  /** Returns the attempt of a request, at most ten minutes old; undefined without a valid one. */
  read(headers: RequestHeaders, now_ms: number): Attempt | undefined
  /** The Set-Cookie that removes the attempt. */
  removed: string
}

/**
 * Creates the store of attempts. All state is in cookies, so unfinished sign-ins use no storage.
 */
export function createAttempts(options: {
  secret_key: string
  public_url: string | undefined
}): Attempts {
  const { secret_key, public_url } = options
  const sealed = { secret_key, purpose: 'sign-ins at the external issuer', about: 'attempt' }
  const cookie: Cookie = {
    id: 'looptrace_sign_in',
    same_site: 'Lax',
    is_secure: isSecure(public_url),
  }
  return {
    keep: (attempt) => {
      const text = sealValue(Buffer.from(JSON.stringify(attempt)), sealed).toString('base64url')
      return setCookie(cookie, { text, max_age_s: attempt_ms_max / 1000 })
    },
    read: (headers, now_ms) => {
      const opened = openSealed(Buffer.from(readCookie(headers, cookie) ?? '', 'base64url'), sealed)
      const attempt = attemptSchema.safeParse(parsedJson(opened?.toString('utf8') ?? ''))
      if (!attempt.success) return undefined
      return now_ms - attempt.data.started_at_ms < attempt_ms_max ? attempt.data : undefined
    },
    removed: setCookie(cookie),
  }
}

/**
 * Returns whether a text is a path of our pages, so that a sign-in cannot redirect to another site.
 * Browsers read `//host` and `/\host` as another site, and drop tabs and line ends.
 */
export function isOwnPath(path: string): boolean {
  if (!/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(path)) return false
  const base = 'https://own.invalid'
  return URL.parse(path, base)?.origin === base
}
