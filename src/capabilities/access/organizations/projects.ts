import { z } from 'zod'
import { newId } from '../../../kernel/ids.ts'
import { problem } from '../../../kernel/problem.ts'
import { idPage, idPageAfter, idPageQuery } from '../../../model/id-pages.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { environmentsField, idField, nameField } from '../fields.ts'
import { projectListSchema, seenProjectSchema } from '../projects/projects.ts'
import { insertProject, listProjects } from '../projects/store.ts'

/**
 * GET /api/v2/access/organizations/{organization_id}/projects: its projects that the caller sees.
 */
export function getOrganizationProjects({ db }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/access/organizations/{organization_id}/projects',
    id: 'listOrganizationProjects',
    summary: 'Projects of an organization that you can see',
    auth: 'jwt',
    scope: { level: 'organization', role: 'member' },
    params: paramsSchema,
    query: z.strictObject(idPageQuery),
    reply: projectListSchema,
    errors: ['organization_not_found', 'invalid_cursor'],
    handle: async ({ params, query, caller }) => {
      const result = await listProjects(db, {
        ...params,
        user_id: caller.id,
        ...idPageAfter(list, query),
      })
      const { items, info } = idPage(result, { list, limit: query.limit, idOf: ({ id }) => id })
      return { projects: items, ...info }
    },
  })
}

/** POST /api/v2/access/organizations/{organization_id}/projects. */
export function createProject({ db, clock, roles }: Access): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/access/organizations/{organization_id}/projects',
    id: 'createProject',
    summary: 'Make a project in an organization',
    auth: 'jwt',
    scope: { level: 'organization', role: 'admin' },
    status: 201,
    idempotent: true,
    params: paramsSchema,
    body: record('CreateProjectRequest', {
      name: nameField,
      environments: environmentsField.default(null),
    }),
    reply: seenProjectSchema,
    errors: ['organization_not_found', 'name_taken'],
    handle: async ({ params, body }) => {
      const made = await insertProject(db, {
        id: newId(),
        organization_id: params.organization_id,
        ...body,
        created_at: new Date(clock.now_ms()),
      })
      if (made === undefined) {
        throw problem('name_taken', {
          detail: `The organization has a project "${body.name}" already`,
        })
      }
      roles.forget()
      return { ...made, role: 'admin' as const }
    },
  })
}

const list = 'organization projects'
const paramsSchema = z.strictObject({ organization_id: idField })
