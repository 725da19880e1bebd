import type { Clock } from '../../kernel/time.ts'
import { hashSecret, randomBase62 } from './keys/project-key.ts'

/** A new link that works once: its token, which is shown once, and the columns that are stored. */
export type OneTimeLink = {
  token: string
  token_hash: Buffer
  now: Date
  expires_at: Date
}

/** Time in which `maxMailsPerDay` counts. */
export const day_ms = 24 * 60 * 60 * 1000

/** Maximum mails with links of one kind to an address within a day. */
export const maxMailsPerDay = 3

/** Ended links that are deleted with each new one, so that the tables do not grow. */
export const maxDroppedAtOnce = 20

/**
 * Mints a link: a prefix and 43 base62 characters (256 bits), of which only the SHA-256 is stored.
 */
export function mintLink(
  clock: Clock,
  { prefix, ttl_ms }: { prefix: 'lti_' | 'lt_reset_' | 'lt_first_'; ttl_ms: number },
): OneTimeLink {
  const token = `${prefix}${randomBase62(43)}`
  const now_ms = clock.now_ms()
  return {
    token,
    token_hash: hashSecret(token),
    now: new Date(now_ms),
    expires_at: new Date(now_ms + ttl_ms),
  }
}

/**
 * Returns the URL of a link; null without `LOOPTRACE_PUBLIC_URL`. The token is in the fragment,
 * which browsers do not send to servers, so that proxies do not log it.
 */
export function linkUrl(
  public_url: string | undefined,
  page: '/invitation' | '/reset-password' | '/sign-in',
  token: string,
): string | null {
  return public_url === undefined ? null : `${public_url.replace(/\/$/, '')}${page}#token=${token}`
}
