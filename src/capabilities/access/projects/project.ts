import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import type { KeyScope } from '../../../kernel/scopes.ts'
import { refuseUnlessOwner } from '../../../model/managed-by.ts'
import { record } from '../../../model/named-schemas.ts'
import {
  assertVersion,
  defineRoute,
  ifMatchHeader,
  type Route,
} from '../../../platform/http/index.ts'
import { type AccessTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import type { Access } from '../access.ts'
import {
  environmentsField,
  idField,
  keyScopesLimitField,
  nameField,
  taskRulesOffField,
  withEtag,
} from '../fields.ts'
import { lockOrganization } from '../organizations/store.ts'
import { keepOnlyProject, readOrganizationRole } from '../roles/store.ts'
import { seenProjectSchema } from './projects.ts'
import {
  findAnyProject,
  type ProjectRow,
  projectColumns,
  replaceEnvironments,
  replaceTaskRulesOff,
} from './store.ts'

/**
 * POST /api/v2/access/projects/{project_id}/archive: makes a project read-only. Changes and ingest
 * are refused, by other processes within 30 s. Its data is kept, and retention continues. A
 * repeated call changes nothing.
 */
export function archiveProject(access: Access): Route {
  return defineRoute({
    ...archiveRoute,
    url: '/api/v2/access/projects/{project_id}/archive',
    id: 'archiveProject',
    summary: 'Archive a project: its data can be read, and changes are refused',
    handle: ({ params }) => switchArchived(access, { ...params, archived: true }),
  })
}

/** The common parts of the routes that archive and restore a project. */
const archiveRoute = {
  method: 'POST',
  auth: 'jwt',
  scope: { level: 'project', role: 'admin', key: null, in_archived: true },
  etag: true,
  params: z.strictObject({ project_id: idField }),
  reply: seenProjectSchema,
  errors: ['project_not_found', 'managed_by_kubernetes'],
} as const

/** Archives or restores a project. Throws `project_not_found`, `managed_by_kubernetes`. */
async function switchArchived(
  { db, clock, roles }: Access,
  change: { project_id: string; archived: boolean },
) {
  const project = await setArchived(db, { ...change, now: new Date(clock.now_ms()) })
  if (project === undefined) throw problem('project_not_found')
  roles.forget()
  return withEtag({ ...project, role: 'admin' as const })
}

/**
 * POST /api/v2/access/projects/{project_id}/unarchive: accepts changes and ingest again, in other
 * processes within 30 s. Keys that were not revoked are valid again.
 */
export function unarchiveProject(access: Access): Route {
  return defineRoute({
    ...archiveRoute,
    url: '/api/v2/access/projects/{project_id}/unarchive',
    id: 'unarchiveProject',
    summary: 'Restore an archived project',
    handle: ({ params }) => switchArchived(access, { ...params, archived: false }),
  })
}

/**
 * PUT /api/v2/access/projects/{project_id}/settings: renames a project, and limits what its keys may
 * do; keys lose scopes beyond the limit within 30 s. Refused for a project that a resource declares.
 * Only admins of the organization change the limit, because it binds the admins of the project.
 */
export function putProjectSettings({ db, roles }: Access): Route {
  return defineRoute({
    method: 'PUT',
    url: '/api/v2/access/projects/{project_id}/settings',
    id: 'putProjectSettings',
    summary: 'Change the name of a project and the limit of its keys',
    etag: true,
    headers: [ifMatchHeader],
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    params: z.strictObject({ project_id: idField }),
    body: record('PutProjectSettingsRequest', { name: nameField, key_scopes: keyScopesLimitField }),
    reply: seenProjectSchema,
    errors: ['project_not_found', 'managed_by_kubernetes', 'name_taken', 'precondition_failed'],
    handle: async ({ params, body, caller, headers }) => {
      const changed = await replaceSettings(db, {
        ...params,
        ...body,
        actor_id: caller.id,
        check: (version) => assertVersion(headers, version),
      })
      if (changed === undefined) throw problem('project_not_found')
      if (changed === 'name_taken') {
        throw problem('name_taken', {
          detail: `The organization has a project "${body.name}" already, which may be archived`,
        })
      }
      if (changed === 'limit_denied') {
        throw problem('permission_denied', {
          detail: 'Only an admin of the organization changes the limit of keys',
        })
      }
      roles.forget()
      return withEtag({ ...changed, role: 'admin' as const })
    },
  })
}

/**
 * PUT /api/v2/access/projects/{project_id}/environments: replaces the names that the environment of
 * a new key can have. Keys that exist stay valid. Refused for a project that a resource declares.
 */
export function putProjectEnvironments({ db }: Access): Route {
  return defineRoute({
    method: 'PUT',
    url: '/api/v2/access/projects/{project_id}/environments',
    id: 'putProjectEnvironments',
    summary: 'Replace the environments of a project',
    etag: true,
    headers: [ifMatchHeader],
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    params: z.strictObject({ project_id: idField }),
    body: record('PutProjectEnvironmentsRequest', { environments: environmentsField }),
    reply: seenProjectSchema,
    errors: ['project_not_found', 'managed_by_kubernetes', 'precondition_failed'],
    handle: async ({ params, body, headers }) => {
      const check = (version: number) => assertVersion(headers, version)
      const changed = await replaceEnvironments(db, { ...params, ...body, check })
      if (changed === undefined) throw problem('project_not_found')
      return withEtag({ ...changed, role: 'admin' as const })
    },
  })
}

/**
 * PUT /api/v2/access/projects/{project_id}/task-rules: switches off rules that find the sessions and
 * tasks of calls. A proxy follows within 30 s; stored calls stay as they are. Also for a project that
 * a resource declares, because resources say nothing about these rules.
 */
export function putProjectTaskRules({ db }: Access): Route {
  return defineRoute({
    method: 'PUT',
    url: '/api/v2/access/projects/{project_id}/task-rules',
    id: 'putProjectTaskRules',
    summary: 'Switch off rules that find the sessions and tasks of calls',
    etag: true,
    headers: [ifMatchHeader],
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    params: z.strictObject({ project_id: idField }),
    body: record('PutProjectTaskRulesRequest', { off: taskRulesOffField }),
    reply: seenProjectSchema,
    errors: ['project_not_found', 'precondition_failed'],
    handle: async ({ params, body, headers }) => {
      const check = (version: number) => assertVersion(headers, version)
      const changed = await replaceTaskRulesOff(db, { ...params, ...body, check })
      if (changed === undefined) throw problem('project_not_found')
      return withEtag({ ...changed, role: 'admin' as const })
    },
  })
}

type Db = Kysely<AccessTables>

/**
 * Archives or restores a project that no resource declares; the time of the first archiving stays.
 * Undefined for an unknown project. Throws `managed_by_kubernetes`.
 */
function setArchived(
  db: Db,
  change: { project_id: string; archived: boolean; now: Date },
): Promise<ProjectRow | undefined> {
  const { project_id, archived, now } = change
  return db.transaction().execute(async (trx) => {
    const project = await lockProject(trx, project_id)
    if (project === undefined) return undefined
    refuseUnlessOwner(project.managed_by, null)
    if ((project.archived_at !== null) === archived) return project
    if (!archived) await keepOnlyProject(trx, { admins_of: project.organization_id })
    return trx
      .updateTable('projects')
      .set({ archived_at: archived ? now : null })
      .where('id', '=', project_id)
      .returning(projectColumns)
      .executeTakeFirst()
  })
}

/**
 * Replaces the name of a project, and the limit of its keys if the actor is an admin of the
 * organization. Throws `managed_by_kubernetes`, and what `check` throws for another version.
 */
function replaceSettings(
  db: Db,
  change: {
    project_id: string
    actor_id: string
    name: string
    key_scopes: KeyScope[] | null
    check: (version: number) => void
  },
): Promise<ProjectRow | 'name_taken' | 'limit_denied' | undefined> {
  const { project_id, actor_id, name, key_scopes, check } = change
  const replaced = db.transaction().execute(async (trx) => {
    const project = await lockProject(trx, project_id)
    if (project === undefined) return undefined
    refuseUnlessOwner(project.managed_by, null)
    check(project.version)
    const { organization_id } = project
    if (!isSameSet(project.key_scopes, key_scopes)) {
      const role = await readOrganizationRole(trx, { user_id: actor_id, organization_id })
      if (role !== 'owner' && role !== 'admin') return 'limit_denied'
    }
    return trx
      .updateTable('projects')
      .set({ name, key_scopes: sql`${key_scopes}::text[]` })
      .where('id', '=', project_id)
      .returning(projectColumns)
      .executeTakeFirst()
  })
  // The scope of the call shows no other project, so that the index alone knows the names.
  return replaced.catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === uniqueViolation) {
      return 'name_taken' as const
    }
    throw error
  })
}

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const uniqueViolation = '23505'

/** Locks the organization of a project, like every change of memberships, and reads the project. */
async function lockProject(trx: Db, project_id: string): Promise<ProjectRow | undefined> {
  const project = await findAnyProject(trx, project_id)
  if (project === undefined) return undefined
  await lockOrganization(trx, project.organization_id)
  return findAnyProject(trx, project_id)
}

function isSameSet(a: readonly string[] | null, b: readonly string[] | null): boolean {
  if (a === null || b === null) return a === b
  return a.length === b.length && a.every((one) => b.includes(one))
}
