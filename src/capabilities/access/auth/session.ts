import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { record } from '../../../model/named-schemas.ts'
import { currentCall } from '../../../platform/audit/index.ts'
import { Answer, defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { instantField } from '../fields.ts'
import { assertSameOrigin } from '../sessions/same-origin.ts'
import type { BrowserSession } from '../sessions/sessions.ts'
import { endSessions } from '../users/store.ts'
import { findLogin, type Login } from './store.ts'
import { findByPassword } from './token.ts'

const publicRoute = { auth: 'public', scope: { level: 'public' } } as const

/** Request headers of the routes, for the docs. */
const headersOfRead = [
  { name: 'Cookie', required: false, description: 'The session cookie, which browsers add.' },
]
const headersOfWrite = [
  ...headersOfRead,
  {
    name: 'X-Looptrace-CSRF',
    required: true,
    description: 'Always `1`. Pages of other sites cannot send this header.',
  },
]

/** The person of a session, as replies show it. */
export const sessionSchema = record('Session', {
  user_id: z.uuid(),
  email: z.string(),
  display_name: z.string(),
  installation_admin: z.boolean(),
  must_change_password: z
    .boolean()
    .describe('Whether you must replace your password before other calls.'),
  by_issuer: z.boolean().describe('Whether you signed in at the external issuer.'),
  idle_expires_at: instantField.describe('Time when the session ends if no further request comes.'),
  expires_at: instantField.describe('Latest time when the session ends.'),
})

/**
 * POST /api/v1/auth/session: starts a browser session with a password, or renews its cookie. The
 * reply has no token: scripts cannot read the cookie.
 */
export function startSession(access: Access): Route {
  return defineRoute({
    ...publicRoute,
    method: 'POST',
    url: '/api/v1/auth/session',
    id: 'startSession',
    summary: 'Start a session of a browser, or renew its cookie',
    status: 201,
    headers: headersOfWrite,
    body: z
      .discriminatedUnion('grant_type', [
        record('PasswordSession', {
          grant_type: z.literal('password'),
          username: z.string().min(1).max(320).describe('The e-mail address.'),
          password: z.string().min(1).max(256),
        }),
        record('RenewSession', { grant_type: z.literal('session') }),
        record('LinkSession', {
          grant_type: z.literal('link'),
          token: z.string().max(100).describe('Token of the link that `make run` prints.'),
        }),
      ])
      .meta({ id: 'SessionRequest' }),
    reply: sessionSchema,
    also: { status: 200, description: 'The cookie was renewed.', reply: sessionSchema },
    errors: ['credentials_invalid', 'permission_denied', 'store_unavailable'],
    rate_per_minute_max: 60,
    body_bytes_max: 16 * 1024,
    handle: async ({ body, headers, network }) => {
      const { sessions, public_url } = access
      const request = { method: 'POST', headers }
      assertSameOrigin(request, public_url)
      if (body.grant_type === 'session') {
        const session = await findSession(access, request)
        currentCall()?.noteActor('user', session.user_id)
        const cookie = await sessions.renew(request)
        return answer(session, { status: 200, ...(cookie !== undefined && { cookie }) })
      }
      const login =
        body.grant_type === 'link'
          ? await findByLink(body.token, access)
          : await findByBody(body, { network, access })
      if (login === undefined) throw problem('credentials_invalid')
      const { id: user_id, session_number } = login
      currentCall()?.noteActor('user', user_id)
      const cookie = await sessions.start({ user_id, session_number, by_issuer: false }, headers)
      const started = { method: 'POST', headers: { ...headers, cookie: pairOf(cookie) } }
      return answer(await findSession(access, started), { status: 201, cookie })
    },
  })
}

type PasswordBody = { username: string; password: string }

function findByBody(
  { username, password }: PasswordBody,
  { network, access }: { network: string; access: Access },
): Promise<Login | undefined> {
  const account = username.trim().toLowerCase()
  return access.guard.attempt({ account, network }, () => findByPassword(account, password, access))
}

/** Returns the person of a link that was not used yet. A disabled person has no sign-in. */
async function findByLink(token: string, access: Access): Promise<Login | undefined> {
  const email = access.first_links.use(token)
  if (email === undefined) {
    throw problem('credentials_invalid', {
      detail: 'The link has been used or is too old. Sign in with your password',
    })
  }
  const login = await findLogin(access.db, email)
  return login?.disabled_at === null ? login : undefined
}

/** GET /api/v1/auth/session: the person of the session, for the first request of a page. */
export function getSession(access: Access): Route {
  return defineRoute({
    ...publicRoute,
    method: 'GET',
    url: '/api/v1/auth/session',
    id: 'getSession',
    summary: 'The session of this browser',
    headers: headersOfRead,
    reply: sessionSchema,
    errors: ['credentials_invalid', 'permission_denied', 'store_unavailable'],
    handle: async ({ headers }) =>
      answer(await findSession(access, { method: 'GET', headers }), { status: 200 }),
  })
}

/**
 * DELETE /api/v1/auth/session: signs the browser out. Answers 200 without a session too, and names
 * the page of the issuer that ends the session there.
 */
export function endSession(access: Access): Route {
  return defineRoute({
    ...publicRoute,
    method: 'DELETE',
    url: '/api/v1/auth/session',
    id: 'endSession',
    summary: 'Sign this browser out',
    headers: headersOfWrite,
    reply: record('EndedSession', {
      logout_url: z
        .string()
        .nullable()
        .describe('Page of the external issuer that ends its own session; null without one.'),
    }),
    errors: ['permission_denied', 'store_unavailable'],
    handle: async ({ headers }) => {
      const { sessions, public_url, issuer_sign_in } = access
      const request = { method: 'DELETE', headers }
      assertSameOrigin(request, public_url)
      const session = await sessions.find(request)
      const cookie = await sessions.end(headers)
      const logout_url = session?.by_issuer ? ((await issuer_sign_in?.logoutUrl()) ?? null) : null
      return new Answer({ logout_url }, { headers: { 'set-cookie': cookie, ...notKept } })
    },
  })
}

const notKept = { 'cache-control': 'no-store' }

async function findSession(
  { sessions }: Access,
  request: Parameters<Access['sessions']['find']>[0],
): Promise<BrowserSession> {
  const session = await sessions.find(request)
  if (session !== undefined) return session
  throw problem('credentials_invalid', { detail: 'There is no session, or it has ended. Sign in' })
}

/** Selects the fields of a session that replies show. */
export function sessionFields(session: BrowserSession): z.input<typeof sessionSchema> {
  const { user_id, email, display_name, installation_admin, by_issuer } = session
  const { must_change_password, idle_expires_at, expires_at } = session
  return {
    user_id,
    email,
    display_name,
    installation_admin,
    by_issuer,
    must_change_password: must_change_password && !by_issuer,
    idle_expires_at,
    expires_at,
  }
}

function answer(session: BrowserSession, { status, cookie }: { status: number; cookie?: string }) {
  const headers = { ...notKept, ...(cookie !== undefined && { 'set-cookie': cookie }) }
  return new Answer(sessionFields(session), { status, headers })
}

/** Returns the name and value of a Set-Cookie, as the browser sends them back. */
function pairOf(set_cookie: string): string {
  return set_cookie.split(';', 1)[0] ?? ''
}

/**
 * DELETE /api/v1/auth/sessions: signs the caller out everywhere: browsers, refresh tokens and access
 * tokens. Other processes accept the access tokens for up to 30 s.
 */
export function endAllSessions({ db, clock, roles }: Access): Route {
  return defineRoute({
    method: 'DELETE',
    url: '/api/v1/auth/sessions',
    id: 'endAllSessions',
    summary: 'Sign out everywhere',
    auth: 'jwt',
    scope: { level: 'user', before_password_change: true },
    status: 204,
    reply: z.undefined(),
    errors: [],
    handle: async ({ caller }) => {
      const ended = { user_id: caller.id, now: new Date(clock.now_ms()) }
      await db.transaction().execute((trx) => endSessions(trx, ended))
      roles.forget()
      return undefined
    },
  })
}
