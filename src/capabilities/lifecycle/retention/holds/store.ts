import type { RetentionTables } from '../../../../platform/relational/index.ts'
import { type Selectable, sql } from '../../../../platform/relational/index.ts'
import type { RetentionDb } from '../retention-deps.ts'

/** A hold as it stands in the store. */
export type LegalHold = Selectable<RetentionTables['legal_holds']>

/** Holds that a project can have at a time: each run reads them before each step. */
export const activeHolds_max = 1_000

/** What is placed. */
export type NewHold = Pick<
  LegalHold,
  'id' | 'project_id' | 'kind' | 'value' | 'reason' | 'created_by'
> & { created_at: Date }

/**
 * Places a hold, or answers the one of the same kind and value that is there already; undefined when
 * the project has as many as it can. What a resource declares does not count: it may go any time.
 */
export async function placeHold(
  db: RetentionDb,
  hold: NewHold,
): Promise<{ hold: LegalHold; made: boolean } | undefined> {
  const there = await findUnmanaged(db, hold)
  if (there !== undefined) return { hold: there, made: false }
  const active = await countHolds(db, { ...hold, released: false, limit: activeHolds_max })
  if (active >= activeHolds_max) return undefined
  const placed = await db
    .insertInto('legal_holds')
    .values(hold)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()
  if (placed !== undefined) return { hold: placed, made: true }
  const other = await findUnmanaged(db, hold)
  return other && { hold: other, made: false }
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

/** What is held in a project, each once however many hold it; the hold that was placed first. */
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

/** Newest first. */
export function selectHolds(
  db: RetentionDb,
  asked: { project_id: string; released: boolean; before: string | undefined; limit: number },
): Promise<LegalHold[]> {
  const { project_id, released, before, limit } = asked
  return db
    .selectFrom('legal_holds')
    .selectAll()
    .where('project_id', '=', project_id)
    .$if(!released, (query) => query.where('released_at', 'is', null))
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** Counts up to `limit`; more than that reads as `limit`. */
export async function countHolds(
  db: RetentionDb,
  { project_id, released, limit }: { project_id: string; released: boolean; limit: number },
): Promise<number> {
  const counted = await sql<{ holds: number }>`
    select count(*) as holds from (
      select 1 from legal_holds
      where project_id = ${project_id} and (${released} or released_at is null) limit ${limit}
    ) as counted`.execute(db)
  return counted.rows[0]?.holds ?? 0
}

/** The hold, released or not. */
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
 * Releases a hold that no resource declares, and answers it as it stands; one that was released
 * before stays so.
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
