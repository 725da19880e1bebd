import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import { Answer, defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { instantField } from '../fields.ts'
import { assertInstallationAdmin, userNotFound, userParams } from './users.ts'

/**
 * POST /api/v2/access/users/{user_id}/password-reset: makes a reset link to pass on by hand, for
 * installations without a mail server. Only for administrators of the installation, because the link
 * gives access to the person's projects in all organizations.
 */
export function createPasswordReset({ db, resets, logger }: Access): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/access/users/{user_id}/password-reset',
    id: 'createPasswordReset',
    summary: 'Make a link with which a person sets a new password',
    auth: 'jwt',
    scope: { level: 'user' },
    status: 201,
    params: userParams,
    reply: record('PasswordResetLink', {
      token: z.string().describe('Token of the link. Shown once.'),
      url: z
        .string()
        .nullable()
        .describe('Link to pass on. Shown once; null without `LOOPTRACE_PUBLIC_URL`.'),
      expires_at: instantField,
    }),
    errors: ['user_not_found'],
    caller_rate_per_minute_max: 60,
    handle: async ({ params: { user_id }, caller }) => {
      await assertInstallationAdmin(db, caller.id)
      const link = await resets.create({ user_id, created_by: caller.id })
      if (link === undefined) throw userNotFound(user_id)
      logger.info({ user_id, created_by: caller.id }, 'a reset link was made')
      return new Answer(link, { headers: { 'cache-control': 'no-store' } })
    },
  })
}
