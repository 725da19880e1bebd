import { z } from 'zod'
import { problem } from '../../../../kernel/problem.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { Access } from '../../access.ts'
import { idField } from '../../fields.ts'
import { checkRoleChange } from '../role-change.ts'
import { deleteMember } from './store.ts'

/**
 * DELETE /api/v2/access/organizations/{organization_id}/members/{member_user_id}: takes a person out
 * of the organization and all of its projects.
 */
export function removeMember({ db, roles }: Access): Route {
  return defineRoute({
    method: 'DELETE',
    url: '/api/v2/access/organizations/{organization_id}/members/{member_user_id}',
    id: 'removeOrganizationMember',
    summary: 'Remove a member from an organization and its projects',
    auth: 'jwt',
    scope: { level: 'organization', role: 'admin' },
    status: 204,
    params: z.strictObject({ organization_id: idField, member_user_id: idField }),
    reply: z.undefined(),
    errors: ['organization_not_found', 'member_not_found', 'last_owner'],
    handle: async ({ params, caller }) => {
      const { organization_id, member_user_id: user_id } = params
      const removed = await deleteMember(db, {
        organization_id,
        user_id,
        actor_id: caller.id,
        check: checkRoleChange,
      })
      if (!removed) {
        throw problem('member_not_found', { detail: `There is no member with the id ${user_id}` })
      }
      roles.forget()
      return undefined
    },
  })
}
