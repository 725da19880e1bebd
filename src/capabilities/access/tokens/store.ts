import {
  type AccessTables,
  type Kysely,
  type Selectable,
  sql,
} from '../../../platform/relational/index.ts'
import { dropExpired } from '../drop-expired.ts'

type Db = Kysely<AccessTables>

export type SigningKeyRow = Selectable<AccessTables['signing_keys']>
export type RefreshTokenRow = Selectable<AccessTables['refresh_tokens']>

/** Changes of the stored keys by a rotation. */
export type Rotation = {
  add: {
    id: string
    public_jwk: Record<string, unknown>
    private_key_encrypted: Buffer
    created_at: Date
    activates_at: Date
  }
  /** Keys that leave the key set at `at`. */
  retire: { ids: string[]; at: Date }
}

/** Returns keys that are not retired at the given time, the last to activate first. */
export function listSigningKeys(db: Db, now: Date): Promise<SigningKeyRow[]> {
  return db
    .selectFrom('signing_keys')
    .selectAll()
    .where(({ eb, or }) =>
      or([eb('retires_at', 'is', null), eb('retires_at', '>', now.toISOString())]),
    )
    .orderBy('activates_at', 'desc')
    .orderBy('id')
    .limit(signingKeysMax)
    .execute()
}

/** Bound on the keys read. Rotation makes one key a month, so more than this indicates a fault. */
const signingKeysMax = 100

/** Lets one process at a time decide on a rotation; undefined means that no rotation is due. */
export function rotateSigningKeys(
  db: Db,
  now: Date,
  decide: (keys: SigningKeyRow[]) => Promise<Rotation | undefined>,
): Promise<void> {
  return db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtext('looptrace.signing_keys'))`.execute(trx)
    const rotation = await decide(await listSigningKeys(trx, now))
    if (rotation === undefined) return
    const { add, retire } = rotation
    await trx
      .insertInto('signing_keys')
      .values({ ...add, public_jwk: JSON.stringify(add.public_jwk) })
      .execute()
    if (retire.ids.length === 0) return
    await trx
      .updateTable('signing_keys')
      .set({ retires_at: retire.at })
      .where('id', 'in', retire.ids)
      .where('retires_at', 'is', null)
      .execute()
  })
}

/** Inserts a refresh token and deletes a few expired ones, so that the table does not grow. */
export async function insertRefreshToken(
  db: Db,
  token: Pick<RefreshTokenRow, 'id' | 'family_id' | 'user_id' | 'token_hash'> & {
    created_at: Date
    expires_at: Date
  },
): Promise<void> {
  await db.insertInto('refresh_tokens').values(token).execute()
  await dropExpired(db, 'refresh_tokens', token.created_at)
}

/**
 * Marks a token as used and inserts its successor, with the expiry of the first token. Undefined
 * when the token is unknown, expired, revoked or already used; then every token of its family is
 * revoked, because a second use may be by a thief (RFC 9700, 4.14.2).
 */
export function exchangeRefreshToken(
  db: Db,
  token_hash: Buffer,
  successor: { id: string; token_hash: Buffer; now: Date },
): Promise<{ user_id: string } | undefined> {
  return db.transaction().execute(async (trx) => {
    const { id, now } = successor
    const used = await trx
      .updateTable('refresh_tokens')
      .set({ used_at: now })
      .where('token_hash', '=', token_hash)
      .where('used_at', 'is', null)
      .where('revoked_at', 'is', null)
      .where('expires_at', '>', now.toISOString())
      .returning(['family_id', 'user_id', 'expires_at'])
      .executeTakeFirst()
    if (used === undefined) {
      await revokeFamily(trx, token_hash, now)
      return undefined
    }
    const { family_id, user_id } = used
    await insertRefreshToken(trx, {
      id,
      family_id,
      user_id,
      token_hash: successor.token_hash,
      created_at: now,
      expires_at: new Date(used.expires_at),
    })
    return { user_id }
  })
}

/** Revokes all tokens of a token's sign-in. */
export async function revokeFamily(db: Db, token_hash: Buffer, now: Date): Promise<void> {
  const family = db
    .selectFrom('refresh_tokens')
    .select('family_id')
    .where('token_hash', '=', token_hash)
  await db
    .updateTable('refresh_tokens')
    .set({ revoked_at: now })
    .where('family_id', 'in', family)
    .where('revoked_at', 'is', null)
    .execute()
}

/** Ends the refresh tokens, sessions of browsers and unused reset links of a user. */
export async function revokeSignIns(
  db: Db,
  { user_id, now }: { user_id: string; now: Date },
): Promise<void> {
  await db
    .updateTable('refresh_tokens')
    .set({ revoked_at: now })
    .where('user_id', '=', user_id)
    .where('revoked_at', 'is', null)
    .execute()
  await db
    .updateTable('browser_sessions')
    .set({ ended_at: now })
    .where('user_id', '=', user_id)
    .where('ended_at', 'is', null)
    .execute()
  await db
    .updateTable('password_resets')
    .set({ used_at: now })
    .where('user_id', '=', user_id)
    .where('used_at', 'is', null)
    .execute()
}
