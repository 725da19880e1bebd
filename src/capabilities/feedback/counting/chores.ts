import type { Clock } from '../../../kernel/time.ts'
import { runInProject } from '../../../platform/tenancy/index.ts'
import type { Chore } from '../../jobs/index.ts'
import type { InsightDb } from '../contract.ts'
import { countDue } from './counts-store.ts'
import { findDueProjects, refreshRatedTasks } from './refresh-store.ts'
import { deleteOldCounts, ratedProjects, storedDays, storeTaskDay } from './task-days-store.ts'
import { daysOf, maxWindowDays } from './window.ts'

/** Maximum tasks that one transaction counts, and transactions of a project in one pass. */
const batch_tasks = 1_000
const batches_max = 20
const projects_max = 200
const refreshEveryMs = 2_000
const daysEveryMs = 10 * 60_000
const hour_ms = 3_600_000
const day_ms = 24 * hour_ms
/** Days for which counts are kept, like the hourly counts of votes. */
const keptDays = 400

type ChoreDeps = { db: InsightDb; clock: Clock }

/** Returns the chore that counts changed feedback. */
export function countFeedbackChore({ db }: Pick<ChoreDeps, 'db'>): Chore {
  return {
    name: 'counts of feedback',
    every_ms: refreshEveryMs,
    wake: 'feedback_counts',
    reason: 'changed feedback of all projects',
    run: async (signal) => {
      for (const project_id of await findDueProjects(db, projects_max)) {
        await runInProject(project_id, () => countProject(db, project_id, signal))
      }
    },
  }
}

async function countProject(db: InsightDb, project_id: string, signal: AbortSignal): Promise<void> {
  for (let batch = 0; batch < batches_max; batch += 1) {
    signal.throwIfAborted()
    if ((await refreshRatedTasks(db, project_id, batch_tasks)) < batch_tasks) return
  }
}

/** Counts the latest changes of a project before a read: at most two batches. */
export async function countChanges(db: InsightDb, project_id: string): Promise<void> {
  if ((await countDue(db, project_id, 1)) === 0) return
  const counted = await refreshRatedTasks(db, project_id, batch_tasks)
  if (counted === batch_tasks) await refreshRatedTasks(db, project_id, batch_tasks)
}

/**
 * Returns the chore that counts the tasks of each day in projects with feedback, for response
 * rates. Feedback and calls may arrive late, so a day is counted again: after an hour for each day
 * of its age.
 */
export function countTaskDaysChore({ db, clock }: ChoreDeps): Chore {
  return {
    name: 'tasks by day',
    every_ms: daysEveryMs,
    reason: 'finds the projects with feedback, and deletes what is old in all projects',
    run: async (signal) => {
      const oldest_ms = clock.now_ms() - keptDays * day_ms
      await deleteOldCounts(db, new Date(oldest_ms).toISOString().slice(0, 10))
      for (let after = '00000000-0000-0000-0000-000000000000'; after !== ''; ) {
        const projects = await ratedProjects(db, { after, limit: projects_max })
        for (const project_id of projects) {
          await runInProject(project_id, () => countDays({ db, clock }, project_id, signal))
        }
        after = projects.length < projects_max ? '' : (projects.at(-1) ?? '')
      }
    },
  }
}

async function countDays(
  { db, clock }: ChoreDeps,
  project_id: string,
  signal: AbortSignal,
): Promise<void> {
  const now_ms = clock.now_ms()
  const days = countedDays(now_ms)
  const stored = await storedDays(db, project_id, days[0] ?? '')
  for (const day of days) {
    signal.throwIfAborted()
    if (isStale(day, stored.get(day), now_ms)) await storeTaskDay(db, { project_id, day, now_ms })
  }
}

/** Returns the days of the longest window, up to today. */
function countedDays(now_ms: number): string[] {
  const iso = (ms: number) => new Date(ms).toISOString()
  return daysOf({ from: iso(now_ms - maxWindowDays * day_ms), to: iso(now_ms) })
}

/** Returns whether a day has to be counted again: after an hour for each begun day of its age. */
export function isStale(day: string, counted_ms: number | undefined, now_ms: number): boolean {
  if (counted_ms === undefined) return true
  const age_days = Math.ceil((now_ms - Date.parse(`${day}T00:00:00Z`)) / day_ms)
  return now_ms - counted_ms >= age_days * hour_ms
}
