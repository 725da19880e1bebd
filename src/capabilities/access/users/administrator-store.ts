import type { AccessTables, Kysely } from '../../../platform/relational/index.ts'
import { findUser, isInstallationAdmin, lockAdministrators, type UserRow } from './store.ts'

type Db = Kysely<AccessTables>

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
