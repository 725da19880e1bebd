import { z } from 'zod'
import { totalExactMax } from '../../../kernel/pages.ts'
import { problem } from '../../../kernel/problem.ts'
import { idAfter, idPage, idPageQuery } from '../../../model/id-pages.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { idField, instantField, nameField, pageFields, projectRoleField } from '../fields.ts'
import { findProject, listAllProjects, listProjects } from './store.ts'

/** A project in a reply. */
const projectSchema = z.strictObject({
  id: z.uuid(),
  organization_id: z.uuid(),
  name: z.string(),
  created_at: instantField,
})

/** A project, with the caller's role in it. */
export const seenProjectSchema = projectSchema
  .extend({
    role: projectRoleField
      .nullable()
      .describe('Your role in it; null for service accounts and operators.'),
  })
  .meta({ id: 'Project' })

/** A page of projects. */
export const projectListSchema = record('ProjectList', {
  projects: z.array(seenProjectSchema),
  ...pageFields,
})
/**
 * GET /api/v2/access/projects: all projects that the caller can see, in all organizations; an
 * operator sees every project.
 */
export function getProjects({ db }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/access/projects',
    id: 'listProjects',
    summary: 'Projects that you can see',
    auth: 'jwt',
    scope: { level: 'user', operator: true },
    query: z.strictObject({
      name: nameField.optional().describe('Only projects with exactly this name.'),
      organization: nameField
        .optional()
        .describe('Only projects of the organization with exactly this name.'),
      ...idPageQuery,
    }),
    reply: projectListSchema,
    errors: ['invalid_cursor'],
    handle: async ({ query, caller }) => {
      const page = {
        name: query.name,
        organization: query.organization,
        after: idAfter(list, query.cursor),
        limit: query.limit + 1,
        count_max: totalExactMax + 1,
      }
      const result = await (caller.kind === 'operator'
        ? listAllProjects(db, page)
        : listProjects(db, { ...page, user_id: caller.id }))
      const { items, info } = idPage(result, { list, limit: query.limit, idOf: ({ id }) => id })
      return { projects: items, ...info }
    },
  })
}

const list = 'projects'

/** GET /api/v2/access/projects/{project_id}: one project. */
export function getProject({ db, roles }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/access/projects/{project_id}',
    id: 'getProject',
    summary: 'One project',
    auth: 'jwt',
    scope: { level: 'project', role: 'viewer', key: 'access:read', operator: true },
    params: z.strictObject({ project_id: idField }),
    reply: seenProjectSchema,
    errors: ['project_not_found'],
    handle: async ({ params, caller }) => {
      const project = await findProject(db, params.project_id)
      if (project === undefined) throw problem('project_not_found')
      const seen =
        caller.kind === 'user' ? await roles.projectRole(caller.id, project.id) : undefined
      return { ...project, role: seen?.role ?? null }
    },
  })
}
