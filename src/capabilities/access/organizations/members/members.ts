import { z } from 'zod'
import { idPage, idPageAfter, idPageQuery } from '../../../../model/id-pages.ts'
import { record } from '../../../../model/named-schemas.ts'
import { Answer, defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { Access } from '../../access.ts'
import {
  emailField,
  idField,
  instantField,
  organizationRoleField,
  pageFields,
} from '../../fields.ts'
import { grantsField, newInvitationSchema } from '../../invitations/invitation.ts'
import { deliverLink, newLink } from '../../invitations/link.ts'
import { insertInvitation } from '../../invitations/store.ts'
import { checkRoleChange } from '../role-change.ts'
import { changeRole, listMembers } from './store.ts'

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
      const result = await listMembers(db, {
        ...params,
        ...idPageAfter(list, query),
      })
      const about = { list, limit: query.limit }
      const { items, info } = idPage(result, { ...about, idOf: ({ user_id }) => user_id })
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
          ...{ ...params, project_id: null, email, role, projects, link },
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
export const memberSchema = record('Member', {
  user_id: z.uuid(),
  email: z.string(),
  display_name: z.string(),
  role: organizationRoleField,
  created_at: instantField.describe('Time when the person became a member.'),
  version: z.int().describe('Version of the membership, also in `ETag`.'),
})
