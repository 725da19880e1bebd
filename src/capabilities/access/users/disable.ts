import { problem } from '../../../kernel/problem.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { setUserDisabled } from './store.ts'
import { adminRequired, userNotFound, userParams, userSchema } from './users.ts'

/** POST /api/v2/access/users/{user_id}/disable: refuses sign-ins and ends all sessions. */
export function disableUser(access: Access): Route {
  return defineRoute({
    ...switchRoute,
    url: '/api/v2/access/users/{user_id}/disable',
    id: 'disableUser',
    summary: 'Refuse the sign-ins of a user',
    handle: ({ params: { user_id }, caller }) => {
      if (user_id === caller.id) {
        throw problem('permission_denied', {
          detail: 'Another administrator of the installation must disable your account',
        })
      }
      return switchUser(access, { user_id, actor_id: caller.id, disabled: true })
    },
  })
}

/** The common parts of the routes that disable and enable a user. */
export const switchRoute = {
  method: 'POST',
  auth: 'jwt',
  scope: { level: 'user' },
  params: userParams,
  reply: userSchema,
  errors: ['user_not_found', 'last_owner'],
} as const

/** Disables or enables a user. Throws `permission_denied`, `user_not_found`, `last_owner`. */
export async function switchUser(
  { db, clock, roles }: Access,
  change: { user_id: string; actor_id: string; disabled: boolean },
) {
  const changed = await setUserDisabled(db, { ...change, now: new Date(clock.now_ms()) })
  if (changed === 'denied') throw adminRequired()
  if (changed === undefined) throw userNotFound(change.user_id)
  roles.forget()
  return changed
}
