import { sql } from '../../../../platform/relational/index.ts'
import type { RetentionDb } from '../retention-deps.ts'

/**
 * Those of the days (counted from 1970 in UTC, in order) that no verified archive has as a whole and
 * none that is under way touches. What this very run has asked for is among them: to ask again is
 * no second request.
 */
export async function daysToArchive(
  db: RetentionDb,
  about: { project_id: string; days: readonly number[]; run_id: string },
): Promise<number[]> {
  const { project_id, days, run_id } = about
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
