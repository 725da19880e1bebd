import { sleep } from '../../kernel/time.ts'
import { sql } from '../../platform/relational/index.ts'
import type { Job, JobContext, JobHandler, JobValue } from '../jobs/index.ts'
import { day_ns, dayOf, type HotRowWriter, type HotSource, lockProject } from '../storage/index.ts'
import { backfillKind } from './change-routing.ts'
import { routingTtl_ms } from './routing-cache.ts'
import { closeGap, databaseTime, extendCoverage, type RoutingDb } from './store.ts'

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

const defaultSettle_ms = 2 * routingTtl_ms

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
  const { db, settle_ms = defaultSettle_ms } = options
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
