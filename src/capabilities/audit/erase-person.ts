import { sql } from '../../platform/relational/index.ts'
import type { ErasureTarget } from '../storage/index.ts'
import type { AuditDb } from './trail/open-trail.ts'

/** Counts of erased details. */
type ErasedDetails = { origins: number; changes: number }

/**
 * Erases the details of a person from a chain: address and client of the person's calls, the values
 * of changes of the person's account, and the values of changes that name the person by id or
 * e-mail. The chain still verifies, because it contains only hashes of the details. The salts are
 * erased too.
 */
export function erasePerson(
  db: AuditDb,
  { chain_id, user_id }: { chain_id: string; user_id: string },
): Promise<ErasedDetails> {
  return db.transaction().execute(async (trx) => {
    const user = await trx
      .selectFrom('users')
      .select('email')
      .where('id', '=', user_id)
      .executeTakeFirst()
    const noOrigin = { origin_salt: null, origin_value: null }
    const records = await trx
      .updateTable('audit_records')
      .set(noOrigin)
      .where('chain_id', '=', chain_id)
      .where('actor_id', '=', user_id)
      .where('origin_value', 'is not', null)
      .executeTakeFirst()
    const reads = await trx
      .updateTable('audit_reads')
      .set(noOrigin)
      .where('chain_id', '=', chain_id)
      .where('actor_id', '=', user_id)
      .where('origin_value', 'is not', null)
      .executeTakeFirst()
    const named = [user_id, ...(user === undefined ? [] : [user.email])]
    const own = await trx
      .updateTable('audit_records')
      .set({ change_salt: null, change_value: null })
      .where('chain_id', '=', chain_id)
      .where('actor_id', '=', user_id)
      .where('resource_type', 'like', 'auth/%')
      .where('change_value', 'is not', null)
      .executeTakeFirst()
    const others = await eraseChanges(trx, sql<boolean>`chain_id = ${chain_id}::uuid`, named)
    const changes = Number(own.numUpdatedRows) + others
    return { origins: Number(records.numUpdatedRows + reads.numUpdatedRows), changes }
  })
}

/** Erases the values of changes of a project that name end users, such as in legal holds. */
export function openAuditErasure({ db }: { db: AuditDb }): ErasureTarget {
  return {
    eraseUser: async ({ project_id, user_id }) => {
      await eraseChanges(db, sql<boolean>`project_id = ${project_id}::uuid`, [user_id])
    },
  }
}

async function eraseChanges(
  db: AuditDb,
  where: ReturnType<typeof sql<boolean>>,
  named: readonly string[],
): Promise<number> {
  // Values are JSON text, so names are searched in their JSON form.
  const texts = named.map((name) => JSON.stringify(name).slice(1, -1).toLowerCase())
  const erased = await db
    .updateTable('audit_records')
    .set({ change_salt: null, change_value: null })
    .where(where)
    .where('change_value', 'is not', null)
    .where(({ or }) =>
      or(texts.map((text) => sql<boolean>`strpos(lower(change_value), ${text}) > 0`)),
    )
    .executeTakeFirst()
  return Number(erased.numUpdatedRows)
}
