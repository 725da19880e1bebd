import type { KeyScope, OrganizationRole } from '../../../kernel/scopes.ts'
import type { IdPage } from '../../../model/id-pages.ts'
import { type AccessTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import { readById } from '../read-by-id.ts'

type Db = Kysely<AccessTables>

/** An organization, with the user's role in it. */
export type OrganizationRow = {
  id: string
  name: string
  created_at: string
  role: OrganizationRole
  /** Limit of the scopes of keys of its projects; null sets no limit. */
  key_scopes: KeyScope[] | null
  version: number
}

/** Columns of an `OrganizationRow`, with a membership. */
export const organizationColumns = [
  ...(['organizations.id', 'organizations.name', 'organizations.created_at'] as const),
  ...(['organization_members.role', 'organizations.version'] as const),
  sql<KeyScope[] | null>`organizations.key_scopes`.as('key_scopes'),
] as const

/** Returns a page of a user's organizations. */
export function listOrganizations(
  db: Db,
  { user_id, ...page }: IdPage & { user_id: string },
): Promise<{ rows: OrganizationRow[]; counted: number }> {
  const own = db
    .selectFrom('organizations')
    .innerJoin('organization_members', 'organization_members.organization_id', 'organizations.id')
    .where('organization_members.user_id', '=', user_id)
    .select(organizationColumns)
  return readById(db, own, 'organizations.id', page)
}

/** Locks an organization until the end of the transaction, to serialise changes of its members. */
export async function lockOrganization(trx: Db, organization_id: string): Promise<void> {
  await trx
    .selectFrom('organizations')
    .select('id')
    .where('id', '=', organization_id)
    .forUpdate()
    .execute()
}

/** Creates an organization with its first owner; undefined when the name is taken. */
export function insertOrganization(
  db: Db,
  organization: { id: string; name: string; created_at: Date; owner_id: string },
): Promise<OrganizationRow | undefined> {
  const { owner_id, ...columns } = organization
  return db.transaction().execute(async (trx) => {
    const row = await trx
      .insertInto('organizations')
      .values(columns)
      .onConflict((conflict) => conflict.column('name').doNothing())
      .returning(['id', 'name', 'created_at', 'version'])
      .executeTakeFirst()
    if (row === undefined) return undefined
    await trx
      .insertInto('organization_members')
      .values({
        organization_id: row.id,
        user_id: owner_id,
        role: 'owner',
        created_at: columns.created_at,
      })
      .execute()
    return { ...row, role: 'owner', key_scopes: null }
  })
}
