import { type AccessTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import { insertKey, type KeyInsert } from '../keys/store.ts'

/** Rows that the first start creates. */
export type FirstRows = {
  organization: { id: string; name: string; created_at: Date }
  user: {
    id: string
    email: string
    display_name: string
    password_hash: string
    created_at: Date
  } & ReturnType<typeof installationAdmin>
  project: { id: string; organization_id: string; name: string; created_at: Date }
  key: KeyInsert
  /** Called before the rows are committed. */
  deliver: () => Promise<void>
}

/**
 * Returns the columns of an administrator of the installation, whose address and password the
 * installation itself gave.
 */
export function installationAdmin(now: Date) {
  const password_origin = 'installation' as const
  return { installation_admin: true, email_verified_at: now, password_origin }
}

/** Inserts the first rows into an empty store; false when it has a user or an organization. */
export async function insertFirst(
  db: Kysely<AccessTables>,
  first: () => Promise<FirstRows>,
): Promise<boolean> {
  if (!(await isEmpty(db))) return false
  return db.transaction().execute(async (trx) => {
    await lockBootstrap(trx)
    if (!(await isEmpty(trx))) return false
    const { organization, user, project, key, deliver } = await first()
    const { created_at } = organization
    await trx.insertInto('organizations').values(organization).execute()
    await trx.insertInto('users').values(user).execute()
    await trx
      .insertInto('organization_members')
      .values({
        organization_id: organization.id,
        user_id: user.id,
        role: 'owner',
        created_at,
      })
      .execute()
    await trx.insertInto('projects').values(project).execute()
    await insertKey(trx, key)
    await deliver()
    return true
  })
}

/** Serialises concurrent starts, until the end of the transaction. */
export async function lockBootstrap(trx: Kysely<AccessTables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('looptrace.bootstrap'))`.execute(trx)
}

async function isEmpty(db: Kysely<AccessTables>): Promise<boolean> {
  const user = await db.selectFrom('users').select('id').limit(1).executeTakeFirst()
  const organization = await db.selectFrom('organizations').select('id').limit(1).executeTakeFirst()
  return user === undefined && organization === undefined
}
