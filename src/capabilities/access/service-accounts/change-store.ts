import { type KeyScope, keyScopes } from '../../../kernel/scopes.ts'
import {
  type ManagedBy,
  refuseOtherInstallation,
  refuseUnlessOwner,
} from '../../../model/managed-by.ts'
import { type AccessTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import { admitScopes } from '../projects/key-scopes-limit.ts'
import { accountRow, type ServiceAccountRow, type WhichAccount } from './store.ts'
import { lockAccount } from './suspension.ts'

type Db = Kysely<AccessTables>

/** New values of an account. */
export type AccountChange = {
  name: string
  scopes: KeyScope[]
  disabled: boolean
  /** The resource that declares the account after the change; null for a change by a user. */
  by: ManagedBy | null
  /** Whether to replace another resource that declares it. */
  take_over: boolean
  at: Date
  /** Throws unless the change is for this version. */
  check?: (version: number) => void
}

/**
 * An account after a change, and the prefixes of its keys, whose cached answers may be outdated.
 */
export type ChangedAccount = { account: ServiceAccountRow; prefixes: string[] }

/**
 * Changes an account and removes scopes that it no longer has from its keys, in one transaction.
 * Throws `service_account_not_found`, and `managed_by_kubernetes` when another resource declares
 * it.
 */
export async function changeAccount(
  db: Db,
  which: WhichAccount,
  change: AccountChange,
): Promise<ChangedAccount | 'name_taken' | 'declares_another'> {
  try {
    return await db.transaction().execute(async (trx) => {
      const current = await lockAccount(trx, which)
      const refuse = change.take_over ? refuseOtherInstallation : refuseUnlessOwner
      refuse(current.managed_by, change.by)
      change.check?.(current.version)
      const gained = change.scopes.filter((scope) => !current.scopes.includes(scope))
      await admitScopes(trx, { ...which, scopes: gained })
      const account = await writeAccount(trx, which, change)
      return { account, prefixes: await narrowKeys(trx, which, change.scopes) }
    })
  } catch (error) {
    const { code, constraint } = error as { code?: unknown; constraint?: unknown }
    if (code !== uniqueViolation) throw error
    return constraint === 'service_accounts_by_installation' ? 'declares_another' : 'name_taken'
  }
}

/** Disables or enables an account. Throws `service_account_not_found`, `managed_by_kubernetes`. */
export function setDisabled(
  db: Db,
  which: WhichAccount,
  { disabled, at }: { disabled: boolean; at: Date },
): Promise<ChangedAccount> {
  return db.transaction().execute(async (trx) => {
    const current = await lockAccount(trx, which)
    refuseUnlessOwner(current.managed_by, null)
    const { name, scopes } = current
    const by = null
    const account = await writeAccount(trx, which, { name, scopes, disabled, by, at })
    return { account, prefixes: await prefixesOf(trx, which) }
  })
}

/**
 * Removes the declaration from an account, if that resource still declares it. The same resource
 * adopts it again, unless a user changes it before.
 */
export async function releaseAccount(
  db: Db,
  { project_id, service_account_id }: WhichAccount,
  owner: ManagedBy,
): Promise<void> {
  await db
    .updateTable('service_accounts')
    .set({ managed_by: null, released_from: JSON.stringify(owner) })
    .where('project_id', '=', project_id)
    .where('id', '=', service_account_id)
    .where(sql<string>`managed_by`, '=', sql<string>`${JSON.stringify(owner)}::jsonb`)
    .execute()
}

/** Deletes an account and its keys; returns the prefixes of the keys. */
export function deleteAccount(
  db: Db,
  { project_id, service_account_id }: WhichAccount,
): Promise<string[]> {
  return db.transaction().execute(async (trx) => {
    const keys = await trx
      .deleteFrom('api_keys')
      .where('project_id', '=', project_id)
      .where('service_account_id', '=', service_account_id)
      .returning('prefix')
      .execute()
    await trx
      .deleteFrom('service_accounts')
      .where('project_id', '=', project_id)
      .where('id', '=', service_account_id)
      .execute()
    return keys.map(({ prefix }) => prefix)
  })
}

const uniqueViolation = '23505'

async function writeAccount(
  trx: Db,
  { project_id, service_account_id }: WhichAccount,
  change: Omit<AccountChange, 'take_over' | 'check'>,
): Promise<ServiceAccountRow> {
  const { name, scopes, disabled, by, at } = change
  const since = sql<string>`coalesce(disabled_at, ${at.toISOString()}::timestamptz)`
  const row = await trx
    .updateTable('service_accounts')
    .set({ name, scopes: [...scopes], disabled_at: disabled ? since : null })
    .set({ managed_by: by && JSON.stringify(by), released_from: null })
    .where('project_id', '=', project_id)
    .where('id', '=', service_account_id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return accountRow(row)
}

/** Removes scopes that an account does not have from its keys. */
async function narrowKeys(
  trx: Db,
  which: WhichAccount,
  scopes: readonly KeyScope[],
): Promise<string[]> {
  const kept = keyScopes.filter((scope) => scopes.includes(scope))
  const within = sql<string[]>`array(
    select scope from unnest(scopes) as scope where scope = any(${kept}::text[])
  )`
  await trx
    .updateTable('api_keys')
    .set({ scopes: within })
    .where('project_id', '=', which.project_id)
    .where('service_account_id', '=', which.service_account_id)
    .where(sql<boolean>`not scopes <@ ${kept}::text[]`)
    .execute()
  return prefixesOf(trx, which)
}

/** Revokes the keys of the accounts of a project that resources declare. */
export async function revokeDeclaredKeys(
  trx: Db,
  { project_id, at }: { project_id: string; at: Date },
): Promise<void> {
  const declared = trx
    .selectFrom('service_accounts')
    .select('id')
    .where('project_id', '=', project_id)
    .where('managed_by', 'is not', null)
  await trx
    .updateTable('api_keys')
    .set({ revoked_at: at })
    .where('project_id', '=', project_id)
    .where('service_account_id', 'in', declared)
    .where('revoked_at', 'is', null)
    .execute()
}

/** Returns the prefixes of the account's keys that are not revoked. */
async function prefixesOf(
  trx: Db,
  { project_id, service_account_id }: WhichAccount,
): Promise<string[]> {
  const rows = await trx
    .selectFrom('api_keys')
    .select('prefix')
    .where('project_id', '=', project_id)
    .where('service_account_id', '=', service_account_id)
    .where('revoked_at', 'is', null)
    .execute()
  return rows.map(({ prefix }) => prefix)
}
