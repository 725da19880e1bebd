import { z } from 'zod'
import { problem } from '../../../../kernel/problem.ts'
import { record } from '../../../../model/named-schemas.ts'
import {
  assertVersion,
  defineRoute,
  ifMatchHeader,
  type Route,
} from '../../../../platform/http/index.ts'
import type { Access } from '../../access.ts'
import { idField, organizationRoleField, withEtag } from '../../fields.ts'
import { checkRoleChange } from '../role-change.ts'
import { memberSchema } from './members.ts'
import { changeRole, deleteMember, findMember } from './store.ts'

const params = z.strictObject({ organization_id: idField, member_user_id: idField })

/** GET /api/v2/access/organizations/{organization_id}/members/{member_user_id}: one member. */
export function getMember({ db }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/access/organizations/{organization_id}/members/{member_user_id}',
    id: 'getOrganizationMember',
    summary: 'One member of an organization',
    etag: true,
    auth: 'jwt',
    scope: { level: 'organization', role: 'admin' },
    params,
    reply: memberSchema,
    errors: ['organization_not_found', 'member_not_found'],
    handle: async ({ params: { organization_id, member_user_id: user_id } }) => {
      const member = await findMember(db, { organization_id, user_id })
      if (member === undefined) throw memberNotFound(user_id)
      return withEtag(member)
    },
  })
}

/**
 * PUT /api/v2/access/organizations/{organization_id}/members/{member_user_id}: changes the role of a
 * member. Only owners change owners, and the last owner stays.
 */
export function putMember({ db, roles }: Access): Route {
  return defineRoute({
    method: 'PUT',
    url: '/api/v2/access/organizations/{organization_id}/members/{member_user_id}',
    id: 'putOrganizationMember',
    summary: 'Change the role of a member',
    etag: true,
    headers: [ifMatchHeader],
    auth: 'jwt',
    scope: { level: 'organization', role: 'admin' },
    params,
    body: record('PutMemberRequest', { role: organizationRoleField }),
    reply: memberSchema,
    errors: ['organization_not_found', 'member_not_found', 'last_owner', 'precondition_failed'],
    handle: async ({ params: given, body: { role }, caller, headers }) => {
      const { organization_id, member_user_id: user_id } = given
      const by = { organization_id, actor_id: caller.id, check: checkRoleChange }
      const member = await db
        .transaction()
        .execute((trx) =>
          changeRole(trx, { ...by, who: { user_id }, role }, (version) =>
            assertVersion(headers, version),
          ),
        )
      if (member === undefined) throw memberNotFound(user_id)
      roles.forget()
      return withEtag(member)
    },
  })
}

/**
 * DELETE /api/v2/access/organizations/{organization_id}/members/{member_user_id}: removes a person
 * from the organization and all of its projects.
 */
export function removeMember({ db, clock, roles }: Access): Route {
  return defineRoute({
    method: 'DELETE',
    url: '/api/v2/access/organizations/{organization_id}/members/{member_user_id}',
    id: 'removeOrganizationMember',
    summary: 'Remove a member from an organization and its projects',
    auth: 'jwt',
    scope: { level: 'organization', role: 'admin' },
    status: 204,
    params,
    reply: z.undefined(),
    errors: ['organization_not_found', 'member_not_found', 'last_owner'],
    handle: async ({ params: given, caller }) => {
      const { organization_id, member_user_id: user_id } = given
      const removed = await deleteMember(db, {
        organization_id,
        user_id,
        actor_id: caller.id,
        check: checkRoleChange,
        now: new Date(clock.now_ms()),
      })
      if (!removed) throw memberNotFound(user_id)
      roles.forget()
      return undefined
    },
  })
}

function memberNotFound(user_id: string): Error {
  return problem('member_not_found', { detail: `There is no member with the id ${user_id}` })
}
