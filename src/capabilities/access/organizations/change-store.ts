import type { KeyScope } from '../../../kernel/scopes.ts'
import type { AccessTables, Kysely } from '../../../platform/relational/index.ts'
import { runInInstallation } from '../../../platform/tenancy/index.ts'
import { isInstallationAdmin } from '../users/store.ts'
import { lockOrganization, type OrganizationRow, organizationColumns } from './store.ts'

type Db = Kysely<AccessTables>
type Which = { organization_id: string; user_id: string }

/** Returns an organization, with the role of a member; undefined for another user. */
export function findOrganization(
  db: Db,
  { organization_id, user_id }: Which,
): Promise<OrganizationRow | undefined> {
  return db
    .selectFrom('organizations')
    .innerJoin('organization_members', 'organization_members.organization_id', 'organizations.id')
    .select(organizationColumns)
    .where('organizations.id', '=', organization_id)
    .where('organization_members.user_id', '=', user_id)
    .executeTakeFirst()
}

/** Replaces name and limit of an organization. `check` throws unless it is for this version. */
export function replaceOrganization(
  db: Db,
  which: Which,
  change: { name: string; key_scopes: KeyScope[] | null; check: (version: number) => void },
): Promise<OrganizationRow | 'name_taken' | undefined> {
  const { name, key_scopes, check } = change
  return db.transaction().execute(async (trx) => {
    await lockOrganization(trx, which.organization_id)
    const stored = await findOrganization(trx, which)
    if (stored === undefined) return undefined
    check(stored.version)
    const twin = await runInInstallation('names are unique among all organizations', () =>
      trx
        .selectFrom('organizations')
        .select('id')
        .where('name', '=', name)
        .where('id', '<>', which.organization_id)
        .executeTakeFirst(),
    )
    if (twin !== undefined) return 'name_taken'
    await trx
      .updateTable('organizations')
      .set({ name, key_scopes })
      .where('id', '=', which.organization_id)
      .execute()
    return findOrganization(trx, which)
  })
}

/** Deletes an organization with its members and invitations; false when it has a project. */
export function deleteOrganization(db: Db, organization_id: string): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    await lockOrganization(trx, organization_id)
    const project = await trx
      .selectFrom('projects')
      .select('id')
      .where('organization_id', '=', organization_id)
      .limit(1)
      .executeTakeFirst()
    if (project !== undefined) return false
    const invitations = trx
      .selectFrom('invitations')
      .select('id')
      .where('organization_id', '=', organization_id)
    await trx.deleteFrom('invitation_projects').where('invitation_id', 'in', invitations).execute()
    for (const table of ['invitation_links', 'invitations', 'organization_members'] as const) {
      await trx.deleteFrom(table).where('organization_id', '=', organization_id).execute()
    }
    await trx.deleteFrom('organizations').where('id', '=', organization_id).execute()
    return true
  })
}

/**
 * Whether the user may make organizations: owners and admins of some organization, and
 * administrators of the installation.
 */
export async function mayMakeOrganizations(db: Db, user_id: string): Promise<boolean> {
  if (await isInstallationAdmin(db, user_id)) return true
  const row = await db
    .selectFrom('organization_members')
    .select('organization_id')
    .where('user_id', '=', user_id)
    .where('role', 'in', ['owner', 'admin'])
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
