import { z } from 'zod'
import { problem } from '../../../../kernel/problem.ts'
import { record } from '../../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { Access } from '../../access.ts'
import { idField, projectRoleField } from '../../fields.ts'
import { projectMember, projectMemberSchema } from './project-member.ts'
import { deleteProjectMember, putProjectMember } from './store.ts'

/**
 * PUT /api/v2/access/projects/{project_id}/members/{member_user_id}: sets what a member of the
 * organization is in the project.
 */
export function setProjectMember({ db, clock, roles }: Access): Route {
  return defineRoute({
    method: 'PUT',
    url: '/api/v2/access/projects/{project_id}/members/{member_user_id}',
    id: 'setProjectMember',
    summary: "Set a person's role in a project",
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    params: paramsSchema,
    body: record('SetProjectMemberRequest', { role: projectRoleField }),
    reply: projectMemberSchema,
    errors: ['project_not_found', 'member_not_found'],
    handle: async ({ params, body }) => {
      const { project_id, member_user_id: user_id } = params
      const now = new Date(clock.now_ms())
      const member = await putProjectMember(db, { project_id, user_id, ...body, now })
      if (member === undefined) throw notFound('organization', user_id)
      roles.forget()
      return projectMember(member)
    },
  })
}

/**
 * DELETE /api/v2/access/projects/{project_id}/members/{member_user_id}: takes the role in the project
 * away. An owner or admin of the organization still sees it.
 */
export function removeProjectMember({ db, roles }: Access): Route {
  return defineRoute({
    method: 'DELETE',
    url: '/api/v2/access/projects/{project_id}/members/{member_user_id}',
    id: 'removeProjectMember',
    summary: 'Take a person out of a project',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    status: 204,
    params: paramsSchema,
    reply: z.undefined(),
    errors: ['project_not_found', 'member_not_found'],
    handle: async ({ params }) => {
      const { project_id, member_user_id: user_id } = params
      if (!(await deleteProjectMember(db, { project_id, user_id }))) {
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
