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
   * How long after it was asked for it begins: by then every process writes to PostgreSQL what it
   * stores in ClickHouse, so that a row is either copied or written. 10,000 ms when left out.
   */
  settle_ms?: number
}

const hour_ns = 3_600_000_000_000n
const settleDefault_ms = 2 * routingTtl_ms

/**
 * Fills a project's hot window from ClickHouse, hour by hour, the latest first: what is filled can be
 * read at once. Copying an hour twice changes nothing, so a run that was killed goes on with the
 * hour it was at. Of two runs the one that was asked for later fills the window. With `repair` it
 * copies days of which rows are missing, and what is covered stays as it is.
 */
export function hotWindowBackfill(options: BackfillOptions): JobHandler {
  return { kind: backfillKind, run: (job, context) => backfill(options, job, context) }
}

async function backfill(
  options: BackfillOptions,
  job: Job,
  { progress, signal }: JobContext,
): Promise<JobValue> {
  const { db, settle_ms = settleDefault_ms } = options
  const { from, to } = windowOf(job)
  const repairs = job.params['repair'] === true
  const of = Number((to - from) / hour_ns)
  const noted = (job.progress ?? {}) as Partial<Progress>
  let { done = 0, rows = 0, began = '' } = noted
  if (began === '') {
    if (!repairs) await sleep(settle_ms, signal)
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
    const isOurs = repairs || (await covers(db, job, slice.from))
    if (!isOurs) return { done, of, rows, superseded: true }
    if (slice.from % day_ns === 0n) await closeGapOf(db, slice, { to, began })
    done += 1
    await progress({ done, of, rows, began } satisfies Progress)
  }
  return { done, of, rows, superseded: false }
}

function covers(db: RoutingDb, { project_id, id }: Job, covered_from: bigint): Promise<boolean> {
  return extendCoverage(db, { project_id, backfill_job: id, covered_from })
}

type Progress = { done: number; of: number; rows: number; began: string }

/** Whole hours: the window is a little wider than what was asked for. */
function windowOf({ params }: Job): { from: bigint; to: bigint } {
  const [from, to] = [BigInt(String(params['from'])), BigInt(String(params['to']))]
  return { from: (from / hour_ns) * hour_ns, to: ((to + hour_ns - 1n) / hour_ns) * hour_ns }
}

/** A day is whole once its first hour is copied, as the latest are copied first. */
async function closeGapOf(
  db: RoutingDb,
  { project_id, from }: { project_id: string; from: bigint },
  { to, began }: { to: bigint; began: string },
): Promise<void> {
  if (from + day_ns > to) return
  await closeGap(db, { project_id, day: dayOf(from), marked_before: began })
}

/**
 * Copies what begins in the slice. While it does, nobody deletes rows of the project from the hot
 * window: what was deleted from ClickHouse before that is not copied, and what is deleted there
 * after the copy was read is deleted from the hot window after it was written.
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
    // Holds that the lock was kept all the while.
    await sql`select 1`.execute(trx)
    return rows
  })
}
