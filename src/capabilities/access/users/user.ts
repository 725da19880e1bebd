import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { findUser } from './store.ts'
import { assertInstallationAdmin, userNotFound, userParams, userSchema } from './users.ts'

/** GET /api/v2/access/users/{user_id}: one user, for administrators of the installation. */
export function getUser({ db }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/access/users/{user_id}',
    id: 'getUser',
    summary: 'One user of the installation',
    auth: 'jwt',
    scope: { level: 'user' },
    params: userParams,
    reply: userSchema,
    errors: ['user_not_found'],
    handle: async ({ params: { user_id }, caller }) => {
      await assertInstallationAdmin(db, caller.id)
      const user = await findUser(db, user_id)
      if (user === undefined) throw userNotFound(user_id)
      return user
    },
  })
}
