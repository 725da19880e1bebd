import type { StoredRetention } from '../policy/store.ts'
import type { RetentionDb } from '../retention-deps.ts'

/** A project whose daily run is due, or whose policy names no time for it yet. */
export type DueSlot = Pick<StoredRetention, 'project_id' | 'next_run_at' | 'updated_at'>

/** Reads the slots that have come, by project. */
export function dueSlots(
  db: RetentionDb,
  { now, after, limit }: { now: Date; after: string | undefined; limit: number },
): Promise<DueSlot[]> {
  return db
    .selectFrom('retention_policies')
    .select(['project_id', 'next_run_at', 'updated_at'])
    .where((eb) =>
      eb.or([eb('next_run_at', 'is', null), eb('next_run_at', '<=', now.toISOString())]),
    )
    .$if(after !== undefined, (query) => query.where('project_id', '>', after ?? ''))
    .orderBy('project_id')
    .limit(limit)
    .execute()
}

/** Stores when the run comes next, unless the policy was changed since the slot was read. */
export async function moveSlot(
  db: RetentionDb,
  { project_id, next_run_at }: Pick<DueSlot, 'project_id' | 'next_run_at'>,
  to: Date,
): Promise<void> {
  await db
    .updateTable('retention_policies')
    .set({ next_run_at: to })
    .where('project_id', '=', project_id)
    .where('next_run_at', 'is not distinct from', next_run_at)
    .execute()
}
