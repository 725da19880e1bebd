import type { AccessTables, Kysely } from '../../../platform/relational/index.ts'
import { dropExpired } from '../drop-expired.ts'
import type { IssuerPerson } from './person.ts'

type Db = Kysely<AccessTables>

/** A user as a sign-in finds them. */
type FoundUser = { id: string; session_number: number; disabled_at: string | null }

/** Returns the user who is linked to a subject of the issuer. */
export function findBySubject(db: Db, person: IssuerPerson): Promise<FoundUser | undefined> {
  return db
    .selectFrom('user_identities as identity')
    .innerJoin('users', 'users.id', 'identity.user_id')
    .select(['users.id', 'users.session_number', 'users.disabled_at'])
    .where('issuer', '=', person.issuer)
    .where('client_id', '=', person.client_id)
    .where('subject', '=', person.subject)
    .executeTakeFirst()
}

/** Returns the user with an e-mail (lower case), locked until the end of the transaction. */
export async function findByEmail(
  trx: Db,
  email: string | undefined,
): Promise<FoundUser | undefined> {
  if (email === undefined) return undefined
  return trx
    .selectFrom('users')
    .select(['id', 'session_number', 'disabled_at'])
    .where('email', '=', email)
    .forUpdate()
    .executeTakeFirst()
}

/** Links a user to a subject. Returns false if one of them has another link. */
export async function linkSubject(
  db: Db,
  { issuer, client_id, subject }: IssuerPerson,
  { user_id, now }: { user_id: string; now: Date },
): Promise<boolean> {
  await db
    .insertInto('user_identities')
    .values({ issuer, client_id, subject, user_id, created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const linked = await findBySubject(db, { issuer, client_id, subject, email: undefined })
  return linked?.id === user_id
}

/** Whether an invitation waits for an e-mail: not accepted, revoked or expired. */
export async function hasOpenInvitation(
  db: Db,
  { email, now }: { email: string | undefined; now: Date },
): Promise<boolean> {
  if (email === undefined) return false
  const row = await db
    .selectFrom('invitations')
    .select('id')
    .where('email', '=', email)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now.toISOString())
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Records a completed sign-in. Returns false if it was already completed. Deletes a
 * few expired records, so that the table does not grow.
 */
export async function useState(
  db: Db,
  { state_hash, now, expires_at }: { state_hash: Buffer; now: Date; expires_at: Date },
): Promise<boolean> {
  const inserted = await db
    .insertInto('used_sign_ins')
    .values({ state_hash, expires_at })
    .onConflict((conflict) => conflict.doNothing())
    .returning('state_hash')
    .executeTakeFirst()
  await dropExpired(db, 'used_sign_ins', now)
  return inserted !== undefined
}
