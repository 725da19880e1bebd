import { problem } from '../../../kernel/problem.ts'
import { type KeyScope, keyScopes } from '../../../kernel/scopes.ts'
import type { IdPage } from '../../../model/id-pages.ts'
import type { ManagedBy, ResourceName } from '../../../model/managed-by.ts'
import {
  type AccessTables,
  type Kysely,
  ownedBy,
  type Selectable,
  type SelectQueryBuilder,
} from '../../../platform/relational/index.ts'
import { admitScopes } from '../projects/key-scopes-limit.ts'
import { readById } from '../read-by-id.ts'

type Db = Kysely<AccessTables>

/** Names an account of a project. */
export type WhichAccount = { project_id: string; service_account_id: string }

/** A service account. */
export type ServiceAccountRow = Omit<
  Selectable<AccessTables['service_accounts']>,
  'scopes' | 'released_from'
> & {
  scopes: KeyScope[]
}

/** Returns a page of a project's service accounts, oldest first, optionally of one resource. */
export async function listServiceAccounts(
  db: Db,
  {
    project_id,
    managed_by,
    ...page
  }: IdPage & { project_id: string; managed_by: ResourceName | undefined },
): Promise<{ rows: ServiceAccountRow[]; counted: number }> {
  const accounts = db
    .selectFrom('service_accounts')
    .where('project_id', '=', project_id)
    .$if(managed_by !== undefined, (query) =>
      managed_by ? query.where(ownedBy(managed_by)) : query,
    )
  return readPage(db, accounts, page)
}

/** Reads a page of the accounts that the query matches, oldest first, and counts the matches. */
export async function readPage(
  db: Db,
  accounts: SelectQueryBuilder<AccessTables, 'service_accounts', object>,
  page: IdPage,
): Promise<{ rows: ServiceAccountRow[]; counted: number }> {
  const { rows, counted } = await readById(db, accounts.selectAll(), 'id', page)
  return { rows: rows.map(accountRow), counted }
}

/** Returns one service account of a project. */
export async function findServiceAccount(
  db: Db,
  { project_id, service_account_id }: WhichAccount,
): Promise<ServiceAccountRow | undefined> {
  const row = await db
    .selectFrom('service_accounts')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('id', '=', service_account_id)
    .executeTakeFirst()
  return row && accountRow(row)
}

/**
 * Creates a service account, or returns the one that the same resource declares already or has
 * released. Undefined when another account of the project has the name.
 */
export async function insertServiceAccount(
  db: Db,
  account: {
    id: string
    project_id: string
    name: string
    scopes: KeyScope[]
    created_at: Date
    created_by: string | null
    managed_by: ManagedBy | null
  },
): Promise<{ account: ServiceAccountRow; is_new: boolean } | undefined> {
  const { managed_by } = account
  const before =
    managed_by &&
    ((await findDeclared(db, account, managed_by)) ??
      (await adoptReleased(db, account, managed_by)))
  if (before) return { account: before, is_new: false }
  if (managed_by !== null && account.scopes.length === 0) throw noScopes()
  await admitScopes(db, account)
  const row = await db
    .insertInto('service_accounts')
    .values({ ...account, managed_by: managed_by && JSON.stringify(managed_by) })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()
  if (row !== undefined) return { account: accountRow(row), is_new: true }
  if (managed_by === null) return undefined
  const declared = await findDeclared(db, account, managed_by)
  return declared && { account: declared, is_new: false }
}

/** Adopts the account that the same resource of the same installation released before. */
async function adoptReleased(
  db: Db,
  { project_id }: { project_id: string },
  managed_by: ManagedBy,
): Promise<ServiceAccountRow | undefined> {
  const row = await db
    .updateTable('service_accounts')
    .set({ managed_by: JSON.stringify(managed_by), released_from: null })
    .where('project_id', '=', project_id)
    .where('managed_by', 'is', null)
    .where(ownedBy(managed_by, 'released_from'))
    .returningAll()
    .executeTakeFirst()
  return row && accountRow(row)
}

/** Returns the error for a declared account without scopes, as the resource's own rule says it. */
function noScopes(): Error {
  const detail = 'expected at least one scope'
  return problem('invalid_request', {
    detail: `/scopes: ${detail}`,
    faults: [{ pointer: '/scopes', detail }],
  })
}

/** Finds the account that a resource declares, also one of an earlier version. */
async function findDeclared(
  db: Db,
  { project_id }: { project_id: string },
  managed_by: ManagedBy,
): Promise<ServiceAccountRow | undefined> {
  const row = await db
    .selectFrom('service_accounts')
    .selectAll()
    .where('project_id', '=', project_id)
    .where(ownedBy(managed_by))
    .executeTakeFirst()
  return row && accountRow(row)
}

/** Keeps only the scopes that this version knows, in their order, and leaves out `released_from`. */
export function accountRow({
  released_from: _,
  ...row
}: Selectable<AccessTables['service_accounts']>): ServiceAccountRow {
  return { ...row, scopes: keyScopes.filter((scope) => row.scopes.includes(scope)) }
}
