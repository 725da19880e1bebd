import { problem } from '../../../kernel/problem.ts'
import { type ManagedBy, type ResourceName, refuseUnlessOwner } from '../../../model/managed-by.ts'
import type { AccessTables, Kysely } from '../../../platform/relational/index.ts'
import { lockOrganization } from '../organizations/store.ts'
import { keepOnlyProject } from '../roles/store.ts'
import { revokeDeclaredKeys } from '../service-accounts/change-store.ts'
import { endDeclaredMembers } from './declared-members/store.ts'
import { lockProjectOrganization, type ProjectRow, projectColumns } from './store.ts'

type Db = Kysely<AccessTables>

/** A project that a resource declares. */
export type ProjectDeclaration = {
  project_id: string
  /** Name of the organization. */
  organization: string
  name: string
  /** Whether an existing project without an owner may be declared. */
  adopt: boolean
  environments: string[] | null
  managed_by: ManagedBy
  now: Date
}

/**
 * Creates the project of a resource, restores an archived one, or adopts one. Throws
 * `organization_not_found`, `project_not_found` for a project to adopt that does not exist,
 * `name_taken` for one that the resource may not declare, and `managed_by_kubernetes` if another
 * resource declares it.
 */
export function declareProject(
  db: Db,
  declared: ProjectDeclaration,
): Promise<{ project: ProjectRow; is_new: boolean }> {
  const { project_id, organization, name, adopt, environments, managed_by, now } = declared
  return db.transaction().execute(async (trx) => {
    const organization_id = await lockOrganizationNamed(trx, organization)
    const stored = await trx
      .selectFrom('projects')
      .select(['organization_id', 'name', 'managed_by', 'released_by', 'archived_at'])
      .where('id', '=', project_id)
      .forUpdate()
      .executeTakeFirst()
    if (stored === undefined) {
      if (adopt) throw problem('project_not_found')
      const names = { id: project_id, organization_id, name, environments }
      return {
        project: await createDeclared(trx, { ...names, created_at: now, managed_by }),
        is_new: true,
      }
    }
    if (stored.organization_id !== organization_id || stored.name !== name) {
      throw nameTaken(`Project ${project_id} has another organization or name`)
    }
    refuseUnlessOwner(stored.managed_by, managed_by)
    const isKnown = stored.managed_by !== null || isOfNamespace(stored.released_by, managed_by)
    if (!isKnown && !adopt) throw nameTaken(`Organization "${organization}" has this project`)
    const is_new = stored.archived_at !== null
    if (is_new) {
      // A key or a member may have been added while the project was archived.
      await endDeclared(trx, { organization_id, project_id, now })
      await keepOnlyProject(trx, { admins_of: organization_id })
    }
    const project = await trx
      .updateTable('projects')
      .set({
        managed_by: JSON.stringify(managed_by),
        environments,
        released_by: null,
        archived_at: null,
      })
      .where('id', '=', project_id)
      .returning(projectColumns)
      .executeTakeFirstOrThrow()
    return { project, is_new }
  })
}

/**
 * Ends the declaration of a project by a resource, and archives the project at the given time, if
 * any. A project that no resource declares does not change. Throws `managed_by_kubernetes`.
 */
export function endDeclaration(
  db: Db,
  which: { project_id: string; by: ResourceName; archived_at: Date | null },
): Promise<void> {
  const { project_id, by, archived_at } = which
  return db.transaction().execute(async (trx) => {
    const organization_id = await lockProjectOrganization(trx, project_id)
    if (organization_id === undefined) return
    const stored = await trx
      .selectFrom('projects')
      .select('managed_by')
      .where('id', '=', project_id)
      .forUpdate()
      .executeTakeFirst()
    const owner = stored?.managed_by ?? null
    if (owner === null) return
    refuseUnlessOwner(owner, by)
    if (archived_at !== null) {
      await endDeclared(trx, { organization_id, project_id, now: archived_at })
    }
    await trx
      .updateTable('projects')
      .set({ managed_by: null, released_by: JSON.stringify(owner), archived_at })
      .where('id', '=', project_id)
      .execute()
  })
}

/**
 * Ends the keys and members that resources declare in a project. While the project is archived, a
 * deletion of these resources does not find it, so a restored project must not give them back.
 */
async function endDeclared(
  trx: Db,
  which: { organization_id: string; project_id: string; now: Date },
): Promise<void> {
  await endDeclaredMembers(trx, which)
  await revokeDeclaredKeys(trx, { project_id: which.project_id, at: which.now })
}

async function lockOrganizationNamed(trx: Db, name: string): Promise<string> {
  const found = await trx
    .selectFrom('organizations')
    .select('id')
    .where('name', '=', name)
    .executeTakeFirst()
  if (found === undefined) {
    throw problem('organization_not_found', { detail: `There is no organization "${name}"` })
  }
  await lockOrganization(trx, found.id)
  return found.id
}

async function createDeclared(
  trx: Db,
  row: Pick<ProjectRow, 'id' | 'organization_id' | 'name' | 'environments'> & {
    created_at: Date
    managed_by: ManagedBy
  },
): Promise<ProjectRow> {
  await keepOnlyProject(trx, { admins_of: row.organization_id })
  const created = await trx
    .insertInto('projects')
    .values({ ...row, managed_by: JSON.stringify(row.managed_by) })
    .onConflict((conflict) => conflict.columns(['organization_id', 'name']).doNothing())
    .returning(projectColumns)
    .executeTakeFirst()
  if (created !== undefined) return created
  throw nameTaken(`The organization has another project "${row.name}", which may be archived`)
}

/** Whether a resource of this namespace, in the same cluster, released the project. */
function isOfNamespace(released_by: ManagedBy | null, by: ManagedBy): boolean {
  const isSameKind = released_by?.kind === by.kind && released_by.namespace === by.namespace
  return isSameKind && released_by.installation === by.installation
}

function nameTaken(detail: string): Error {
  return problem('name_taken', { detail })
}
