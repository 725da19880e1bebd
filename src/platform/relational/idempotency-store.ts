import { type Kysely, sql } from 'kysely'
import type { IdempotencyStore, KeptReply } from '../http/index.ts'
import type { AccessTables } from './access-tables.ts'

/** Opens the store of idempotency keys, shared by all pods of the control plane. */
export function openIdempotencyStore(db: Kysely<AccessTables>): IdempotencyStore {
  return {
    claim: (call) => claim(db, call),
    keep: async (scope_hash, reply) => {
      await db
        .updateTable('idempotency_keys')
        .set({ status: reply.status, reply: JSON.stringify(reply.body) })
        .where('scope_hash', '=', scope_hash)
        .execute()
    },
    release: async (scope_hash) => {
      await db
        .deleteFrom('idempotency_keys')
        .where('scope_hash', '=', scope_hash)
        .where('status', 'is', null)
        .execute()
    },
  }
}

/**
 * Time after which the key of a call that never ended (its pod was killed) is free again. Longer
 * than the maximum time of a request.
 */
const abandonedAfter = '2 minutes'

/** Claims a key with one statement, which also takes over an expired or abandoned row. */
async function claim(
  db: Kysely<AccessTables>,
  call: Parameters<IdempotencyStore['claim']>[0],
): ReturnType<IdempotencyStore['claim']> {
  const won = await sql`
    insert into idempotency_keys (scope_hash, request_hash, created_at, expires_at)
    values (${call.scope_hash}, ${call.request_hash}, now(), now() + ${`${call.kept_ms} ms`}::interval)
    on conflict (scope_hash) do update
      set request_hash = excluded.request_hash, status = null, reply = null,
          created_at = now(), expires_at = excluded.expires_at
      where idempotency_keys.expires_at < now()
         or (idempotency_keys.status is null
             and idempotency_keys.created_at < now() - ${abandonedAfter}::interval)
    returning scope_hash`.execute(db)
  if (won.rows.length > 0) return { state: 'new' }
  const known = await db
    .selectFrom('idempotency_keys')
    .select(['request_hash', 'status', 'reply'])
    .where('scope_hash', '=', call.scope_hash)
    .executeTakeFirst()
  // Released between the two statements: the client may retry, as with a call that still runs.
  if (known === undefined) return { state: 'known', request_hash: call.request_hash, reply: null }
  const reply: KeptReply | null =
    known.status === null ? null : { status: known.status, body: known.reply }
  return { state: 'known', request_hash: known.request_hash, reply }
}

/** Deletes expired keys; a job of the control plane. Resolves with the number of deleted keys. */
export async function deleteExpiredIdempotencyKeys(db: Kysely<AccessTables>): Promise<number> {
  const deleted = await db
    .deleteFrom('idempotency_keys')
    .where('expires_at', '<', sql<string>`now()`)
    .executeTakeFirst()
  return Number(deleted.numDeletedRows)
}
