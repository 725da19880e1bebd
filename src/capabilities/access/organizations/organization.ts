import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { record } from '../../../model/named-schemas.ts'
import {
  assertVersion,
  defineRoute,
  ifMatchHeader,
  type Route,
} from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { idField, keyScopesLimitField, nameField, withEtag } from '../fields.ts'
import { deleteOrganization, findOrganization, replaceOrganization } from './change-store.ts'
import { deleteMember } from './members/store.ts'
import { organizationSchema } from './organizations.ts'
import { assertOwnerRemains } from './role-change.ts'

const params = z.strictObject({ organization_id: idField })

/** GET /api/v2/access/organizations/{organization_id}: one organization. */
export function getOrganization({ db }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/access/organizations/{organization_id}',
    id: 'getOrganization',
    summary: 'One organization',
    etag: true,
    auth: 'jwt',
    scope: { level: 'organization', role: 'member' },
    params,
    reply: organizationSchema,
    errors: ['organization_not_found'],
    handle: async ({ params: { organization_id }, caller }) => {
      const row = await findOrganization(db, { organization_id, user_id: caller.id })
      if (row === undefined) throw organizationNotFound(organization_id)
      return withEtag(row)
    },
  })
}

/**
 * PUT /api/v2/access/organizations/{organization_id}: renames an organization, and limits what keys
 * of its projects may do. Keys lose scopes beyond the limit within 30 s.
 */
export function putOrganization({ db, roles }: Access): Route {
  return defineRoute({
    method: 'PUT',
    url: '/api/v2/access/organizations/{organization_id}',
    id: 'putOrganization',
    summary: 'Change an organization',
    etag: true,
    headers: [ifMatchHeader],
    auth: 'jwt',
    scope: { level: 'organization', role: 'admin' },
    params,
    body: record('PutOrganizationRequest', { name: nameField, key_scopes: keyScopesLimitField }),
    reply: organizationSchema,
    errors: ['organization_not_found', 'name_taken', 'precondition_failed'],
    handle: async ({ params: { organization_id }, body, caller, headers }) => {
      const which = { organization_id, user_id: caller.id }
      const check = (version: number) => assertVersion(headers, version)
      const changed = await replaceOrganization(db, which, { ...body, check })
      if (changed === 'name_taken') {
        throw problem('name_taken', { detail: `An organization "${body.name}" exists already` })
      }
      if (changed === undefined) throw organizationNotFound(organization_id)
      roles.forget()
      return withEtag(changed)
    },
  })
}

/**
 * DELETE /api/v2/access/organizations/{organization_id}: deletes an organization without projects,
 * with its members and invitations. Archived projects count, because their data is kept.
 */
export function removeOrganization({ db, roles }: Access): Route {
  return defineRoute({
    method: 'DELETE',
    url: '/api/v2/access/organizations/{organization_id}',
    id: 'deleteOrganization',
    summary: 'Delete an organization that has no projects',
    auth: 'jwt',
    scope: { level: 'organization', role: 'owner' },
    status: 204,
    params,
    reply: z.undefined(),
    errors: ['organization_not_found', 'organization_not_empty'],
    handle: async ({ params: { organization_id } }) => {
      if (!(await deleteOrganization(db, organization_id))) {
        throw problem('organization_not_empty', {
          detail: 'An organization with projects cannot be deleted, also if they are archived',
        })
      }
      roles.forget()
      return undefined
    },
  })
}

function organizationNotFound(organization_id: string): Error {
  return problem('organization_not_found', {
    detail: `There is no organization "${organization_id}" that you can see`,
  })
}

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
        organization_id,
        user_id: caller.id,
        actor_id: caller.id,
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
