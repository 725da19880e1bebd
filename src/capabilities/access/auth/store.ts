import type { AccessTables, Kysely } from '../../../platform/relational/index.ts'

type Db = Kysely<AccessTables>

/** A user's stored credentials and state. */
export type Login = {
  id: string
  email: string
  password_hash: string | null
  disabled_at: string | null
}

/** Returns the user with this (lower-case) e-mail. */
export function findLogin(db: Db, email: string): Promise<Login | undefined> {
  return logins(db).where('email', '=', email).executeTakeFirst()
}

/** Returns the user with this id. */
export function findLoginById(db: Db, user_id: string): Promise<Login | undefined> {
  return logins(db).where('id', '=', user_id).executeTakeFirst()
}

/**
 * Replaces the known password hash and revokes the user's refresh tokens and links. Returns false and changes
 * nothing when the stored hash differs (two changes at once).
 */
export function replacePassword(
  db: Db,
  change: { user_id: string; known: string; password_hash: string; now: number },
): Promise<boolean> {
  const { user_id, known, password_hash, now } = change
  return db.transaction().execute(async (trx) => {
    const changed = await trx
      .updateTable('users')
      .set({ password_hash })
      .where('id', '=', user_id)
      .where('password_hash', '=', known)
      .returning('id')
      .executeTakeFirst()
    if (changed === undefined) return false
    await endSignIns(trx, user_id, new Date(now))
    return true
  })
}

/** Revokes the refresh tokens and the unused reset links of a user. */
export async function endSignIns(trx: Db, user_id: string, now: Date): Promise<void> {
  await trx
    .updateTable('refresh_tokens')
    .set({ revoked_at: now })
    .where('user_id', '=', user_id)
    .where('revoked_at', 'is', null)
    .execute()
  await trx
    .updateTable('password_resets')
    .set({ used_at: now })
    .where('user_id', '=', user_id)
    .where('used_at', 'is', null)
    .execute()
}

function logins(db: Db) {
  return db.selectFrom('users').select(['id', 'email', 'password_hash', 'disabled_at'])
}
