import { z } from 'zod'
import { problem } from '../../../../kernel/problem.ts'
import { idPageQuery, pageFields, readIdPage } from '../../../../model/id-pages.ts'
import { record } from '../../../../model/named-schemas.ts'
import {
  Answer,
  assertVersion,
  defineRoute,
  ifMatchHeader,
  type Route,
} from '../../../../platform/http/index.ts'
import type { Access } from '../../access.ts'
import { emailField, idField, instantField, organizationRoleField, withEtag } from '../../fields.ts'
import { grantsField, newInvitationSchema } from '../../invitations/invitation.ts'
import { deliverLink, newLink } from '../../invitations/link.ts'
import { insertInvitation } from '../../invitations/store.ts'
import { checkRoleChange } from '../role-change.ts'
import { changeRole, deleteMember, findMember, listMembers } from './store.ts'

/** GET /api/v2/access/organizations/{organization_id}/members: the members of an organization. */
export function getMembers({ db }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/access/organizations/{organization_id}/members',
    id: 'listOrganizationMembers',
    summary: 'Members of an organization',
    auth: 'jwt',
    scope: { level: 'organization', role: 'admin' },
    params: paramsSchema,
    query: z.strictObject(idPageQuery),
    reply: record('MemberList', { members: z.array(memberSchema), ...pageFields }),
    errors: ['organization_not_found', 'invalid_cursor'],
    handle: async ({ params, query }) => {
      const { items, info } = await readIdPage(list, query, (page) =>
        listMembers(db, { ...params, ...page }),
      )
      return { members: items, ...info }
    },
  })
}

/**
 * POST /api/v2/access/organizations/{organization_id}/members: changes the role of a member (200),
 * or invites another person (201). The reply is the same for people with and without an account.
 */
export function addMember(access: Access): Route {
  const { db, roles } = access
  return defineRoute({
    method: 'POST',
    url: '/api/v2/access/organizations/{organization_id}/members',
    id: 'addOrganizationMember',
    summary: 'Invite a person, or change the role of a member',
    auth: 'jwt',
    scope: { level: 'organization', role: 'admin' },
    status: 201,
    idempotent: true,
    shown_once: ['token', 'accept_url'],
    params: paramsSchema,
    body: bodySchema,
    reply: newInvitationSchema,
    also: { status: 200, description: 'The role of a member was changed.', reply: memberSchema },
    errors: [
      ...(['organization_not_found', 'project_not_found', 'last_owner'] as const),
      ...(['limit_reached', 'mail_unavailable'] as const),
    ],
    handle: async ({ params, body, caller }) => {
      const { email, role, projects } = body
      const link = newLink(access)
      const change = {
        ...params,
        actor_id: caller.id,
        check: checkRoleChange,
        who: { email },
        role,
      }
      const done = await db.transaction().execute(async (trx) => {
        const member = await changeRole(trx, change)
        if (member !== undefined) return { member }
        return insertInvitation(trx, {
          ...params,
          project_id: null,
          email,
          role,
          projects,
          link,
          invited_by: caller.id,
          pending_max: access.invitations.pending_max,
        })
      })
      if (!('member' in done)) return deliverLink(access, { ...done, link })
      roles.forget()
      return new Answer(done.member, { status: 200 })
    },
  })
}

const list = 'organization members'

const paramsSchema = z.strictObject({ organization_id: idField })

const bodySchema = record('AddMemberRequest', {
  email: emailField,
  role: organizationRoleField,
  projects: grantsField
    .default([])
    .describe('Project roles that the invitation grants. Ignored for a member.'),
  initial_password: z
    .never('not supported: the invited person chooses a password at the link of the invitation')
    .optional()
    .describe('Not supported. The invited person chooses a password.'),
})

/** A member in a reply. */
const memberSchema = record('Member', {
  user_id: z.uuid(),
  email: z.string(),
  display_name: z.string(),
  role: organizationRoleField,
  created_at: instantField.describe('Time when the person became a member.'),
  version: z.int().describe('Version of the membership, also in `ETag`.'),
})

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
