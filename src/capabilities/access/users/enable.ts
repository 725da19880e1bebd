import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { switchRoute, switchUser } from './disable.ts'

/** POST /api/v2/access/users/{user_id}/enable: accepts sign-ins of a disabled user again. */
export function enableUser(access: Access): Route {
  return defineRoute({
    ...switchRoute,
    url: '/api/v2/access/users/{user_id}/enable',
    id: 'enableUser',
    summary: 'Accept the sign-ins of a disabled user again',
    handle: ({ params: { user_id }, caller }) =>
      switchUser(access, { user_id, actor_id: caller.id, disabled: false }),
  })
}
