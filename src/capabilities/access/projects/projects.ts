import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { keyScopes } from '../../../kernel/scopes.ts'
import { idPageQuery, pageFields, readIdPage } from '../../../model/id-pages.ts'
import { flagParameter } from '../../../model/list-query.ts'
import { managedByField } from '../../../model/managed-by.ts'
import { record } from '../../../model/named-schemas.ts'
import { taskRuleSchema } from '../../../model/task-rules.ts'
import { Answer, defineRoute, type Route } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import {
  environmentsField,
  idField,
  instantField,
  nameField,
  projectRoleField,
  storedNameField,
  withEtag,
} from '../fields.ts'
import {
  declaredBy,
  declaredByParameter,
  requireDeclarer,
} from '../service-accounts/declaration.ts'
import { declareProject, endDeclaration } from './declare-project.ts'
import { findAnyProject, listAllProjects, listProjects } from './store.ts'

/** The environments of a project in a reply. */
const environmentsReply = z
  .array(z.string())
  .nullable()
  .describe('Environments that new keys can have; null: any environment.')

/** A project in a reply. */
const projectSchema = z.strictObject({
  id: z.uuid(),
  organization_id: z.uuid(),
  name: z.string(),
  created_at: instantField,
  environments: environmentsReply,
  managed_by: managedByField
    .nullable()
    .describe('Kubernetes resource that declares the project; null without one.'),
  archived_at: instantField
    .nullable()
    .describe('Time when the project was archived; null when it is not archived.'),
  key_scopes: z
    .array(z.enum(keyScopes))
    .nullable()
    .describe('Scopes that its keys can have at most; null: the project sets no limit.'),
  task_rules_off: z
    .array(taskRuleSchema)
    .describe('Rules that are switched off and find no sessions and tasks of calls.'),
  version: z.int().describe('Version of the project, also in `ETag`.'),
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
      name: storedNameField.optional().describe('Only projects with exactly this name.'),
      organization: storedNameField
        .optional()
        .describe('Only projects of the organization with exactly this name.'),
      archived: flagParameter('`true`: only archived projects. Default: only the others.'),
      ...idPageQuery,
    }),
    reply: projectListSchema,
    errors: ['invalid_cursor'],
    handle: async ({ query, caller }) => {
      const { name, organization, archived } = query
      const { items, info } = await readIdPage(list, query, (page) => {
        const chosen = { name, organization, archived, ...page }
        return caller.kind === 'operator'
          ? listAllProjects(db, chosen)
          : listProjects(db, { ...chosen, user_id: caller.id })
      })
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
    etag: true,
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'access:read', operator: true },
    params: z.strictObject({ project_id: idField }),
    reply: seenProjectSchema,
    errors: ['project_not_found'],
    handle: async ({ params, caller }) => {
      const project = await findAnyProject(db, params.project_id)
      if (project === undefined) throw problem('project_not_found')
      const seen =
        caller.kind === 'user' ? await roles.projectRole(caller.id, project.id) : undefined
      return withEtag({ ...project, role: seen?.role ?? null })
    },
  })
}

/**
 * PUT /api/v2/access/projects/{project_id}: creates a project that a resource declares, under an id
 * that the operator derives, or adopts an existing one. Idempotent. Only for operators.
 */
export function putProject({ db, clock, roles }: Access): Route {
  return defineRoute({
    method: 'PUT',
    url: '/api/v2/access/projects/{project_id}',
    id: 'putProject',
    summary: 'Declare a project by a Kubernetes resource',
    auth: 'jwt',
    scope: { level: 'user', operator: true },
    params: projectParams,
    body: record('PutProjectRequest', {
      organization: storedNameField.describe('Name of the organization.'),
      name: nameField.describe('Name of the project.'),
      adopt: z
        .boolean()
        .default(false)
        .describe('Declare an existing project that no resource declares.'),
      environments: environmentsField.default(null),
      managed_by: declaredBy,
    }),
    reply: seenProjectSchema,
    also: { status: 201, description: 'The project was created.', reply: seenProjectSchema },
    errors: ['organization_not_found', 'project_not_found', 'name_taken', 'managed_by_kubernetes'],
    handle: async ({ params, body, caller }) => {
      const managed_by = requireDeclarer(caller, body)
      const now = new Date(clock.now_ms())
      const made = await declareProject(db, { ...body, ...params, managed_by, now })
      if (made.is_new) roles.forget()
      return new Answer({ ...made.project, role: null }, { status: made.is_new ? 201 : 200 })
    },
  })
}

/**
 * DELETE /api/v2/access/projects/{project_id}: archives a project that a resource declares: changes
 * and ingest are refused within 30 s, and its data is kept. With `retain` only the declaration
 * ends.
 */
export function removeProject({ db, clock, roles }: Access): Route {
  return defineRoute({
    method: 'DELETE',
    url: '/api/v2/access/projects/{project_id}',
    id: 'deleteProject',
    summary: 'Archive a project that a Kubernetes resource declares',
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null, operator: true },
    status: 204,
    params: projectParams,
    query: z.strictObject({
      managed_by: declaredByParameter,
      retain: flagParameter('`true`: keep the project and remove only its declaration.'),
    }),
    reply: z.undefined(),
    errors: ['project_not_found', 'managed_by_kubernetes'],
    handle: async ({ params, query, caller }) => {
      const by = requireDeclarer(caller, query)
      const archived_at = query.retain === true ? null : new Date(clock.now_ms())
      await endDeclaration(db, { ...params, by, archived_at })
      roles.forget()
      return undefined
    },
  })
}

const projectParams = z.strictObject({ project_id: idField })
