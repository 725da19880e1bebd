import { newId } from '../../../../kernel/ids.ts'
import { problem } from '../../../../kernel/problem.ts'
import type { ManagedBy, ResourceName } from '../../../../model/managed-by.ts'
import { ownedBy, sql } from '../../../../platform/relational/index.ts'
import type { RetentionDb } from '../contract.ts'
import { countHolds, type LegalHold, maxActiveHolds } from './store.ts'

/** A hold that a resource declares. */
export type DeclaredHold = Pick<LegalHold, 'kind' | 'value' | 'reason'> & { name: string }

/** The owner of the holds, and who changes them at which time. */
export type HoldsChange = { project_id: string; owner: ResourceName; by: string; now: Date }

/** Returns the active holds of a resource, by name. */
export function managedHolds(
  db: RetentionDb,
  { project_id, owner }: Pick<HoldsChange, 'project_id' | 'owner'>,
): Promise<LegalHold[]> {
  return db
    .selectFrom('legal_holds')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('released_at', 'is', null)
    .where(ownedBy(owner))
    .orderBy('managed_name')
    .execute()
}

/**
 * Makes the holds of a resource match its declaration: places new holds and releases removed ones.
 * A hold on another item is released and placed as a new one, so that each record shows what was
 * held when. Throws `too_many_holds`. Call it in a transaction that has locked the project.
 */
export async function declareHolds(
  db: RetentionDb,
  change: HoldsChange & { owner: ManagedBy },
  declared: readonly DeclaredHold[],
): Promise<void> {
  const { project_id, owner, by, now } = change
  const active = new Map((await managedHolds(db, change)).map((hold) => [hold.managed_name, hold]))
  const kept = declared.filter((hold) => isSameTarget(hold, active.get(hold.name)))
  const placed = declared.filter((hold) => !kept.includes(hold))
  const names = new Set(kept.map(({ name }) => name))
  const removed = [...active.values()].filter(({ managed_name }) => !names.has(managed_name ?? ''))
  await release(
    db,
    change,
    removed.map(({ id }) => id),
  )
  for (const { name, reason } of kept) await updateReason(db, change, { name, reason })
  if (placed.length === 0) return
  const count = await countHolds(db, { project_id, released: false, limit: maxActiveHolds })
  if (count + placed.length > maxActiveHolds) throw tooManyHolds()
  const written = { project_id, created_by: by, created_at: now, managed_by: JSON.stringify(owner) }
  const rows = placed.map(({ name: managed_name, kind, value, reason }) => ({
    id: newId(),
    ...written,
    managed_name,
    kind,
    value,
    reason,
  }))
  await db.insertInto('legal_holds').values(rows).execute()
}

/** Releases all holds of a resource. */
export async function releaseHolds(db: RetentionDb, change: HoldsChange): Promise<void> {
  const holds = await managedHolds(db, change)
  await release(
    db,
    change,
    holds.map(({ id }) => id),
  )
}

/**
 * Detaches the holds of a resource, which then are like holds placed by the API. Duplicates, which
 * the API or another name holds too, are released instead.
 */
export async function detachHolds(
  db: RetentionDb,
  { project_id, owner, by, now }: HoldsChange,
): Promise<void> {
  await sql`
    update legal_holds as hold set released_at = ${now}, released_by = ${by}
    where project_id = ${project_id} and released_at is null and ${ownedBy(owner)}
      and exists (
        select 1 from legal_holds as other
        where other.project_id = hold.project_id and other.released_at is null
          and other.kind = hold.kind and other.value = hold.value
          and (other.managed_by is null
            or (other.managed_by - 'uid' = hold.managed_by - 'uid' and other.id < hold.id))
      )`.execute(db)
  await db
    .updateTable('legal_holds')
    .set({ managed_by: null, managed_name: null })
    .where('project_id', '=', project_id)
    .where('released_at', 'is', null)
    .where(ownedBy(owner))
    .execute()
}

/** Moves holds with these names to another resource, except names that it has already. */
export async function inheritHolds(
  db: RetentionDb,
  { project_id, owner }: Pick<HoldsChange, 'project_id' | 'owner'>,
  heir: { owner: ManagedBy; names: readonly string[] },
): Promise<void> {
  const own = await managedHolds(db, { project_id, owner: heir.owner })
  const names = heir.names.filter((name) => own.every(({ managed_name }) => managed_name !== name))
  if (names.length === 0) return
  await db
    .updateTable('legal_holds')
    .set({ managed_by: JSON.stringify(heir.owner) })
    .where('project_id', '=', project_id)
    .where('released_at', 'is', null)
    .where(ownedBy(owner))
    .where('managed_name', 'in', names)
    .execute()
}

/** Returns the error for a project with the maximum number of holds. */
export function tooManyHolds() {
  return problem('too_many_holds', {
    detail: `The project has ${maxActiveHolds} legal holds, the maximum. Release one first.`,
  })
}

function isSameTarget(declared: DeclaredHold, hold: LegalHold | undefined): boolean {
  return hold?.kind === declared.kind && hold.value === declared.value
}

async function release(
  db: RetentionDb,
  change: HoldsChange,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return
  await db
    .updateTable('legal_holds')
    .set({ released_at: change.now, released_by: change.by })
    .where('project_id', '=', change.project_id)
    .where('id', 'in', [...ids])
    .where('released_at', 'is', null)
    .execute()
}

/** Updates the reason of a hold, and its owner, whose uid changes when it is restored. */
async function updateReason(
  db: RetentionDb,
  { project_id, owner }: HoldsChange & { owner: ManagedBy },
  { name, reason }: Pick<DeclaredHold, 'name' | 'reason'>,
): Promise<void> {
  const managed_by = JSON.stringify(owner)
  await db
    .updateTable('legal_holds')
    .set({ reason, managed_by })
    .where('project_id', '=', project_id)
    .where('released_at', 'is', null)
    .where(ownedBy(owner))
    .where('managed_name', '=', name)
    .where(sql<boolean>`(reason, managed_by) is distinct from (${reason}, ${managed_by}::jsonb)`)
    .execute()
}
