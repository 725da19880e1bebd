import type { KeyScope } from '../../../kernel/scopes.ts'
import { refuseUnlessOwner } from '../../../model/managed-by.ts'
import { type AccessTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import { lockOrganization } from '../organizations/store.ts'
import { keepOnlyProject, readOrganizationRole } from '../roles/store.ts'
import { findAnyProject, type ProjectRow, projectColumns } from './store.ts'

type Db = Kysely<AccessTables>

/**
 * Archives or restores a project that no resource declares; the time of the first archiving stays.
 * Undefined for an unknown project. Throws `managed_by_kubernetes`.
 */
export function setArchived(
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
export function replaceSettings(
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
