import { z } from 'zod'
import { newId } from '../../../kernel/ids.ts'
import { problem } from '../../../kernel/problem.ts'
import { keyScopes } from '../../../kernel/scopes.ts'
import { idPageQuery, pageFields, readIdPage } from '../../../model/id-pages.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import {
  environmentsField,
  idField,
  instantField,
  nameField,
  organizationRoleField,
} from '../fields.ts'
import { projectListSchema, seenProjectSchema } from '../projects/projects.ts'
import { insertProject, listProjects } from '../projects/store.ts'
import { mayMakeOrganizations } from './change-store.ts'
import { insertOrganization, listOrganizations } from './store.ts'

/** GET /api/v2/access/organizations: the caller's organizations. */
export function getOrganizations({ db }: Access): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/access/organizations',
    id: 'listOrganizations',
    summary: 'Organizations that you belong to',
    auth: 'jwt',
    scope: { level: 'user' },
    query: z.strictObject(idPageQuery),
    reply: record('OrganizationList', {
      organizations: z.array(organizationSchema),
      ...pageFields,
    }),
    errors: ['invalid_cursor'],
    handle: async ({ query, caller }) => {
      const { items, info } = await readIdPage(list, query, (page) =>
        listOrganizations(db, { user_id: caller.id, ...page }),
      )
      return { organizations: items, ...info }
    },
  })
}

/**
 * POST /api/v2/access/organizations: creates an organization. The caller becomes its owner. Only
 * for owners and admins of another organization, and administrators of the installation.
 */
export function createOrganization({ db, clock, roles }: Access): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/access/organizations',
    id: 'createOrganization',
    summary: 'Make an organization and become its owner',
    auth: 'jwt',
    scope: { level: 'user' },
    status: 201,
    idempotent: true,
    body: record('CreateOrganizationRequest', { name: nameField }),
    reply: organizationSchema,
    errors: ['name_taken'],
    handle: async ({ body, caller }) => {
      if (!(await mayMakeOrganizations(db, caller.id))) {
        throw problem('permission_denied', {
          detail:
            'This requires the role admin or owner in some organization, or an administrator of the installation',
        })
      }
      const made = await insertOrganization(db, {
        id: newId(),
        name: body.name,
        created_at: new Date(clock.now_ms()),
        owner_id: caller.id,
      })
      if (made === undefined) {
        throw problem('name_taken', { detail: `An organization "${body.name}" exists already` })
      }
      roles.forget()
      return made
    },
  })
}

const list = 'organizations'

/** An organization in a reply. */
export const organizationSchema = record('Organization', {
  id: z.uuid(),
  name: z.string(),
  created_at: instantField,
  role: organizationRoleField.describe('Your role in it.'),
  key_scopes: z
    .array(z.enum(keyScopes))
    .nullable()
    .describe('Scopes that keys of its projects can have at most; null: no limit.'),
  version: z.int().describe('Version of the organization, also in `ETag`.'),
})

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
      const { items, info } = await readIdPage(projectList, query, (page) =>
        listProjects(db, { ...params, user_id: caller.id, ...page }),
      )
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

const projectList = 'organization projects'
const paramsSchema = z.strictObject({ organization_id: idField })
