import { Problem } from '../../kernel/problem.ts'
import type { Clock } from '../../kernel/time.ts'
import { type Chore, enqueueJob, type JobDb } from '../jobs/index.ts'
import { day_ns, dayOf, type HotRowWriter } from '../storage/index.ts'
import { backfillKind } from './change-routing.ts'
import { keptSpan } from './contract.ts'
import { trimRouteStats } from './route-stats-store.ts'
import { findGaps, type RoutingDb, widestHotWindow } from './store.ts'
import { trimKind } from './trim.ts'

const minute_ms = 60_000
const hour_ms = 60 * minute_ms

/** Jobs that are about no project in particular are kept under this one. */
const noProject = '00000000-0000-0000-0000-000000000000'

/** What keeps hot windows in order; every worker does it, and once is enough. */
export function hotWindowChores(about: {
  db: RoutingDb
  writer: HotRowWriter
  clock: Clock
}): Chore[] {
  return [
    { name: 'hot window days', every_ms: hour_ms, run: () => makeDays(about) },
    { name: 'hot window gaps', every_ms: minute_ms, run: () => repairGaps(about) },
    { name: 'hot window trim', every_ms: 10 * minute_ms, run: () => askForTrim(about) },
    {
      name: 'old statistics of reads',
      every_ms: hour_ms,
      run: () => trimRouteStats(about.db, new Date(about.clock.now_ms())),
    },
  ]
}

type Ports = Parameters<typeof hotWindowChores>[0]

/** Days ahead of the clock, so that no batch has to wait for one to be made. */
async function makeDays({ db, writer, clock }: Ports): Promise<void> {
  if ((await widestHotWindow(db)) === undefined) return
  const today = dayOf(BigInt(clock.now_ms()) * 1_000_000n)
  await writer.prepare([today, today + 1])
}

/** Has days that are not whole copied again, a run for each. */
async function repairGaps({ db, clock }: Ports): Promise<void> {
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

async function askForTrim({ db, clock }: Ports): Promise<void> {
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
