import { type KeyScope, keyScopes } from '../../../kernel/scopes.ts'
import type { AccessTables, Kysely, Selectable } from '../../../platform/relational/index.ts'
import type { IdPage } from '../id-pages.ts'

type Db = Kysely<AccessTables>
type Which = { project_id: string; service_account_id: string }

/** A service account. */
export type ServiceAccountRow = Omit<Selectable<AccessTables['service_accounts']>, 'scopes'> & {
  scopes: KeyScope[]
}

/** A page of a project's service accounts, oldest first. */
export async function listServiceAccounts(
  db: Db,
  { project_id, after, limit, count_max }: IdPage & { project_id: string },
): Promise<{ rows: ServiceAccountRow[]; counted: number }> {
  const accounts = db.selectFrom('service_accounts').where('project_id', '=', project_id)
  const { n } = await db
    .selectFrom(accounts.select('id').limit(count_max).as('some'))
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  const rows = await accounts
    .selectAll()
    .$if(after !== undefined, (query) => query.where('id', '>', after ?? ''))
    .orderBy('id')
    .limit(limit)
    .execute()
  return { rows: rows.map(accountRow), counted: n }
}

/** One service account of a project. */
export async function findServiceAccount(
  db: Db,
  { project_id, service_account_id }: Which,
): Promise<ServiceAccountRow | undefined> {
  const row = await db
    .selectFrom('service_accounts')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('id', '=', service_account_id)
    .executeTakeFirst()
  return row && accountRow(row)
}

/** Makes a service account; undefined when the project has one of that name. */
export async function insertServiceAccount(
  db: Db,
  account: {
    id: string
    project_id: string
    name: string
    scopes: KeyScope[]
    created_at: Date
    created_by: string | null
  },
): Promise<ServiceAccountRow | undefined> {
  const row = await db
    .insertInto('service_accounts')
    .values(account)
    .onConflict((conflict) => conflict.columns(['project_id', 'name']).doNothing())
    .returningAll()
    .executeTakeFirst()
  return row && accountRow(row)
}

/** Deletes a service account with its keys; answers their prefixes, or undefined when none is there. */
export function deleteServiceAccount(
  db: Db,
  { project_id, service_account_id }: Which,
): Promise<string[] | undefined> {
  return db.transaction().execute(async (trx) => {
    const keys = await trx
      .deleteFrom('api_keys')
      .where('project_id', '=', project_id)
      .where('service_account_id', '=', service_account_id)
      .returning('prefix')
      .execute()
    const deleted = await trx
      .deleteFrom('service_accounts')
      .where('project_id', '=', project_id)
      .where('id', '=', service_account_id)
      .returning('id')
      .executeTakeFirst()
    return deleted && keys.map(({ prefix }) => prefix)
  })
}

function accountRow(row: Selectable<AccessTables['service_accounts']>): ServiceAccountRow {
  return { ...row, scopes: keyScopes.filter((scope) => row.scopes.includes(scope)) }
}
