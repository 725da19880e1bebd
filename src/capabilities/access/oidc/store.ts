import { type AccessTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import { dropExpired } from '../drop-expired.ts'
import type { IssuerPerson } from './person.ts'

type Db = Kysely<AccessTables>

/** A user as a sign-in finds them. */
type FoundUser = {
  id: string
  session_number: number
  disabled_at: string | null
  email_verified_at: string | null
}

/** The user of a token of the external issuer. */
export type IssuerUser = {
  id: string
  /** Whether the address is proven and the user is linked to the subject of the token. */
  is_settled: boolean
}

/**
 * Returns the user who is linked to a subject of the issuer: in any client, or with pairwise
 * subjects in the client of the token. A link in that client precedes older links in others.
 */
export function findBySubject(db: Db, person: IssuerPerson): Promise<FoundUser | undefined> {
  return linksFor(db, person)
    .innerJoin('users', 'users.id', 'identity.user_id')
    .select(['users.id', 'users.session_number', 'users.disabled_at', 'users.email_verified_at'])
    .where('identity.subject', '=', person.subject)
    .orderBy(sql`identity.client_id = ${person.client_id}`, 'desc')
    .orderBy('identity.created_at')
    .limit(1)
    .executeTakeFirst()
}

/** Selects the links of the issuer: in all clients, or with pairwise subjects in one. */
function linksFor(db: Db, { issuer, client_id, subjects }: IssuerPerson) {
  return db
    .selectFrom('user_identities as identity')
    .where('identity.issuer', '=', issuer)
    .$if(subjects === 'pairwise', (query) => query.where('identity.client_id', '=', client_id))
}

/**
 * Returns the user of a token: the user who is linked to the subject, or else the user of the
 * verified e-mail who is not linked to another subject.
 */
export async function readIssuerUser(
  db: Db,
  person: IssuerPerson,
): Promise<IssuerUser | undefined> {
  const linked = await findBySubject(db, person)
  if (linked !== undefined) {
    return { id: linked.id, is_settled: linked.email_verified_at !== null }
  }
  const user = await db
    .selectFrom('users')
    .select('id')
    .where('email', '=', person.email ?? '')
    .executeTakeFirst()
  if (user === undefined) return undefined
  const other = await linksFor(db, person)
    .select('subject')
    .where('user_id', '=', user.id)
    .executeTakeFirst()
  return other === undefined ? { id: user.id, is_settled: false } : undefined
}

/** Returns the user with an e-mail (lower case), locked until the end of the transaction. */
export async function findByEmail(
  trx: Db,
  email: string | undefined,
): Promise<FoundUser | undefined> {
  if (email === undefined) return undefined
  return trx
    .selectFrom('users')
    .select(['id', 'session_number', 'disabled_at', 'email_verified_at'])
    .where('email', '=', email)
    .forUpdate()
    .executeTakeFirst()
}

/**
 * Links a user to a subject. Returns false if one of them has another link at the issuer, in any
 * client or with pairwise subjects in the same client. Locks the user and the subject, so that of
 * several first sign-ins at once only one creates a link. Run it in a transaction.
 */
export async function linkSubject(
  trx: Db,
  person: IssuerPerson,
  { user_id, now }: { user_id: string; now: Date },
): Promise<boolean> {
  const { issuer, client_id, subject } = person
  await trx.selectFrom('users').select('id').where('id', '=', user_id).forUpdate().execute()
  const lock = JSON.stringify([issuer, subject])
  await sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`.execute(trx)
  const links = await linksFor(trx, person)
    .select(['user_id', 'subject'])
    .where(({ eb, or }) => or([eb('user_id', '=', user_id), eb('subject', '=', subject)]))
    .execute()
  const isOwn = (link: { user_id: string; subject: string }) =>
    link.user_id === user_id && link.subject === subject
  if (links.length > 0) return links.every(isOwn)
  await trx
    .insertInto('user_identities')
    .values({ issuer, client_id, subject, user_id, created_at: now })
    .execute()
  return true
}

/** A link of an account to a subject. */
type Identity = { issuer: string; client_id: string; subject: string; created_at: string }

/** Returns the links of an account to subjects, the oldest first. */
export function listIdentities(db: Db, user_id: string): Promise<Identity[]> {
  return db
    .selectFrom('user_identities')
    .select(['issuer', 'client_id', 'subject', 'created_at'])
    .where('user_id', '=', user_id)
    .orderBy('created_at')
    .execute()
}

/**
 * Removes the links of an account to subjects, and returns them. Access tokens from before `now` do
 * not link their subject again. Run it in a transaction.
 */
export async function removeIdentities(
  trx: Db,
  { user_id, now }: { user_id: string; now: Date },
): Promise<Identity[]> {
  await trx
    .updateTable('users')
    .set({ identities_removed_at: now })
    .where('id', '=', user_id)
    .execute()
  return trx
    .deleteFrom('user_identities')
    .where('user_id', '=', user_id)
    .returning(['issuer', 'client_id', 'subject', 'created_at'])
    .execute()
}

/**
 * Returns whether a token was issued before the links of the account were removed. Locks the user
 * until the end of the transaction.
 */
export async function isBeforeRemoval(
  trx: Db,
  { user_id, issued_at_ms }: { user_id: string; issued_at_ms: number | undefined },
): Promise<boolean> {
  const user = await trx
    .selectFrom('users')
    .select('identities_removed_at')
    .where('id', '=', user_id)
    .forUpdate()
    .executeTakeFirst()
  const removed_at = user?.identities_removed_at ?? null
  if (removed_at === null) return false
  // Tokens have whole seconds: one of the same second may be newer.
  const second_ms = Math.floor(Date.parse(removed_at) / 1000) * 1000
  return issued_at_ms === undefined || issued_at_ms < second_ms
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
