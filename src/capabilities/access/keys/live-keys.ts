import { problem } from '../../../kernel/problem.ts'
import { type AccessTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import { lockAccount, refuseSuspended } from '../service-accounts/suspension.ts'

type Db = Kysely<AccessTables>

/**
 * Maximum live keys of one name in a service account: the current key, and the one before it during
 * a rotation. It bounds a caller in a loop, for example an operator whose writes of a Secret fail.
 */
export const liveKeys_max = 2

/**
 * Locks the account of a new key and checks that it may have the key. Call it in the transaction
 * that inserts the key. Throws `service_account_not_found`, `service_account_suspended`,
 * `key_limit_reached`.
 */
export async function admitKey(
  trx: Db,
  key: { project_id: string; service_account_id: string; name: string; created_at: Date },
): Promise<void> {
  const { service_account_id, name, created_at } = key
  refuseSuspended(await lockAccount(trx, key))
  const { live } = await trx
    .selectFrom('api_keys')
    .select(({ fn }) => fn.countAll<number>().as('live'))
    .where('service_account_id', '=', service_account_id)
    .where('name', '=', name)
    .where(isLive(created_at))
    .executeTakeFirstOrThrow()
  if (live < liveKeys_max) return
  throw problem('key_limit_reached', {
    detail: `The service account has ${live} live keys with the name "${name}", the maximum. Revoke one first, or use another name`,
  })
}

/** Matches keys that are neither revoked nor expired at this time. */
export function isLive(at: Date) {
  return sql<boolean>`(revoked_at is null
    and (expires_at is null or expires_at > ${at.toISOString()}::timestamptz))`
}
