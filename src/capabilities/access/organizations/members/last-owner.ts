import type { AccessTables, Kysely } from '../../../../platform/relational/index.ts'
import { assertOwnerRemains } from '../role-change.ts'
import { lockedState } from './store.ts'

/**
 * Locks the organizations that a person owns, in the order of their ids, and throws `last_owner` when
 * one of them has no other owner who can sign in.
 */
export async function assertNotLastOwner(
  trx: Kysely<AccessTables>,
  user_id: string,
): Promise<void> {
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
