import type { IdPage } from '../../../model/id-pages.ts'
import { type AccessTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import type { StoredKey } from '../keys/key-cache.ts'
import type { KeyUse } from '../keys/key-usage.ts'
import type { NewKey } from '../keys/project-key.ts'
import { readById } from '../read-by-id.ts'

type Db = Kysely<AccessTables>

/** A stored operator key without the hash of its secret. */
export type OperatorKeyRow = {
  id: string
  prefix: string
  created_at: string
  revoked_at: string | null
  last_used_at: string | null
}

/** The owner of an operator's key: the key itself. */
export type OperatorKey = { key_id: string }

/** Reads a key for the cache; undefined when it is unknown or revoked. */
export async function readOperatorKey(
  db: Db,
  prefix: string,
): Promise<StoredKey<OperatorKey> | undefined> {
  const row = await db
    .selectFrom('operator_keys')
    .select(['id', 'secret_hash'])
    .where('prefix', '=', prefix)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return row && { owner: { key_id: row.id }, secret_hash: row.secret_hash, expires_at_ms: null }
}

/** Stores when keys were last used, in one statement. */
export async function writeOperatorKeyUses(db: Db, uses: readonly KeyUse[]): Promise<void> {
  const ids = uses.map(({ key_id }) => key_id)
  const instants = uses.map(({ used_at }) => used_at.toISOString())
  await sql`
    update operator_keys set last_used_at = greatest(operator_keys.last_used_at, used.at)
    from unnest(${ids}::uuid[], ${instants}::timestamptz[]) as used(id, at)
    where operator_keys.id = used.id`.execute(db)
}

/** Returns a page of the keys, oldest first, revoked ones included. */
export function listOperatorKeys(
  db: Db,
  page: IdPage,
): Promise<{ rows: OperatorKeyRow[]; counted: number }> {
  return readById(db, db.selectFrom('operator_keys').select(operatorKeyColumns), 'id', page)
}

/** Revokes a key, if it is not revoked yet; undefined for an unknown id. */
export function revokeOperatorKey(
  db: Db,
  { operator_key_id, at }: { operator_key_id: string; at: Date },
): Promise<OperatorKeyRow | undefined> {
  return db
    .updateTable('operator_keys')
    .set({ revoked_at: sql<string>`coalesce(revoked_at, ${at.toISOString()}::timestamptz)` })
    .where('id', '=', operator_key_id)
    .returning(operatorKeyColumns)
    .executeTakeFirst()
}

/** Result of registering a key. */
export type Registered = 'added' | 'known' | 'revoked' | 'another' | 'too_many'

/**
 * Adds a key whose prefix is new, unless `active_max` keys are valid already. Must run under the
 * lock of `bootstrap`, so that concurrent processes count one after the other.
 */
export async function registerOperatorKey(
  db: Db,
  given: NewKey & { id: string; created_at: Date },
  active_max: number,
): Promise<Registered> {
  const known = await db
    .selectFrom('operator_keys')
    .select(['secret_hash', 'revoked_at'])
    .where('prefix', '=', given.prefix)
    .executeTakeFirst()
  if (known !== undefined) {
    if (!known.secret_hash.equals(given.secret_hash)) return 'another'
    return known.revoked_at === null ? 'known' : 'revoked'
  }
  const active = await db
    .selectFrom('operator_keys')
    .select('id')
    .where('revoked_at', 'is', null)
    .limit(active_max)
    .execute()
  if (active.length >= active_max) return 'too_many'
  const { key: _shownNowhere, ...row } = given
  await db.insertInto('operator_keys').values(row).execute()
  return 'added'
}

const operatorKeyColumns = ['id', 'prefix', 'created_at', 'revoked_at', 'last_used_at'] as const
