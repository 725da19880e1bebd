import { z } from 'zod'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { idField } from '../fields.ts'
import { deleteMember } from './members/store.ts'
import { assertOwnerRemains } from './role-change.ts'

/**
 * POST /api/v2/access/organizations/{organization_id}/leave: ends the caller's own membership, with
 * the roles in its projects. The last owner cannot leave.
 */
export function leaveOrganization({ db, clock, roles }: Access): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/access/organizations/{organization_id}/leave',
    id: 'leaveOrganization',
    summary: 'Leave an organization',
    auth: 'jwt',
    scope: { level: 'organization', role: 'member' },
    status: 204,
    params: z.strictObject({ organization_id: idField }),
    reply: z.undefined(),
    errors: ['organization_not_found', 'last_owner'],
    handle: async ({ params: { organization_id }, caller }) => {
      await deleteMember(db, {
        ...{ organization_id, user_id: caller.id, actor_id: caller.id },
        check: ({ current, other_owners }) => {
          if (current === 'owner') assertOwnerRemains(other_owners)
        },
        now: new Date(clock.now_ms()),
      })
      roles.forget()
      return undefined
    },
  })
}
