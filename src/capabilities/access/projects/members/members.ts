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
import {
  emailField,
  idField,
  organizationRoleField,
  projectRoleField,
  withEtag,
} from '../../fields.ts'
import { newInvitationSchema } from '../../invitations/invitation.ts'
import { deliverLink, newLink } from '../../invitations/link.ts'
import { effectiveRole } from '../../roles/store.ts'
import {
  deleteProjectMember,
  findProjectMember,
  inviteToProject,
  listProjectMembers,
  type ProjectMemberRow,
  putProjectMember,
} from './store.ts'

/** GET /api/v2/access/projects/{project_id}/members: the people who can see a project. */
export function getProjectMembers({ db }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/access/projects/{project_id}/members',
    id: 'listProjectMembers',
    summary: 'People who can see a project',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'admin', key: 'access:read' },
    params: z.strictObject({ project_id: idField }),
    query: z.strictObject(idPageQuery),
    reply: record('ProjectMemberList', { members: z.array(projectMemberSchema), ...pageFields }),
    errors: ['project_not_found', 'invalid_cursor'],
    handle: async ({ params, query }) => {
      const { items, info } = await readIdPage(list, query, (page) =>
        listProjectMembers(db, { ...params, ...page }),
      )
      return { members: items.map(projectMember), ...info }
    },
  })
}

const list = 'project members'

/** GET /api/v2/access/projects/{project_id}/members/{member_user_id}: a person who can see it. */
export function getProjectMember({ db }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/access/projects/{project_id}/members/{member_user_id}',
    id: 'getProjectMember',
    summary: 'One person who can see a project',
    etag: true,
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'admin', key: 'access:read' },
    params: paramsSchema,
    reply: projectMemberSchema,
    errors: ['project_not_found', 'member_not_found'],
    handle: async ({ params: { project_id, member_user_id: user_id } }) => {
      const member = await findProjectMember(db, { project_id, user_id })
      if (member === undefined) throw notFound('project', user_id)
      return withEtag(projectMember(member))
    },
  })
}

/**
 * PUT /api/v2/access/projects/{project_id}/members/{member_user_id}: sets the project role of a
 * member of the organization.
 */
export function setProjectMember({ db, clock, roles }: Access): Route {
  return defineRoute({
    method: 'PUT',
    url: '/api/v2/access/projects/{project_id}/members/{member_user_id}',
    id: 'setProjectMember',
    summary: "Set a person's role in a project",
    etag: true,
    headers: [ifMatchHeader],
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    params: paramsSchema,
    body: record('SetProjectMemberRequest', { role: projectRoleField }),
    reply: projectMemberSchema,
    errors: ['project_not_found', 'member_not_found', 'precondition_failed'],
    handle: async ({ params, body, headers }) => {
      const { project_id, member_user_id: user_id } = params
      const now = new Date(clock.now_ms())
      const member = await putProjectMember(db, {
        project_id,
        user_id,
        ...body,
        now,
        check: (version) => assertVersion(headers, version),
      })
      if (member === undefined) throw notFound('organization', user_id)
      roles.forget()
      return withEtag(projectMember(member))
    },
  })
}

/**
 * POST /api/v2/access/projects/{project_id}/members: changes the role of a person who can see the
 * project (200), or invites a person (201), who becomes a member of the organization. The reply
 * does not depend on whether the person has an account.
 */
export function inviteProjectMember(access: Access): Route {
  const { db, roles } = access
  return defineRoute({
    method: 'POST',
    url: '/api/v2/access/projects/{project_id}/members',
    id: 'inviteProjectMember',
    summary: "Invite a person to a project, or change a person's role in it",
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    status: 201,
    idempotent: true,
    shown_once: ['token', 'accept_url'],
    params: z.strictObject({ project_id: idField }),
    body: record('InviteProjectMemberRequest', { email: emailField, role: projectRoleField }),
    reply: newInvitationSchema,
    also: {
      status: 200,
      description: 'The role of a person who can see the project was changed.',
      reply: projectMemberSchema,
    },
    errors: ['project_not_found', 'limit_reached', 'mail_unavailable'],
    handle: async ({ params: { project_id }, body: { email, role }, caller }) => {
      const link = newLink(access)
      const done = await inviteToProject(db, {
        project_id,
        email,
        role,
        link,
        invited_by: caller.id,
        pending_max: access.invitations.pending_max,
      })
      if (done === undefined) throw problem('project_not_found')
      if (!('member' in done)) return deliverLink(access, { ...done, link })
      roles.forget()
      return new Answer(projectMember(done.member), { status: 200 })
    },
  })
}

/**
 * DELETE /api/v2/access/projects/{project_id}/members/{member_user_id}: removes a person's project
 * role. Owners and admins of the organization still see the project.
 */
export function removeProjectMember({ db, clock, roles }: Access): Route {
  return defineRoute({
    method: 'DELETE',
    url: '/api/v2/access/projects/{project_id}/members/{member_user_id}',
    id: 'removeProjectMember',
    summary: 'Remove a person from a project',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null, in_archived: true },
    status: 204,
    params: paramsSchema,
    reply: z.undefined(),
    errors: ['project_not_found', 'member_not_found'],
    handle: async ({ params }) => {
      const { project_id, member_user_id: user_id } = params
      const now = new Date(clock.now_ms())
      if (!(await deleteProjectMember(db, { project_id, user_id, now }))) {
        throw notFound('project', user_id)
      }
      roles.forget()
      return undefined
    },
  })
}

const paramsSchema = z.strictObject({ project_id: idField, member_user_id: idField })

function notFound(where: 'organization' | 'project', user_id: string): Error {
  return problem('member_not_found', {
    detail: `There is no member of the ${where} with the id ${user_id}`,
  })
}

/** A person of a project in a reply. */
const projectMemberSchema = record('ProjectMember', {
  user_id: z.uuid(),
  email: z.string(),
  display_name: z.string(),
  role: projectRoleField.describe('Effective role, the higher of the two below.'),
  project_role: projectRoleField.nullable().describe('Role in the project; null without one.'),
  organization_role: organizationRoleField.describe(
    'Role in the organization; its owners and admins are admin in all projects.',
  ),
  version: z
    .int()
    .describe('Version of the role in the project, also in `ETag`; 0 without a role.'),
})

/** Shapes a person of a project for a reply. */
function projectMember(row: ProjectMemberRow) {
  return { ...row, role: effectiveRole(row) ?? 'viewer' }
}
