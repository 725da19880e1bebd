import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { setInstallationAdmin } from './administrator-store.ts'
import { adminRequired, userNotFound, userParams, userSchema } from './users.ts'

/**
 * PUT /api/v2/access/users/{user_id}/administrator: grants or revokes the administrator role of the
 * installation. Administrators manage accounts. The role gives no access to projects, because roles
 * in organizations are separate. The last administrator who can sign in keeps the role.
 */
export function putAdministrator({ db, roles, logger }: Access): Route {
  return defineRoute({
    method: 'PUT',
    url: '/api/v2/access/users/{user_id}/administrator',
    id: 'putAdministrator',
    summary: 'Grant or revoke the administrator role of the installation',
    auth: 'jwt',
    scope: { level: 'user' },
    params: userParams,
    body: record('PutAdministratorRequest', {
      installation_admin: z
        .boolean()
        .describe('Whether the person is an administrator of the installation.'),
    }),
    reply: userSchema,
    errors: ['user_not_found', 'last_administrator'],
    handle: async ({ params: { user_id }, body, caller }) => {
      const change = { user_id, actor_id: caller.id, ...body }
      const changed = await setInstallationAdmin(db, change)
      if (changed === 'denied') throw adminRequired()
      if (changed === 'last') {
        throw problem('last_administrator', {
          detail: 'Make another person an administrator of the installation first',
        })
      }
      if (changed === undefined) throw userNotFound(user_id)
      roles.forget()
      logger.info({ user_id, by: caller.id, ...body }, 'an administrator was changed')
      return changed
    },
  })
}
