import { z } from 'zod'
import { problem } from '../../../../kernel/problem.ts'
import { flagParameter } from '../../../../model/list-query.ts'
import { managedByField, managedByParameter } from '../../../../model/managed-by.ts'
import { record } from '../../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { Access } from '../../access.ts'
import { emailField, idField, instantField, projectRoleField } from '../../fields.ts'
import { deliverLink, newLink } from '../../invitations/link.ts'
import {
  declaredBy,
  declaredByParameter,
  requireDeclarer,
} from '../../service-accounts/declaration.ts'
import {
  type DeclaredMemberRow,
  declareMember,
  endDeclaredMember,
  findDeclaredMember,
  noteDelivery,
} from './store.ts'

/** GET /api/v2/access/projects/{project_id}/declared-members: the member of one resource. */
export function getDeclaredMember({ db, clock }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/access/projects/{project_id}/declared-members',
    id: 'getDeclaredMember',
    summary: 'The member that a Kubernetes resource declares',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null, operator: true },
    params: paramsSchema,
    query: z.strictObject({
      managed_by: managedByParameter.describe('The resource, as `Kind/namespace/name`.'),
    }),
    reply: declaredMemberSchema,
    errors: ['project_not_found', 'member_not_found'],
    handle: async ({ params, query }) => {
      const row = await findDeclaredMember(db, { ...params, by: query.managed_by })
      if (row === undefined) throw problem('member_not_found')
      return declaredMember(row, new Date(clock.now_ms()))
    },
  })
}

/**
 * PUT /api/v2/access/projects/{project_id}/declared-members: invites a person for a resource, or
 * changes the role that the resource gives. Idempotent. Only for operators. The link is mailed, and
 * never in the reply; without a mail server an administrator resends the invitation.
 */
export function putDeclaredMember(access: Access): Route {
  const { db, clock, roles } = access
  return defineRoute({
    method: 'PUT',
    url: '/api/v2/access/projects/{project_id}/declared-members',
    id: 'putDeclaredMember',
    summary: 'Declare a member of a project by a Kubernetes resource',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null, operator: true },
    params: paramsSchema,
    body: record('PutDeclaredMemberRequest', {
      email: emailField,
      role: projectRoleField,
      managed_by: declaredBy,
    }),
    reply: declaredMemberSchema,
    errors: ['project_not_found', 'managed_by_kubernetes', 'limit_reached', 'mail_unavailable'],
    handle: async ({ params, body, caller }) => {
      const managed_by = requireDeclarer(caller, body)
      const link = newLink(access)
      const done = await declareMember(db, { ...params, ...body, managed_by, link })
      if (done === undefined) throw problem('project_not_found')
      if (done.to_send !== undefined) {
        const { id } = await deliverLink(access, { ...done.to_send, link })
        await noteDelivery(db, { id, at: new Date(clock.now_ms()) })
      }
      roles.forget()
      const row = await findDeclaredMember(db, { ...params, by: managed_by })
      if (row === undefined) throw problem('project_not_found')
      return declaredMember(row, link.now)
    },
  })
}

/**
 * DELETE /api/v2/access/projects/{project_id}/declared-members: revokes the invitation of a resource
 * and the membership that it gave. With `retain` the membership stays. Idempotent.
 */
export function removeDeclaredMember({ db, clock, roles }: Access): Route {
  return defineRoute({
    method: 'DELETE',
    url: '/api/v2/access/projects/{project_id}/declared-members',
    id: 'deleteDeclaredMember',
    summary: 'End the declaration of a member by a Kubernetes resource',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null, operator: true },
    status: 204,
    params: paramsSchema,
    query: z.strictObject({
      managed_by: declaredByParameter,
      retain: flagParameter('`true`: keep the membership and remove only its declaration.'),
    }),
    reply: z.undefined(),
    errors: ['project_not_found'],
    handle: async ({ params, query: { managed_by, retain = false }, caller }) => {
      const by = requireDeclarer(caller, { managed_by })
      await endDeclaredMember(db, { ...params, by, retain, now: new Date(clock.now_ms()) })
      roles.forget()
      return undefined
    },
  })
}

const paramsSchema = z.strictObject({ project_id: idField })

const declaredMemberSchema = record('DeclaredMember', {
  id: z.uuid().describe('Id of the invitation.'),
  email: z.string(),
  role: projectRoleField.describe('Role that the resource gives.'),
  status: z
    .enum(['invited', 'link_not_sent', 'accepted', 'expired', 'ended'])
    .meta({ id: 'DeclaredMemberStatus' })
    .describe(
      '`link_not_sent`: no mail server is configured. `ended`: a person revoked or removed it.',
    ),
  member_role: projectRoleField
    .nullable()
    .describe('Role of the person in the project after acceptance; null before.'),
  expires_at: instantField,
  managed_by: managedByField.nullable(),
})

/** Shapes a declared member for a reply. */
function declaredMember(row: DeclaredMemberRow, now: Date): z.input<typeof declaredMemberSchema> {
  const { id, email, role, member_role, expires_at, managed_by } = row
  return { id, email, role, status: statusOf(row, now), member_role, expires_at, managed_by }
}

function statusOf(row: DeclaredMemberRow, now: Date) {
  if (row.revoked_at !== null) return 'ended'
  if (row.accepted_at !== null) return 'accepted'
  if (row.delivered_at === null) return 'link_not_sent'
  return row.expires_at <= now.toISOString() ? 'expired' : 'invited'
}
