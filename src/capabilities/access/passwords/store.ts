import { type AccessTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import { dropExpired } from '../drop-expired.ts'
import { type AttemptCount, addAttempt, findWait, type LimitRule } from './sign-in-limits.ts'

type Db = Kysely<AccessTables>

/** A key under which attempts are counted, with its rule. */
export type CountedKey = {
  key_hash: Buffer
  /** The account, if the key names one, so that its counts can be deleted. */
  account_hash: Buffer | null
  rule: LimitRule
}

/** An account and a network, as the SHA-256 of each. */
export type AccountAt = { account_hash: Buffer; network_hash: Buffer }

/**
 * Counts an attempt under every key. Throws the error of `refuse`, and counts nothing, when one of
 * the keys has to wait. Concurrent attempts of all processes are counted one after the other.
 */
export function countAttempt(
  db: Db,
  keys: readonly CountedKey[],
  at: { now_ms: number; refuse: (wait_ms: number) => Error },
): Promise<void> {
  const { now_ms, refuse } = at
  // The same order in every transaction, so that two transactions cannot deadlock.
  const sorted = keys.toSorted((a, b) => Buffer.compare(a.key_hash, b.key_hash))
  return db.transaction().execute(async (trx) => {
    const counts = await lockCounts(trx, sorted, now_ms)
    const wait_ms = Math.max(
      ...sorted.map(({ key_hash, rule }) =>
        findWait(counts.get(key_hash.toString('hex')), rule, now_ms),
      ),
    )
    if (wait_ms > 0) throw refuse(wait_ms)
    for (const { key_hash, rule } of sorted) {
      const next = addAttempt(counts.get(key_hash.toString('hex')), rule, now_ms)
      await trx
        .updateTable('sign_in_counts')
        .set({ failed_at: new Date(next.failed_at_ms), clear_at: new Date(next.clear_at_ms) })
        .where('key_hash', '=', key_hash)
        .execute()
    }
    await dropExpired(trx, 'sign_in_counts', new Date(now_ms))
  })
}

/** Locks the row of every key, inserts missing rows, and returns the counts by hex key. */
async function lockCounts(
  trx: Db,
  keys: readonly CountedKey[],
  now_ms: number,
): Promise<Map<string, AttemptCount>> {
  const now = new Date(now_ms)
  const rows = await trx
    .insertInto('sign_in_counts')
    .values(
      keys.map(({ key_hash, account_hash }) => ({
        key_hash,
        account_hash,
        failed_at: now,
        clear_at: now,
      })),
    )
    .onConflict((conflict) =>
      conflict
        .column('key_hash')
        .doUpdateSet(({ ref }) => ({ key_hash: ref('excluded.key_hash') })),
    )
    .returning(['key_hash', 'failed_at', 'clear_at'])
    .execute()
  return new Map(
    rows.map(({ key_hash, failed_at, clear_at }) => [
      key_hash.toString('hex'),
      { failed_at_ms: Date.parse(failed_at), clear_at_ms: Date.parse(clear_at) },
    ]),
  )
}

/** Maximum networks that one sign-in deletes. */
const maxSurplusDropped = 20

/** Subtracts a successful attempt, which was counted before its check. */
export async function uncountAttempt(db: Db, { key_hash, rule }: CountedKey): Promise<void> {
  await db
    .updateTable('sign_in_counts')
    .set({ clear_at: sql`clear_at - ${rule.leak_ms} * interval '1 ms'` })
    .where('key_hash', '=', key_hash)
    .execute()
}

/** Deletes the count of a key. */
export async function deleteCount(db: Db, { key_hash }: CountedKey): Promise<void> {
  await db.deleteFrom('sign_in_counts').where('key_hash', '=', key_hash).execute()
}

/** Deletes all counts that name an account, and the networks that it is known from. */
export async function forgetAccount(db: Db, account_hash: Buffer): Promise<void> {
  await db.deleteFrom('sign_in_counts').where('account_hash', '=', account_hash).execute()
  await db.deleteFrom('sign_in_networks').where('account_hash', '=', account_hash).execute()
}

/** Whether the account signed in from the network since the time. */
export async function isKnownNetwork(db: Db, at: AccountAt & { since: Date }): Promise<boolean> {
  const row = await db
    .selectFrom('sign_in_networks')
    .select('used_at')
    .where('account_hash', '=', at.account_hash)
    .where('network_hash', '=', at.network_hash)
    .where('used_at', '>', at.since.toISOString())
    .executeTakeFirst()
  return row !== undefined
}

/** Records that the account signed in from the network. Keeps the latest networks of an account. */
export async function rememberNetwork(
  db: Db,
  at: AccountAt & { now: Date; since: Date },
): Promise<void> {
  const { account_hash, network_hash, now, since } = at
  await db
    .insertInto('sign_in_networks')
    .values({ account_hash, network_hash, used_at: now })
    .onConflict((conflict) =>
      conflict.columns(['account_hash', 'network_hash']).doUpdateSet({ used_at: now }),
    )
    .execute()
  const surplus = db
    .selectFrom('sign_in_networks')
    .select('network_hash')
    .where('account_hash', '=', account_hash)
    .orderBy('used_at', 'desc')
    .offset(networksKeptMax)
    .limit(maxSurplusDropped)
  await db
    .deleteFrom('sign_in_networks')
    .where('account_hash', '=', account_hash)
    .where('network_hash', 'in', surplus)
    .execute()
  await db.deleteFrom('sign_in_networks').where('used_at', '<', since.toISOString()).execute()
}

const networksKeptMax = 20
