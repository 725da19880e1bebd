import { sql } from '../../../../platform/relational/index.ts'
import type { RetentionDb } from '../contract.ts'
import type { StoredRetention } from '../retention-policy/store.ts'

/**
 * Returns the days (counted from 1970 in UTC, in order) that no verified archive contains as a
 * whole and no archive under way touches. Days that this run has requested are included, because a
 * request is idempotent.
 */
export async function daysToArchive(
  db: RetentionDb,
  { project_id, days, run_id }: { project_id: string; days: readonly number[]; run_id: string },
): Promise<number[]> {
  if (days.length === 0) return []
  const { rows } = await sql<{ day: number }>`
    with archives as (
      select state, (params->>'from')::timestamptz as begins, (params->>'to')::timestamptz as ends
      from job_runs
      where project_id = ${project_id} and kind = 'archive' and (
        (state in ('queued', 'running') and requested_by <> ${`job:${run_id}`})
        or (state = 'succeeded' and result->>'verified' = 'true'
          and params->>'where' is null and params->>'kinds' is null))
    ), asked as (
      select day, to_timestamp(day::bigint * 86400) as begins,
        to_timestamp((day::bigint + 1) * 86400) as ends
      from unnest(${[...days]}::int[]) as day
    )
    select day from asked
    where not exists (
      select 1 from archives
      where case when state = 'succeeded'
        then archives.begins <= asked.begins and archives.ends >= asked.ends
        else archives.begins < asked.ends and archives.ends > asked.begins end)
    order by day`.execute(db)
  return rows.map(({ day }) => day)
}

/** A project whose daily run is due, or whose policy has no slot yet. */
export type DueSlot = Pick<StoredRetention, 'project_id' | 'next_run_at' | 'updated_at'>

/** Returns the due slots, by project. */
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

/** Stores the next slot, unless the policy was changed since the slot was read. */
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

/** A project whose schedule of archives is due. */
export type DueArchive = Awaited<ReturnType<ReturnType<typeof dueArchives>['execute']>>[number]

/** Returns a statement that reads the due schedules of archives, by project, with the time when each was set. */
export function dueArchives(
  db: RetentionDb,
  { now, after, limit }: { now: Date; after: string | undefined; limit: number },
) {
  return db
    .selectFrom('retention_policies')
    .select((eb) => [
      'project_id',
      'archive_since as since',
      eb.ref('archive', '->>').key('schedule').as('schedule'),
      // It can be infinite, which is not an instant.
      sql<string>`archive_due_at::text`.as('due_at'),
    ])
    .where('archive_due_at', '<=', now.toISOString())
    .$if(after !== undefined, (query) => query.where('project_id', '>', after ?? ''))
    .orderBy('project_id')
    .limit(limit)
}

/** Stores when a schedule is due next, unless it was changed since it was read; undefined: never. */
export async function moveArchive(
  db: RetentionDb,
  { project_id, due_at }: DueArchive,
  to_ms: number | undefined,
): Promise<void> {
  const to = to_ms === undefined ? 'infinity' : new Date(to_ms).toISOString()
  await sql`
    update retention_policies set archive_due_at = ${to}::timestamptz
    where project_id = ${project_id} and archive_due_at = ${due_at}::timestamptz
  `.execute(db)
}
