import type { AccessTables, Kysely } from '../../../platform/relational/index.ts'
import { visibleProjects } from '../roles/store.ts'
import { revokeSignIns } from '../tokens/store.ts'

type Db = Kysely<AccessTables>

/** A user's stored credentials and state. */
export type Login = {
  id: string
  email: string
  password_hash: string | null
  disabled_at: string | null
  session_number: number
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
 * Replaces the known password hash and revokes the user's refresh tokens and links. Returns false
 * and changes nothing when the stored hash differs (two changes at once).
 */
export function replacePassword(
  db: Db,
  change: { user_id: string; known: string; password_hash: string; now: number },
): Promise<boolean> {
  const { user_id, known, password_hash, now } = change
  return db.transaction().execute(async (trx) => {
    const changed = await trx
      .updateTable('users')
      .set({ password_hash, password_origin: 'self', must_change_password: false })
      .where('id', '=', user_id)
      .where('password_hash', '=', known)
      .returning('id')
      .executeTakeFirst()
    if (changed === undefined) return false
    await revokeSignIns(trx, { user_id, now: new Date(now) })
    return true
  })
}

function logins(db: Db) {
  return db
    .selectFrom('users')
    .select(['id', 'email', 'password_hash', 'disabled_at', 'session_number'])
}

/** Sets a user's default project; false when the user cannot see the project. */
export async function setDefaultProject(
  db: Db,
  { user_id, project_id }: { user_id: string; project_id: string },
): Promise<boolean> {
  const visible = visibleProjects(db, user_id)
    .select('projects.id')
    .where('projects.id', '=', project_id)
  const row = await db
    .updateTable('users')
    .set({ default_project_id: project_id })
    .where('id', '=', user_id)
    .where(({ exists }) => exists(visible))
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}
