import {
  countUpTo,
  type RetentionTables,
  type Selectable,
} from '../../../../platform/relational/index.ts'
import type { RetentionDb } from '../contract.ts'

/** A stored hold. */
export type LegalHold = Selectable<RetentionTables['legal_holds']>

/** Most active holds of a project; each run reads them before each step. */
export const maxActiveHolds = 1_000

/** A hold to place. */
export type NewHold = Pick<
  LegalHold,
  'id' | 'project_id' | 'kind' | 'value' | 'reason' | 'created_by'
> & { created_at: Date }

/**
 * Places a hold, or returns the existing one of the same kind and value; undefined when the project
 * has the maximum number of holds. Holds of resources are not returned, as they may end at any
 * time.
 */
export async function placeHold(
  db: RetentionDb,
  hold: NewHold,
): Promise<{ hold: LegalHold; is_new: boolean } | undefined> {
  const existing = await findUnmanaged(db, hold)
  if (existing !== undefined) return { hold: existing, is_new: false }
  const active = await countHolds(db, { ...hold, released: false, limit: maxActiveHolds })
  if (active >= maxActiveHolds) return undefined
  const placed = await db
    .insertInto('legal_holds')
    .values(hold)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()
  if (placed !== undefined) return { hold: placed, is_new: true }
  const other = await findUnmanaged(db, hold)
  return other && { hold: other, is_new: false }
}

function findUnmanaged(
  db: RetentionDb,
  { project_id, kind, value }: Pick<LegalHold, 'project_id' | 'kind' | 'value'>,
): Promise<LegalHold | undefined> {
  return db
    .selectFrom('legal_holds')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('kind', '=', kind)
    .where('value', '=', value)
    .where('released_at', 'is', null)
    .where('managed_by', 'is', null)
    .executeTakeFirst()
}

/** Returns the active holds of a project; of several holds on one item only the oldest. */
export function activeHolds(db: RetentionDb, project_id: string): Promise<LegalHold[]> {
  return db
    .selectFrom('legal_holds')
    .selectAll()
    .distinctOn(['kind', 'value'])
    .where('project_id', '=', project_id)
    .where('released_at', 'is', null)
    .orderBy('kind')
    .orderBy('value')
    .orderBy('id')
    .execute()
}

type HoldFilter = { project_id: string; released: boolean; limit: number }

/** Returns holds, newest first. */
export function selectHolds(
  db: RetentionDb,
  { after, limit, ...filter }: HoldFilter & { after: string | undefined },
): Promise<LegalHold[]> {
  return holdsOf(db, filter)
    .selectAll()
    .$if(after !== undefined, (query) => query.where('id', '<', after ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** Counts holds up to `limit`. */
export function countHolds(db: RetentionDb, { limit, ...filter }: HoldFilter): Promise<number> {
  return countUpTo(db, holdsOf(db, filter).select('id'), limit)
}

function holdsOf(db: RetentionDb, { project_id, released }: Omit<HoldFilter, 'limit'>) {
  return db
    .selectFrom('legal_holds')
    .where('project_id', '=', project_id)
    .$if(!released, (query) => query.where('released_at', 'is', null))
}

/** Returns a hold, released or not. */
export function findHold(
  db: RetentionDb,
  { project_id, id }: Pick<LegalHold, 'project_id' | 'id'>,
): Promise<LegalHold | undefined> {
  return db
    .selectFrom('legal_holds')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('id', '=', id)
    .executeTakeFirst()
}

/**
 * Releases a hold that no resource declares, and returns it. A released hold is returned unchanged.
 */
export function releaseHold(
  db: RetentionDb,
  about: { project_id: string; id: string; released_at: Date; released_by: string },
): Promise<LegalHold | undefined> {
  return db
    .updateTable('legal_holds')
    .set((eb) => ({
      released_at: eb.fn.coalesce('released_at', eb.val(about.released_at)),
      released_by: eb.fn.coalesce('released_by', eb.val(about.released_by)),
    }))
    .where('project_id', '=', about.project_id)
    .where('id', '=', about.id)
    .where((eb) => eb.or([eb('managed_by', 'is', null), eb('released_at', 'is not', null)]))
    .returningAll()
    .executeTakeFirst()
}
