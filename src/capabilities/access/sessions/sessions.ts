import { newId } from '../../../kernel/ids.ts'
import type { Clock } from '../../../kernel/time.ts'
import type { BrowserRequest, RequestHeaders } from '../../../platform/http/index.ts'
import type { AccessTables, Kysely } from '../../../platform/relational/index.ts'
import { createKeyUsage } from '../keys/key-usage.ts'
import { hashSecret, randomBase62 } from '../keys/project-key.ts'
import { type Cookie, readCookie, setCookie } from './cookies.ts'
import { assertSameOrigin } from './same-origin.ts'
import {
  endSession,
  findSession,
  insertSession,
  renewSession,
  type SessionRow,
  writeSessionUses,
} from './store.ts'

/** A browser session, with the time at which it ends if no further request comes. */
export type BrowserSession = SessionRow & { idle_expires_at: string }

/** Browser sessions: a cookie that scripts cannot read, and a row that can be ended at once. */
export type BrowserSessions = {
  /** Starts a session and returns its Set-Cookie. Ends the session that the browser had before. */
  start(person: SignedIn, headers: RequestHeaders): Promise<string>
  /**
   * Returns the session of a request; undefined without one. Throws `permission_denied` for a
   * request that another site made the browser send.
   */
  find(request: BrowserRequest): Promise<BrowserSession | undefined>
  /** Returns whether a request has a session cookie, which may be expired. */
  has(headers: RequestHeaders): boolean
  /** Replaces the cookie of a session; undefined when another request has just done so. */
  renew(request: BrowserRequest): Promise<string | undefined>
  /** Ends the session of a request, if it has one, and returns the Set-Cookie that removes it. */
  end(headers: RequestHeaders): Promise<string>
  /** Writes the times of last use. Call it before the store is closed. */
  close(): Promise<void>
}

/** A person who has just signed in. */
type SignedIn = { user_id: string; session_number: number; by_issuer: boolean }

export type BrowserSessionsOptions = {
  db: Kysely<AccessTables>
  clock: Clock
  /** Origin of our pages. With `https:`, the cookie has `Secure` and the prefix `__Host-`. */
  public_url?: string | undefined
  /** Time without a request after which a session ends; 12 hours by default. */
  session_idle_ms?: number
  /** Time after which a session ends in any case; 7 days by default. */
  session_ttl_ms?: number
}

/**
 * Creates the sessions of browsers. A cookie is `lts_` and 43 base62 characters (256 bits), of
 * which only the SHA-256 is stored. Each request reads the row, so that an ended session is refused
 * by every process at once. After a renewal, the old cookie works for a minute, for requests in
 * progress. A later use ends the session, because the cookie may be stolen (RFC 9700, 4.14.2).
 */
export function createBrowserSessions(options: BrowserSessionsOptions): BrowserSessions {
  const { db, clock, public_url } = options
  const { session_idle_ms = 12 * hour_ms, session_ttl_ms = 7 * 24 * hour_ms } = options
  const cookie: Cookie = {
    id: 'looptrace_session',
    same_site: 'Strict',
    is_secure: isSecure(public_url),
  }
  const usage = createKeyUsage({ write: (uses) => writeSessionUses(db, uses), clock })
  const formatted = (text: string, max_age_ms: number) =>
    setCookie(cookie, { text, max_age_s: Math.floor(max_age_ms / 1000) })
  const withIdleEnd = (session: SessionRow, now_ms: number) => {
    const idle_ms = Math.min(now_ms + session_idle_ms, Date.parse(session.expires_at))
    return { ...session, idle_expires_at: new Date(idle_ms).toISOString() }
  }
  const find = async (request: BrowserRequest) => {
    const token = tokenIn(request.headers, cookie)
    if (token === undefined) return undefined
    assertSameOrigin(request, public_url)
    const now_ms = clock.now_ms()
    const now = new Date(now_ms)
    const token_hash = hashSecret(token)
    const used_after = new Date(now_ms - session_idle_ms)
    const session = await findSession(db, { token_hash, now, used_after })
    if (session === undefined) return undefined
    if (request.is_recheck) return withIdleEnd(session, now_ms)
    if (session.is_previous && now_ms - Date.parse(session.renewed_at) > previousAcceptedMs) {
      await endSession(db, { token_hash, now })
      return undefined
    }
    usage.touch(session.id)
    return withIdleEnd(session, now_ms)
  }
  return {
    find,
    start: async ({ user_id, session_number, by_issuer }, headers) => {
      const token = newToken()
      const now_ms = clock.now_ms()
      const expires_at = new Date(now_ms + session_ttl_ms)
      const person = { user_id, session_number, by_issuer }
      const session = { ...person, id: newId(), token_hash: hashSecret(token), expires_at }
      const earlier = tokenIn(headers, cookie)
      await insertSession(
        db,
        { ...session, now: new Date(now_ms) },
        earlier === undefined ? undefined : hashSecret(earlier),
      )
      return formatted(token, session_ttl_ms)
    },
    has: (headers) => tokenIn(headers, cookie) !== undefined,
    renew: async (request) => {
      const token = tokenIn(request.headers, cookie)
      const session = await find(request)
      if (token === undefined || session === undefined || session.is_previous) return undefined
      const next = newToken()
      const now = new Date(clock.now_ms())
      const hashes = { token_hash: hashSecret(token), next_hash: hashSecret(next) }
      const isRenewed = await renewSession(db, { ...hashes, now })
      const left_ms = Date.parse(session.expires_at) - now.getTime()
      return isRenewed ? formatted(next, left_ms) : undefined
    },
    end: async (headers) => {
      const token = tokenIn(headers, cookie)
      const now = new Date(clock.now_ms())
      if (token !== undefined) await endSession(db, { token_hash: hashSecret(token), now })
      return setCookie(cookie)
    },
    close: usage.close,
  }
}

/** Returns whether cookies are for HTTPS only: if the public URL is HTTPS. */
export function isSecure(public_url: string | undefined): boolean {
  return public_url?.startsWith('https:') === true
}

const hour_ms = 60 * 60 * 1000
const previousAcceptedMs = 60_000
const tokenPattern = /^lts_[0-9A-Za-z]{43}$/

function newToken(): string {
  return `lts_${randomBase62(43)}`
}

function tokenIn(headers: RequestHeaders, cookie: Cookie): string | undefined {
  const value = readCookie(headers, cookie)
  return value !== undefined && tokenPattern.test(value) ? value : undefined
}
