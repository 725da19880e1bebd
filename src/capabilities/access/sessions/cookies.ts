import type { RequestHeaders } from '../../../platform/http/index.ts'

/** A cookie of Looptrace. Its path is `/`, as the prefix `__Host-` requires. */
export type Cookie = {
  /** Name without prefix. */
  id: string
  /** `Lax` also sends it when another site opens a page, as the issuer does after a sign-in. */
  same_site: 'Strict' | 'Lax'
  /** Whether browsers send it over HTTPS only. */
  is_secure: boolean
}

/**
 * Returns the name in requests. `__Host-` makes browsers refuse a cookie of the same name that
 * another host of the domain, or a page without TLS, tries to set.
 */
function nameOf({ id, is_secure }: Cookie): string {
  return is_secure ? `__Host-${id}` : id
}

/** Formats Set-Cookie. Without a value, the cookie is removed. Scripts never see it. */
export function setCookie(cookie: Cookie, value?: { text: string; max_age_s: number }): string {
  const { text, max_age_s } = value ?? { text: '', max_age_s: 0 }
  const parts = [
    `${nameOf(cookie)}=${text}`,
    ...['Path=/', 'HttpOnly', `SameSite=${cookie.same_site}`, `Max-Age=${max_age_s}`],
    ...(cookie.is_secure ? ['Secure'] : []),
  ]
  return parts.join('; ')
}

/** Returns the value of a cookie; undefined without it, and when a request has it several times. */
export function readCookie(headers: RequestHeaders, cookie: Cookie): string | undefined {
  const { cookie: header } = headers
  const start = `${nameOf(cookie)}=`
  const pairs = String(header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(start))
  return pairs.length === 1 ? pairs[0]?.slice(start.length) : undefined
}
