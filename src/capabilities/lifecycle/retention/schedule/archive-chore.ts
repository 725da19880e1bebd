import { Problem } from '../../../../kernel/problem.ts'
import type { Clock } from '../../../../kernel/time.ts'
import { type Chore, enqueueJob } from '../../../jobs/index.ts'
import { day_ms } from '../policy/rules.ts'
import { type ScheduledArchive, scheduledArchives } from '../policy/store.ts'
import type { RetentionDb } from '../retention-deps.ts'
import { archiveScheduleKind } from './archive-schedule-job.ts'
import { lastTick } from './cron.ts'

const every_ms = 60_000

/**
 * Has days archived when the schedule of a project's policy has come. Whichever worker comes first
 * makes the job: its key names the instant. Times that were missed while no worker ran are made up
 * for by the last of them; one as old as the records of runs is not, since it may have been done.
 */
export function archiveScheduleChore(options: {
  db: RetentionDb
  clock: Clock
  job_runs_days: number
}): Chore {
  const { db, clock, job_runs_days } = options
  const done = new Map<string, number>()
  return {
    name: 'scheduled archives',
    every_ms,
    run: async (signal) => {
      const now_ms = clock.now_ms()
      const scheduled = await scheduledArchives(db)
      forgetOthers(done, scheduled)
      for (const { project_id, schedule, since } of scheduled) {
        signal.throwIfAborted()
        const tick_ms = lastTick(schedule, now_ms)
        if (tick_ms === undefined || tick_ms <= Date.parse(since)) continue
        if (tick_ms <= now_ms - job_runs_days * day_ms || done.get(project_id) === tick_ms) continue
        if (await enqueueTick(db, { project_id, tick_ms, clock })) done.set(project_id, tick_ms)
      }
    },
  }
}

/** False while the job of an earlier time is under way: it is asked for again later. */
async function enqueueTick(
  db: RetentionDb,
  { project_id, tick_ms, clock }: { project_id: string; tick_ms: number; clock: Clock },
): Promise<boolean> {
  const due_at = new Date(tick_ms).toISOString()
  try {
    await enqueueJob(db, {
      ...{ project_id, kind: archiveScheduleKind, params: { due_at }, clock },
      requested_by: 'schedule',
      exclusive_key: archiveScheduleKind,
      once_key: `${archiveScheduleKind} ${due_at}`,
    })
    return true
  } catch (error) {
    if (error instanceof Problem && error.code === 'job_running') return false
    throw error
  }
}

function forgetOthers(done: Map<string, number>, scheduled: readonly ScheduledArchive[]): void {
  const known = new Set(scheduled.map(({ project_id }) => project_id))
  for (const project_id of done.keys()) if (!known.has(project_id)) done.delete(project_id)
}
