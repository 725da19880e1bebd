import type { ManagedBy } from '../../../model/managed-by.ts'
import type { Caller } from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { refuseChange, spokenFor } from '../service-accounts/declaration.ts'
import { findServiceAccount } from '../service-accounts/store.ts'
import { keyNotFound } from './key-record.ts'
import { findKey, type KeyRow } from './store.ts'

/**
 * A key of the project that the caller may change. One of an account that a resource declares is
 * changed by that resource alone. Throws `api_key_not_found`, `managed_by_kubernetes`.
 */
export async function changeableKey(
  db: Access['db'],
  which: { project_id: string; api_key_id: string },
  { caller, managed_by }: { caller: Caller; managed_by?: ManagedBy | undefined },
): Promise<KeyRow> {
  const by = spokenFor(caller, { managed_by })
  const key = await findKey(db, which)
  if (key === undefined) throw keyNotFound(which.api_key_id)
  const { project_id, service_account_id } = key
  const account =
    service_account_id === null
      ? undefined
      : await findServiceAccount(db, { project_id, service_account_id })
  refuseChange(caller, account?.managed_by ?? null, by)
  return key
}
