import { Problem } from '../../kernel/problem.ts'
import type { Clock } from '../../kernel/time.ts'
import {
  type Chore,
  enqueueJob,
  type Job,
  type JobContext,
  type JobDb,
  type JobHandler,
  type JobValue,
} from '../jobs/index.ts'
import { day_ns, dayOf, dropPartitions, type HotRowWriter, hotTables } from '../storage/index.ts'
import { backfillKind } from './change-routing.ts'
import { keptBeyond_h, keptSpan } from './contract.ts'
import { trimRouteStats } from './route-stats-store.ts'
import {
  deleteOldGaps,
  deleteOutside,
  findGaps,
  projectsIn,
  type RoutingDb,
  widestHotWindow,
} from './store.ts'

const minute_ms = 60_000

const hour_ms = 60 * minute_ms

/** The project id of jobs for all projects. */
const noProject = '00000000-0000-0000-0000-000000000000'

/** Returns the periodic chores of hot windows. Every worker runs them; one run is enough. */
export function hotWindowChores(deps: ChoreDeps): Chore[] {
  return [
    { name: 'hot window days', every_ms: hour_ms, run: () => prepareDays(deps) },
    { name: 'hot window gaps', every_ms: minute_ms, run: () => repairGaps(deps) },
    { name: 'hot window trim', every_ms: 10 * minute_ms, run: () => enqueueTrim(deps) },
    {
      name: 'old statistics of reads',
      every_ms: hour_ms,
      run: () => trimRouteStats(deps.db, new Date(deps.clock.now_ms())),
    },
  ]
}

type ChoreDeps = { db: RoutingDb; writer: HotRowWriter; clock: Clock }

/** Creates the partitions of today and tomorrow, so that no batch waits for one. */
async function prepareDays({ db, writer, clock }: ChoreDeps): Promise<void> {
  if ((await widestHotWindow(db)) === undefined) return
  const today = dayOf(BigInt(clock.now_ms()) * 1_000_000n)
  await writer.prepare([today, today + 1])
}

/** Enqueues a backfill for each day with missing rows. */
async function repairGaps({ db, clock }: ChoreDeps): Promise<void> {
  const hot_window_hours = await widestHotWindow(db)
  if (hot_window_hours === undefined) return
  const { from, to } = keptSpan(clock.now_ms(), { hot_window_hours })
  for (const { project_id, days } of await findGaps(db, {
    from_day: dayOf(from),
    to_day: dayOf(to),
  })) {
    for (const day of days) {
      const [start, end] = [BigInt(day) * day_ns, BigInt(day + 1) * day_ns]
      await enqueueJob(db as JobDb, {
        project_id,
        kind: backfillKind,
        params: { from: start.toString(), to: end.toString(), repair: true },
        requested_by: 'schedule',
        exclusive_key: `${backfillKind} ${day}`,
        clock,
      }).catch(ifRunning)
    }
  }
}

async function enqueueTrim({ db, clock }: ChoreDeps): Promise<void> {
  await enqueueJob(db as JobDb, {
    project_id: noProject,
    kind: trimKind,
    params: {},
    requested_by: 'schedule',
    once_key: `${trimKind} ${Math.floor(clock.now_ms() / hour_ms)}`,
    clock,
  })
}

function ifRunning(error: unknown): void {
  if (!(error instanceof Problem) || error.code !== 'job_running') throw error
}

/** The kind of the job that deletes rows outside of all hot windows from PostgreSQL. */
const trimKind = 'hot-window-trim'

/**
 * Drops the days that no hot window contains. From other days, deletes the rows of projects whose
 * hot window is shorter or given up. Each step can be repeated.
 */
export function hotWindowTrim(deps: { db: RoutingDb; clock: Clock }): JobHandler {
  return { kind: trimKind, run: (job, context) => trim(deps, job, context) }
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
