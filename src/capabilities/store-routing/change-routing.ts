import type { Clock } from '../../kernel/time.ts'
import { enqueueJob, type JobDb } from '../jobs/index.ts'
import { lockHotWindows } from '../storage/index.ts'
import { keptSpan, type Routing, writesToPostgres } from './contract.ts'
import {
  beginCoverage,
  endCoverage,
  findHotState,
  type HotState,
  type RoutingDb,
  routingTable,
  type StoredRouting,
} from './store.ts'

/** The kind of the job that fills a hot window from ClickHouse. */
export const backfillKind = 'hot-window-backfill'

/**
 * Writes a project's routing. A job fills a hot window that is new or wider; one that is given up
 * is no longer read. Returns undefined if the stored version differs from `version`.
 */
export function changeRouting(
  db: RoutingDb,
  change: Omit<StoredRouting, 'version'>,
  about: { version: number | undefined; requested_by: string; clock: Clock },
): Promise<StoredRouting | undefined> {
  return db.transaction().execute(async (trx) => {
    // Take this lock before the row's: dropping days holds it while it reads routings.
    if (writesToPostgres(change)) await lockHotWindows(trx)
    const before = await routingTable.find(trx, change.project_id)
    const stored = await routingTable.write(trx, change, about.version)
    if (stored === undefined) return undefined
    if (!writesToPostgres(stored)) {
      await endCoverage(trx, stored.project_id)
      return stored
    }
    const now_ms = about.clock.now_ms()
    const state = await findHotState(trx, stored.project_id, { from: 0, to: 0 })
    const covered_from = findCoverage(state, before, now_ms)
    const isWider = stored.hot_window_hours > (before?.hot_window_hours ?? 0)
    if (state === undefined || isWider || (await hasFailed(trx, state))) {
      await requestBackfill(trx, { routing: stored, covered_from, now_ms }, about)
    }
    return stored
  })
}

/** Returns the start of coverage, without the rows trimmed under the previous routing. */
function findCoverage(
  state: HotState | undefined,
  before: Routing | undefined,
  now_ms: number,
): bigint | null {
  const covered = state?.covered_from ?? null
  if (covered === null || before === undefined) return null
  const kept = keptSpan(now_ms, before).from + trimSlackNs
  return covered > kept ? covered : kept
}

/** Bound of how far a trim that runs during the change may be ahead of it. */
const trimSlackNs = 3_600_000_000_000n

async function hasFailed(trx: RoutingDb, { backfill_job }: HotState): Promise<boolean> {
  if (backfill_job === null) return true
  const job = await trx
    .selectFrom('job_runs')
    .select('state')
    .where('id', '=', backfill_job)
    .executeTakeFirst()
  return job?.state === 'failed'
}

async function requestBackfill(
  trx: RoutingDb,
  about: { routing: StoredRouting; covered_from: bigint | null; now_ms: number },
  { requested_by, clock }: { requested_by: string; clock: Clock },
): Promise<void> {
  const { routing, covered_from, now_ms } = about
  const { project_id } = routing
  const { from, to } = keptSpan(now_ms, routing)
  const job = await enqueueJob(trx as JobDb, {
    project_id,
    kind: backfillKind,
    params: { from: from.toString(), to: (covered_from ?? to).toString() },
    requested_by,
    clock,
  })
  await beginCoverage(trx, { project_id, backfill_job: job.id, covered_from })
}
