import { z } from 'zod'
import { newId } from '../../../../kernel/ids.ts'
import { totalExactMax } from '../../../../kernel/pages.ts'
import { problem } from '../../../../kernel/problem.ts'
import { idAfter, idPage, idPageQuery } from '../../../../model/id-pages.ts'
import { record } from '../../../../model/named-schemas.ts'
import { Answer, defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { Access } from '../../access.ts'
import {
  emailField,
  idField,
  instantField,
  nameField,
  newPasswordField,
  organizationRoleField,
  pageFields,
} from '../../fields.ts'
import { checkRoleChange } from '../role-change.ts'
import { deleteMember, listMembers, putMember } from './store.ts'

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
        after: idAfter(list, query.cursor),
        limit: query.limit + 1,
        count_max: totalExactMax + 1,
      })
      const about = { list, limit: query.limit }
      const { items, info } = idPage(result, { ...about, idOf: ({ user_id }) => user_id })
      return { members: items, ...info }
    },
  })
}

/**
 * POST /api/v2/access/organizations/{organization_id}/members: adds the person with this e-mail
 * (201), or changes a member's role (200). A person without an account gets one; without a password
 * it allows sign-in by an external issuer only. The password of an existing account is kept.
 */
export function addMember({ db, clock, passwords, roles }: Access): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/access/organizations/{organization_id}/members',
    id: 'addOrganizationMember',
    summary: 'Add a member, or change the role of one',
    auth: 'jwt',
    scope: { level: 'organization', role: 'admin' },
    status: 201,
    idempotent: true,
    params: paramsSchema,
    body: bodySchema,
    reply: addedSchema,
    also: { status: 200, description: 'The role of a member was changed.', reply: addedSchema },
    errors: ['organization_not_found', 'last_owner'],
    handle: async ({ params, body, caller }) => {
      const { email, role, initial_password: password, display_name = email } = body
      const password_hash = password === undefined ? null : await passwords.hash(password)
      const { member, added, user_created } = await putMember(db, {
        ...params,
        actor_id: caller.id,
        check: checkRoleChange,
        email,
        role,
        user: { id: newId(), display_name, password_hash },
        now: new Date(clock.now_ms()),
      })
      roles.forget()
      return new Answer({ ...member, user_created }, { status: added ? 201 : 200 })
    },
  })
}

const list = 'organization members'

const paramsSchema = z.strictObject({ organization_id: idField })

const bodySchema = record('AddMemberRequest', {
  email: emailField,
  role: organizationRoleField,
  display_name: nameField.optional().describe('Name of a new account. Default: the e-mail.'),
  initial_password: newPasswordField
    .optional()
    .describe('Password of a new account. Pass it on to the person.'),
})

const memberSchema = record('Member', {
  user_id: z.uuid(),
  email: z.string(),
  display_name: z.string(),
  role: organizationRoleField,
  created_at: instantField.describe('Time when the person became a member.'),
})

const addedSchema = memberSchema.extend({ user_created: z.boolean() }).meta({ id: 'AddedMember' })

/**
 * DELETE /api/v2/access/organizations/{organization_id}/members/{member_user_id}: removes a person
 * from the organization and all of its projects.
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
