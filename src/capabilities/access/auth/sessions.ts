import { z } from 'zod'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { endSessions } from '../users/store.ts'

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
