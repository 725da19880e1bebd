import { Problem } from '../../kernel/problem.ts'
import { type Clock, sleep } from '../../kernel/time.ts'
import { sql } from '../../platform/relational/index.ts'
import { runInInstallation, runInProject } from '../../platform/tenancy/index.ts'
import {
  type Chore,
  enqueueJob,
  type Job,
  type JobContext,
  type JobDb,
  type JobHandler,
  type JobValue,
} from '../jobs/index.ts'
import {
  day_ns,
  dayOf,
  dropPartitions,
  type HotRowWriter,
  type HotSource,
  hotTables,
  lockProject,
} from '../storage/index.ts'
import { backfillKind } from './change-routing.ts'
import { routingTtlMs } from './choose-store.ts'
import { keptBeyondHours, keptSpan } from './contract.ts'
import { trimRouteStats } from './route-stats-store.ts'
import {
  closeGap,
  databaseTime,
  deleteOldGaps,
  deleteOutside,
  extendCoverage,
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
    {
      name: 'hot window days',
      every_ms: hour_ms,
      reason: 'partitions have the rows of all projects',
      run: () => prepareDays(deps),
    },
    {
      name: 'hot window gaps',
      every_ms: minute_ms,
      reason: 'gaps of all projects',
      run: () => repairGaps(deps),
    },
    {
      name: 'hot window trim',
      every_ms: 10 * minute_ms,
      reason: 'one job for all projects',
      run: () => enqueueTrim(deps),
    },
    {
      name: 'old statistics of reads',
      every_ms: hour_ms,
      reason: 'deletes what is old in all projects',
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
      const job = {
        project_id,
        kind: backfillKind,
        clock,
        params: { from: start.toString(), to: end.toString(), repair: true },
        requested_by: 'schedule',
        exclusive_key: `${backfillKind} ${day}`,
      }
      await runInProject(project_id, () => enqueueJob(db as JobDb, job)).catch(ifRunning)
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
  return {
    kind: trimKind,
    run: (job, context) =>
      runInInstallation('rows outside of every hot window', () => trim(deps, job, context)),
  }
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
        const about = { table, project_id, now, beyond_hours: keptBeyondHours }
        const rows = await runInProject(project_id, () => deleteOutside(db, about))
        if (rows === 0) break
        deleted += rows
        await progress({ dropped, deleted })
      }
    }
  }
  return { dropped, deleted }
}

export type BackfillOptions = {
  db: RoutingDb
  source: HotSource
  writer: HotRowWriter
  /**
   * Delay before the copy begins, default 10,000 ms. By then every process writes its rows to both
   * stores, so each row is either copied or written.
   */
  settle_ms?: number
}

const hour_ns = 3_600_000_000_000n

const defaultSettleMs = 2 * routingTtlMs

/**
 * Fills a project's hot window from ClickHouse, hour by hour, latest first; a filled hour can be
 * read at once. Copying an hour twice changes nothing, so a killed run resumes at its hour. Of two
 * runs, the one requested later fills the window. With `repair`, copies days with missing rows and
 * leaves the coverage unchanged.
 */
export function hotWindowBackfill(options: BackfillOptions): JobHandler {
  return { kind: backfillKind, run: (job, context) => backfill(options, job, context) }
}

async function backfill(
  options: BackfillOptions,
  job: Job,
  { progress, signal }: JobContext,
): Promise<JobValue> {
  const { db, settle_ms = defaultSettleMs } = options
  const { from, to } = windowOf(job)
  const isRepair = job.params['repair'] === true
  const of = Number((to - from) / hour_ns)
  const saved = (job.progress ?? {}) as Partial<Progress>
  let { done = 0, rows = 0, began = '' } = saved
  if (began === '') {
    if (!isRepair) await sleep(settle_ms, signal)
    signal.throwIfAborted()
    began = await databaseTime(db)
    await progress({ done, of, rows, began } satisfies Progress)
  }
  for (; done < of; ) {
    signal.throwIfAborted()
    const slice_to = to - BigInt(done) * hour_ns
    const slice = { project_id: job.project_id, from: slice_to - hour_ns, to: slice_to }
    rows += await copySlice(options, slice, signal)
    signal.throwIfAborted()
    const isOurs = isRepair || (await covers(db, job, slice.from))
    if (!isOurs) return { done, of, rows, superseded: true }
    if (slice.from % day_ns === 0n) await closeGapIfCopied(db, slice, { to, began })
    done += 1
    await progress({ done, of, rows, began } satisfies Progress)
  }
  return { done, of, rows, superseded: false }
}

function covers(db: RoutingDb, { project_id, id }: Job, covered_from: bigint): Promise<boolean> {
  return extendCoverage(db, { project_id, backfill_job: id, covered_from })
}

type Progress = { done: number; of: number; rows: number; began: string }

/** Returns the job's window, widened to whole hours. */
function windowOf({ params }: Job): { from: bigint; to: bigint } {
  const [from, to] = [BigInt(String(params['from'])), BigInt(String(params['to']))]
  return { from: (from / hour_ns) * hour_ns, to: ((to + hour_ns - 1n) / hour_ns) * hour_ns }
}

/** Closes the gaps of a day. The day is complete when its first hour is copied, as the last. */
async function closeGapIfCopied(
  db: RoutingDb,
  { project_id, from }: { project_id: string; from: bigint },
  { to, began }: { to: bigint; began: string },
): Promise<void> {
  if (from + day_ns > to) return
  await closeGap(db, { project_id, day: dayOf(from), marked_before: began })
}

/**
 * Copies the rows that begin in the slice, under a lock against deletions from the project's hot
 * window. Rows deleted from ClickHouse earlier are not copied. Rows deleted there during the copy
 * are deleted from the hot window after the lock is released.
 */
async function copySlice(
  { db, source, writer }: Pick<BackfillOptions, 'db' | 'source' | 'writer'>,
  slice: { project_id: string; from: bigint; to: bigint },
  signal: AbortSignal,
): Promise<number> {
  return db.transaction().execute(async (trx) => {
    await lockProject(trx, slice.project_id, 'shared')
    let rows = 0
    for await (const page of source.observations(slice)) {
      signal.throwIfAborted()
      await writer.write('hot_observations', page)
      rows += page.length
    }
    for await (const page of source.traces(slice)) {
      signal.throwIfAborted()
      await writer.write('hot_traces', page)
      rows += page.length
    }
    // Fails if the connection, and with it the lock, was lost.
    await sql`select 1`.execute(trx)
    return rows
  })
}
