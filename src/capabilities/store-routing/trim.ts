import type { Clock } from '../../kernel/time.ts'
import type { Job, JobContext, JobHandler, JobValue } from '../jobs/index.ts'
import { dayOf, dropPartitions, hotTables } from '../storage/index.ts'
import { keptBeyond_h, keptSpan } from './contract.ts'
import {
  deleteOldGaps,
  deleteOutside,
  projectsIn,
  type RoutingDb,
  widestHotWindow,
} from './store.ts'

/** The kind of the job that takes out of PostgreSQL what no hot window has any more. */
export const trimKind = 'hot-window-trim'

/**
 * Drops the days that no project needs, and of the other days deletes the rows of projects whose hot
 * window is shorter, or given up. Each step may be repeated.
 */
export function hotWindowTrim(about: { db: RoutingDb; clock: Clock }): JobHandler {
  return { kind: trimKind, run: (job, context) => trim(about, job, context) }
}

async function trim(
  { db, clock }: { db: RoutingDb; clock: Clock },
  _job: Job,
  { progress, signal }: JobContext,
): Promise<JobValue> {
  const now_ms = clock.now_ms()
  const dropped = await dropPartitions(db, async (connection) => {
    const hours = await widestHotWindow(connection)
    if (hours === undefined) return dayOf(BigInt(now_ms) * 1_000_000n) + 1
    return dayOf(keptSpan(now_ms, { hot_window_hours: hours }).from)
  })
  const hours = (await widestHotWindow(db)) ?? 0
  await deleteOldGaps(db, dayOf(keptSpan(now_ms, { hot_window_hours: hours }).from))
  let deleted = 0
  await progress({ dropped, deleted })
  for (const table of Object.keys(hotTables) as (keyof typeof hotTables)[]) {
    for (const project_id of await projectsIn(db, table)) {
      for (;;) {
        signal.throwIfAborted()
        const now = BigInt(now_ms) * 1_000_000n
        const about = { table, project_id, now, beyond_hours: keptBeyond_h }
        const rows = await deleteOutside(db, about)
        if (rows === 0) break
        deleted += rows
        await progress({ dropped, deleted })
      }
    }
  }
  return { dropped, deleted }
}
