import type { IdPage } from '../../../model/id-pages.ts'
import {
  type AccessTables,
  type Kysely,
  type PasswordOrigin,
  sql,
} from '../../../platform/relational/index.ts'
import { lockedState } from '../organizations/members/store.ts'
import { assertOwnerRemains } from '../organizations/role-change.ts'
import { readById } from '../read-by-id.ts'
import { revokeSignIns } from '../tokens/store.ts'

type Db = Kysely<AccessTables>

/** A user as an administrator of the installation sees them. */
export type UserRow = {
  id: string
  email: string
  display_name: string
  created_at: string
  disabled_at: string | null
  email_verified_at: string | null
  installation_admin: boolean
  must_change_password: boolean
  password_origin: PasswordOrigin | null
  has_password: boolean
}

/** Returns a page of the users, the oldest first, optionally of one password origin. */
export function listUsers(
  db: Db,
  { password_origin, ...page }: IdPage & { password_origin?: PasswordOrigin | undefined },
): Promise<{ rows: UserRow[]; counted: number }> {
  const chosen = db
    .selectFrom('users')
    .$if(password_origin !== undefined, (query) =>
      query.where('password_origin', '=', password_origin ?? null),
    )
    .select(userColumns)
  return readById(db, chosen, 'id', page)
}

/** Whether the user is an administrator of the installation and not disabled. */
export async function isInstallationAdmin(db: Db, user_id: string): Promise<boolean> {
  const row = await db
    .selectFrom('users')
    .select('id')
    .where('id', '=', user_id)
    .where('installation_admin', '=', true)
    .where('disabled_at', 'is', null)
    .executeTakeFirst()
  return row !== undefined
}

/** Returns a user. */
export function findUser(db: Db, user_id: string): Promise<UserRow | undefined> {
  return db.selectFrom('users').select(userColumns).where('id', '=', user_id).executeTakeFirst()
}

/** Locks the administrators of the installation until the end of the transaction. */
function lockAdministrators(trx: Db): Promise<{ id: string; disabled_at: string | null }[]> {
  return trx
    .selectFrom('users')
    .select(['id', 'disabled_at'])
    .where('installation_admin', '=', true)
    .orderBy('id')
    .forUpdate()
    .execute()
}

/** A new user. */
export type NewUser = {
  id: string
  email: string
  display_name: string
  password_hash: string | null
  password_origin: PasswordOrigin | null
  must_change_password?: boolean
  email_verified_at: Date | null
  created_at: Date
}

/** Creates a user; undefined when the e-mail has an account. */
export function insertUser(db: Db, user: NewUser): Promise<UserRow | undefined> {
  return db
    .insertInto('users')
    .values(user)
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returning(userColumns)
    .executeTakeFirst()
}

/** A replacement of a user's password by other means than the current password. */
export type PasswordReset = {
  user_id: string
  password_hash: string | null
  password_origin: PasswordOrigin | null
  must_change_password: boolean
  /** Whether the reset verifies the e-mail address. */
  proves_email: boolean
  now: Date
}

/**
 * Replaces a password and ends all sessions of the account. If the address was not verified before,
 * another person may have used the account, so its default project is removed. Run it in a
 * transaction.
 */
export async function resetPassword(trx: Db, reset: PasswordReset): Promise<UserRow | undefined> {
  const { user_id, proves_email, now, ...password } = reset
  const changed = await trx
    .updateTable('users')
    .set({
      ...password,
      session_number: sql<number>`session_number + 1`,
      default_project_id: sql<
        string | null
      >`case when email_verified_at is null then null else default_project_id end`,
      ...(proves_email && {
        email_verified_at: sql<string>`coalesce(email_verified_at, ${now.toISOString()}::timestamptz)`,
      }),
    })
    .where('id', '=', user_id)
    .returning(userColumns)
    .executeTakeFirst()
  if (changed !== undefined) await revokeSignIns(trx, { user_id, now })
  return changed
}

/**
 * Ends the password and sessions of an account whose address the external issuer proves first. Run
 * it in a transaction.
 */
export async function takeByIssuer(trx: Db, user_id: string, now: Date): Promise<void> {
  const unproven = await trx
    .selectFrom('users')
    .select('id')
    .where('id', '=', user_id)
    .where('email_verified_at', 'is', null)
    .forUpdate()
    .executeTakeFirst()
  if (unproven === undefined) return
  await resetPassword(trx, {
    user_id,
    password_hash: null,
    password_origin: null,
    must_change_password: false,
    proves_email: true,
    now,
  })
}

/**
 * Ends all sessions of a user: access tokens, refresh tokens and browsers. Returns false for an
 * unknown user. Run it in a transaction.
 */
export async function endSessions(
  trx: Db,
  { user_id, now }: { user_id: string; now: Date },
): Promise<boolean> {
  const row = await trx
    .updateTable('users')
    .set({ session_number: sql<number>`session_number + 1` })
    .where('id', '=', user_id)
    .returning('id')
    .executeTakeFirst()
  if (row !== undefined) await revokeSignIns(trx, { user_id, now })
  return row !== undefined
}

/**
 * Disables or enables a user; a disabled user's sessions end. Returns undefined for an unknown
 * user, and `denied` when the actor is no longer an active administrator of the installation.
 * Throws `last_owner` when an organization would have no owner who can sign in.
 */
export function setUserDisabled(
  db: Db,
  change: { user_id: string; actor_id: string; disabled: boolean; now: Date },
): Promise<UserRow | 'denied' | undefined> {
  const { user_id, actor_id, disabled, now } = change
  return db.transaction().execute(async (trx) => {
    // Checked before `last_owner`, which would reveal who is the only owner of an organization.
    if (!(await isInstallationAdmin(trx, actor_id))) return 'denied'
    // Locks organizations before users, as every other change does.
    if (disabled) await assertNotLastOwner(trx, user_id)
    // If two administrators disable each other at once, one remains.
    await lockAdministrators(trx)
    if (!(await isInstallationAdmin(trx, actor_id))) return 'denied'
    if (disabled) await revokeSignIns(trx, { user_id, now })
    const at = sql<string>`coalesce(disabled_at, ${now.toISOString()}::timestamptz)`
    return trx
      .updateTable('users')
      .set({ disabled_at: disabled ? at : null })
      .where('id', '=', user_id)
      .returning(userColumns)
      .executeTakeFirst()
  })
}

const userColumns = [
  'id',
  'email',
  'display_name',
  'created_at',
  'disabled_at',
  'email_verified_at',
  'installation_admin',
  'must_change_password',
  'password_origin',
  sql<boolean>`password_hash is not null`.as('has_password'),
] as const

/**
 * Grants or revokes the administrator role of the installation. Returns `denied` when the actor is
 * no longer an active administrator, `last` when no other administrator could sign in, and
 * undefined for an unknown user.
 */
export function setInstallationAdmin(
  db: Db,
  change: { user_id: string; actor_id: string; installation_admin: boolean },
): Promise<UserRow | 'denied' | 'last' | undefined> {
  const { user_id, actor_id, installation_admin } = change
  return db.transaction().execute(async (trx) => {
    const administrators = await lockAdministrators(trx)
    if (!(await isInstallationAdmin(trx, actor_id))) return 'denied'
    const others = administrators.filter(
      ({ id, disabled_at }) => id !== user_id && disabled_at === null,
    )
    if (!installation_admin && others.length === 0) return 'last'
    await trx.updateTable('users').set({ installation_admin }).where('id', '=', user_id).execute()
    return findUser(trx, user_id)
  })
}

/**
 * Locks the organizations that a person owns, in the order of their ids, and throws `last_owner` when
 * one of them has no other owner who can sign in.
 */
async function assertNotLastOwner(trx: Kysely<AccessTables>, user_id: string): Promise<void> {
  const owned = await trx
    .selectFrom('organization_members')
    .select('organization_id')
    .where('user_id', '=', user_id)
    .where('role', '=', 'owner')
    .orderBy('organization_id')
    .execute()
  for (const { organization_id } of owned) {
    const state = await lockedState(trx, { organization_id, actor_id: user_id, user_id })
    if (state.current === 'owner') assertOwnerRemains(state.other_owners)
  }
}
