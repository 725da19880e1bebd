import { problem } from '../../../kernel/problem.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { listKnownTexts } from '../auth/password-reset/store.ts'
import { newPasswordField } from '../fields.ts'
import { assertStrong } from '../passwords/password-strength.ts'
import { resetPassword } from './store.ts'
import { assertInstallationAdmin, userNotFound, userParams, userSchema } from './users.ts'

/**
 * POST /api/v2/access/users/{user_id}/password: sets the password of another person, who must
 * replace it at the next sign-in. Ends all sessions of the account.
 */
export function setUserPassword({ db, clock, passwords, strength, roles }: Access): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/access/users/{user_id}/password',
    id: 'setUserPassword',
    summary: "Set a person's password, which they must replace",
    auth: 'jwt',
    scope: { level: 'user' },
    params: userParams,
    body: record('SetUserPasswordRequest', { password: newPasswordField }),
    reply: userSchema,
    errors: ['user_not_found', 'overloaded'],
    handle: async ({ params: { user_id }, body, caller }) => {
      await assertInstallationAdmin(db, caller.id)
      if (user_id === caller.id) {
        // The own password requires the current one, so that a stolen token is not enough.
        throw problem('permission_denied', {
          detail: 'Replace your own password with PUT /api/v1/auth/password',
        })
      }
      const about = await listKnownTexts(db, user_id)
      await assertStrong(strength, { password: body.password, pointer: '/password', about })
      const password_hash = await passwords.hash(body.password)
      const changed = await db.transaction().execute((trx) =>
        resetPassword(trx, {
          user_id,
          password_hash,
          password_origin: 'administrator',
          must_change_password: true,
          proves_email: false,
          now: new Date(clock.now_ms()),
        }),
      )
      if (changed === undefined) throw userNotFound(user_id)
      roles.forget()
      return changed
    },
  })
}
