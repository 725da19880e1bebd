import type { AccessTables, Kysely } from '../../../../platform/relational/index.ts'
import { day_ms, maxDroppedAtOnce } from '../../one-time-links.ts'
import { resetPassword } from '../../users/store.ts'

type Db = Kysely<AccessTables>

/** A link to store. `created_by` is the administrator who made it. */
export type NewReset = {
  user_id: string
  token_hash: Buffer
  created_by: string | null
  is_mailed: boolean
  now: Date
  expires_at: Date
  /** Links that may be sent by mail since a time; without it, there is no limit. */
  limit?: { since: Date; count_max: number }
}

/** Stores a link; false when the limit is reached or the user does not exist. */
export function insertReset(db: Db, reset: NewReset): Promise<boolean> {
  const { user_id, token_hash, created_by, is_mailed, now, expires_at, limit } = reset
  return db.transaction().execute(async (trx) => {
    // The lock lets concurrent requests of all processes count one after the other.
    const user = await trx
      .selectFrom('users')
      .select('id')
      .where('id', '=', user_id)
      .forUpdate()
      .executeTakeFirst()
    if (user === undefined) return false
    if (limit !== undefined && (await countMailed(trx, user_id, limit.since)) >= limit.count_max) {
      return false
    }
    await trx
      .insertInto('password_resets')
      .values({ token_hash, user_id, created_at: now, expires_at, is_mailed, created_by })
      .execute()
    const old = trx
      .selectFrom('password_resets')
      .select('token_hash')
      .where('created_at', '<', new Date(now.getTime() - kept_ms).toISOString())
      .orderBy('created_at')
      .limit(maxDroppedAtOnce)
    await trx.deleteFrom('password_resets').where('token_hash', 'in', old).execute()
    return true
  })
}

const kept_ms = 2 * day_ms

async function countMailed(trx: Db, user_id: string, since: Date): Promise<number> {
  const { n } = await trx
    .selectFrom('password_resets')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('user_id', '=', user_id)
    .where('is_mailed', '=', true)
    .where('created_at', '>', since.toISOString())
    .executeTakeFirstOrThrow()
  return Number(n)
}

/** The person of a valid link, with texts that their password must not repeat. */
export type ResetPerson = { user_id: string; email: string; about: string[] }

/** Returns the person of a link that is valid at the time. */
export async function findResetPerson(
  db: Db,
  link: { token_hash: Buffer; now: Date },
): Promise<ResetPerson | undefined> {
  const row = await db
    .selectFrom('password_resets')
    .innerJoin('users', 'users.id', 'password_resets.user_id')
    .select(['users.id as user_id', 'email'])
    .where('token_hash', '=', link.token_hash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', link.now.toISOString())
    .where('disabled_at', 'is', null)
    .executeTakeFirst()
  return row && { ...row, about: await listKnownTexts(db, row.user_id) }
}

/** Returns the texts about a user that an attacker knows: e-mail, name, organizations. */
export async function listKnownTexts(db: Db, user_id: string): Promise<string[]> {
  const rows = await db
    .selectFrom('users')
    .leftJoin('organization_members', 'organization_members.user_id', 'users.id')
    .leftJoin('organizations', 'organizations.id', 'organization_members.organization_id')
    .select(['email', 'display_name', 'organizations.name'])
    .where('users.id', '=', user_id)
    .limit(organizationsReadMax)
    .execute()
  return [...new Set(rows.flatMap((row) => [row.email, row.display_name, row.name ?? '']))]
}

const organizationsReadMax = 10

/**
 * Uses a link: sets the password, ends all sign-ins and other links of the user. A link that was
 * sent by mail also confirms the e-mail. Returns false when the link is no longer valid.
 */
export function setPasswordByReset(
  db: Db,
  change: { token_hash: Buffer; password_hash: string; now: Date },
): Promise<boolean> {
  const { token_hash, password_hash, now } = change
  return db.transaction().execute(async (trx) => {
    const link = await trx
      .updateTable('password_resets')
      .set({ used_at: now })
      .where('token_hash', '=', token_hash)
      .where('used_at', 'is', null)
      .where('expires_at', '>', now.toISOString())
      .returning(['user_id', 'is_mailed'])
      .executeTakeFirst()
    if (link === undefined) return false
    await resetPassword(trx, {
      user_id: link.user_id,
      password_hash,
      password_origin: 'self',
      must_change_password: false,
      proves_email: link.is_mailed,
      now,
    })
    return true
  })
}
