import { z } from 'zod'
import { newId } from '../../../../kernel/ids.ts'
import { totalExactMax } from '../../../../kernel/pages.ts'
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
import { idAfter, idPage, idPageQuery } from '../../id-pages.ts'
import { checkRoleChange } from '../role-change.ts'
import { listMembers, putMember } from './store.ts'

/** GET /api/v2/access/organizations/{organization_id}/members. */
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
      const found = await listMembers(db, {
        ...params,
        after: idAfter(list, query.cursor),
        limit: query.limit + 1,
        count_max: totalExactMax + 1,
      })
      const about = { list, limit: query.limit }
      const { items, info } = idPage(found, { ...about, idOf: ({ user_id }) => user_id })
      return { members: items, ...info }
    },
  })
}

/**
 * POST /api/v2/access/organizations/{organization_id}/members: adds the person with this e-mail
 * (201), or changes a member's role (200). Who has no account yet gets one; without a password it
 * is good for sign-in by an external issuer only. The password of an account that is there stays.
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
  display_name: nameField.optional().describe('For an account that is made; else the e-mail.'),
  initial_password: newPasswordField
    .optional()
    .describe('Password of an account that is made. Tell it to the person.'),
})

const memberSchema = record('Member', {
  user_id: z.uuid(),
  email: z.string(),
  display_name: z.string(),
  role: organizationRoleField,
  created_at: instantField.describe('When the person became a member.'),
})

const addedSchema = memberSchema.extend({ user_created: z.boolean() }).meta({ id: 'AddedMember' })
