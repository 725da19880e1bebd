import { z } from 'zod'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { endSessions } from './store.ts'
import { assertInstallationAdmin, userNotFound, userParams } from './users.ts'

/**
 * DELETE /api/v2/access/users/{user_id}/sessions: signs a person out everywhere: browsers, refresh
 * tokens and access tokens. Other processes accept the access tokens for up to 30 s. The person may
 * sign in again.
 */
export function endUserSessions({ db, clock, roles, logger }: Access): Route {
  return defineRoute({
    method: 'DELETE',
    url: '/api/v2/access/users/{user_id}/sessions',
    id: 'endUserSessions',
    summary: 'Sign a person out everywhere',
    auth: 'jwt',
    scope: { level: 'user' },
    status: 204,
    params: userParams,
    reply: z.undefined(),
    errors: ['user_not_found'],
    handle: async ({ params: { user_id }, caller }) => {
      await assertInstallationAdmin(db, caller.id)
      const now = new Date(clock.now_ms())
      const isKnown = await db.transaction().execute((trx) => endSessions(trx, { user_id, now }))
      if (!isKnown) throw userNotFound(user_id)
      roles.forget()
      logger.info({ user_id, ended_by: caller.id }, 'all sessions of a user were ended')
      return undefined
    },
  })
}
