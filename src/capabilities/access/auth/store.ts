import type { AccessTables, Kysely } from '../../../platform/relational/index.ts'

/** What a sign-in with a password is checked against. */
export type Login = { id: string; password_hash: string | null; disabled_at: string | null }

/** The user with this (lower-case) e-mail. */
export function findLogin(db: Kysely<AccessTables>, email: string): Promise<Login | undefined> {
  return db
    .selectFrom('users')
    .select(['id', 'password_hash', 'disabled_at'])
    .where('email', '=', email)
    .executeTakeFirst()
}
