import {
  type AccessTables,
  type Kysely,
  type Selectable,
  sql,
} from '../../../platform/relational/index.ts'
import { dropExpired } from '../drop-expired.ts'
import type { KeyUse } from '../keys/key-usage.ts'

type Db = Kysely<AccessTables>

/** A session that has not ended, with the person. */
export type SessionRow = Omit<
  Selectable<AccessTables['browser_sessions']>,
  'token_hash' | 'previous_hash' | 'ended_at' | 'created_at' | 'session_number'
> & {
  email: string
  display_name: string
  installation_admin: boolean
  must_change_password: boolean
  /** Whether the request had the cookie from before the last renewal. */
  is_previous: boolean
}

/** A new session. */
export type NewSession = {
  id: string
  user_id: string
  session_number: number
  by_issuer: boolean
  token_hash: Buffer
  now: Date
  expires_at: Date
}

/** Inserts a session, ends the browser's earlier session, and deletes a few expired sessions. */
export function insertSession(
  db: Db,
  { now, ...session }: NewSession,
  earlier_hash: Buffer | undefined,
): Promise<void> {
  return db.transaction().execute(async (trx) => {
    await trx
      .insertInto('browser_sessions')
      .values({ ...session, renewed_at: now, created_at: now, used_at: now })
      .execute()
    if (earlier_hash !== undefined) await endSession(trx, { token_hash: earlier_hash, now })
    await dropExpired(trx, 'browser_sessions', now)
  })
}

/**
 * Returns the session of a cookie: not ended, expired or idle, of a user who is not disabled, and
 * with the session number that the user still has.
 */
export function findSession(
  db: Db,
  { token_hash, now, used_after }: { token_hash: Buffer; now: Date; used_after: Date },
): Promise<SessionRow | undefined> {
  return db
    .selectFrom('browser_sessions as session')
    .innerJoin('users', 'users.id', 'session.user_id')
    .select(['session.id', 'session.user_id', 'session.by_issuer', 'session.renewed_at'])
    .select(['session.used_at', 'session.expires_at'])
    .select(['users.email', 'users.display_name', 'users.installation_admin'])
    .select('users.must_change_password')
    .select(sql<boolean>`session.token_hash <> ${token_hash}`.as('is_previous'))
    .where(({ eb, or }) =>
      or([eb('session.token_hash', '=', token_hash), eb('session.previous_hash', '=', token_hash)]),
    )
    .where('session.ended_at', 'is', null)
    .where('session.expires_at', '>', now.toISOString())
    .where('session.used_at', '>', used_after.toISOString())
    .where('users.disabled_at', 'is', null)
    .whereRef('users.session_number', '=', 'session.session_number')
    .executeTakeFirst()
}

/** Replaces the hash of a cookie. Returns false if another call has replaced it meanwhile. */
export async function renewSession(
  db: Db,
  { token_hash, next_hash, now }: { token_hash: Buffer; next_hash: Buffer; now: Date },
): Promise<boolean> {
  const row = await db
    .updateTable('browser_sessions')
    .set({ token_hash: next_hash, previous_hash: token_hash, renewed_at: now, used_at: now })
    .where('token_hash', '=', token_hash)
    .where('ended_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/** Ends the session of a cookie, or of the cookie before the last renewal. */
export async function endSession(
  db: Db,
  { token_hash, now }: { token_hash: Buffer; now: Date },
): Promise<void> {
  await db
    .updateTable('browser_sessions')
    .set({ ended_at: now })
    .where(({ eb, or }) =>
      or([eb('token_hash', '=', token_hash), eb('previous_hash', '=', token_hash)]),
    )
    .where('ended_at', 'is', null)
    .execute()
}

/** Stores when sessions were last used, in one statement. */
export async function writeSessionUses(db: Db, uses: readonly KeyUse[]): Promise<void> {
  const ids = uses.map(({ key_id }) => key_id)
  const instants = uses.map(({ used_at }) => used_at.toISOString())
  await sql`
    update browser_sessions set used_at = greatest(browser_sessions.used_at, used.at)
    from unnest(${ids}::uuid[], ${instants}::timestamptz[]) as used(id, at)
    where browser_sessions.id = used.id`.execute(db)
}
