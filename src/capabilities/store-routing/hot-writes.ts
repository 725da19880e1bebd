import { backOff } from '../../kernel/back-off.ts'
import { type Clock, sleep } from '../../kernel/time.ts'
import type { Observation } from '../../model/observation.ts'
import type { Logger, Metrics } from '../../platform/telemetry/index.ts'
import { runInProject } from '../../platform/tenancy/index.ts'
import type { SecondStore } from '../ingest/index.ts'
import {
  dayOf,
  type HotRow,
  type HotRowWriter,
  type OwnerChange,
  openPostgresStore,
} from '../storage/index.ts'
import type { RoutingCache } from './choose-store.ts'
import { keptSpan, type Routing, writesToPostgres } from './contract.ts'
import { markGaps, type RoutingDb } from './store.ts'

export type HotWritesOptions = {
  db: RoutingDb
  writer: HotRowWriter
  routings: RoutingCache
  clock: Clock
  logger: Logger
  metrics: Metrics
  /** Attempts to write a project's rows before its days are marked as incomplete. Default 3. */
  tries_max?: number
  /** Delay before the second attempt, doubled before each further one. Default 100. */
  retry_delay_ms?: number
}

/**
 * Creates the worker's second write: after ClickHouse, rows in the hot windows of projects that
 * write to PostgreSQL go there too. After failed retries their days are marked as incomplete and
 * the batch continues; ClickHouse answers for those days until a backfill repairs them. Rejects
 * with `store_unavailable` if the days can't be marked. The batch then waits, as its roll-ups, in
 * the same database, would make it.
 */
export function createHotWrites(options: HotWritesOptions): SecondStore {
  const { routings, clock } = options
  const meters = openHotMeters(options.metrics)
  return {
    write: async (rows) => {
      const wanted = new Map<string, Routing>()
      for (const project_id of rows.project_ids) {
        const routing = await runInProject(project_id, () => routings.routingOf(project_id))
        if (writesToPostgres(routing)) wanted.set(project_id, routing)
      }
      if (wanted.size === 0) return
      const { observations, traces } = rows.of(new Set(wanted.keys()))
      const now_ms = clock.now_ms()
      for (const [project_id, routing] of wanted) {
        const kept = keptSpan(now_ms, routing)
        const stored = <Row>(row: Row) => ({ row, ingested_at_ms: rows.ingested_at_ms })
        const isKept = (time: bigint) => time >= kept.from && time < kept.to
        const own = observations.filter((row) => row.project_id === project_id)
        const projectRows: ProjectRows = {
          project_id,
          observations: own.filter(({ start_time }) => isKept(start_time)).map(stored),
          traces: traces
            .filter((row) => row.project_id === project_id && isKept(row.time))
            .map(stored),
          ahead: own.filter(({ start_time }) => start_time >= kept.to),
        }
        await runInProject(project_id, () => writeProject(options, meters, projectRows))
      }
    },
    eraseRows: async (project_id, asked) => {
      const routing = await runInProject(project_id, () => routings.routingOf(project_id))
      if (!writesToPostgres(routing)) return
      await runInProject(project_id, () => openPostgresStore(options).eraseRows(project_id, asked))
    },
    markStale: async (project_id, starts) => {
      const routing = await runInProject(project_id, () => routings.routingOf(project_id))
      if (!writesToPostgres(routing)) return
      const about = { project_id, days: daysOf(starts), reason: 'stored rows were repaired' }
      await runInProject(project_id, () => markGaps(options.db, about))
    },
    setOwners: async (project_id, changes) => {
      const routing = await runInProject(project_id, () => routings.routingOf(project_id))
      if (changes.length === 0 || !writesToPostgres(routing)) return
      await runInProject(project_id, () => changeOwners(options, meters, { project_id, changes }))
    },
  }
}

async function changeOwners(
  options: HotWritesOptions,
  meters: HotMeters,
  { project_id, changes }: { project_id: string; changes: readonly OwnerChange[] },
): Promise<void> {
  const { setOwners } = openPostgresStore(options)
  const failure = await tryWrite(options, () => setOwners(project_id, changes))
  if (failure === undefined) return
  const missed = { rows: changes.length, starts: changes.map(({ start_time }) => start_time) }
  await noteMissed(options, meters, { project_id, failure, ...missed })
}

type Missed = { project_id: string; failure: Error; rows: number; starts: readonly bigint[] }

/** Marks the days of rows that could not be written; ClickHouse answers for them from now on. */
async function noteMissed(
  { db, logger }: HotWritesOptions,
  meters: HotMeters,
  { project_id, failure, rows, starts }: Missed,
): Promise<void> {
  const days = daysOf(starts)
  const reason = `a write failed: ${failure.message.slice(0, reason_chars_max)}`
  await markGaps(db, { project_id, days, reason })
  meters.rows.inc({ result: 'missed' }, rows)
  logger.error(
    { err: failure, project_id, days },
    'Writing rows to the hot window failed; their days are marked as incomplete',
  )
}

type ProjectRows = {
  project_id: string
  observations: HotRow<'hot_observations'>[]
  traces: HotRow<'hot_traces'>[]
  /** Rows too far in the future to keep. Queries of their days must go to ClickHouse. */
  ahead: Observation[]
}

async function writeProject(
  options: HotWritesOptions,
  meters: HotMeters,
  { project_id, observations, traces, ahead }: ProjectRows,
): Promise<void> {
  const { db, writer } = options
  const rows = observations.length + traces.length
  const failure = await tryWrite(options, async () => {
    await writer.write('hot_observations', observations)
    await writer.write('hot_traces', traces)
  })
  if (failure === undefined) meters.rows.inc({ result: 'written' }, rows)
  else {
    const starts = [
      ...observations.map(({ row }) => row.start_time),
      ...traces.map(({ row }) => row.time),
    ]
    await noteMissed(options, meters, { project_id, failure, rows, starts })
  }
  if (ahead.length === 0) return
  const days = daysOf(ahead.map(({ start_time }) => start_time))
  const reason = 'a row begins too far in the future'
  await markGaps(db, { project_id, days, reason })
  meters.rows.inc({ result: 'missed' }, ahead.length)
}

const reason_chars_max = 200

/** Tries work several times. Returns the last error if all attempts fail. */
async function tryWrite(
  { tries_max = 3, retry_delay_ms = 100 }: HotWritesOptions,
  work: () => Promise<void>,
): Promise<Error | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      await work()
      return undefined
    } catch (error) {
      if (attempt >= tries_max) return error instanceof Error ? error : new Error(String(error))
    }
    await sleep(backOff({ base_ms: retry_delay_ms }, attempt))
  }
}

function daysOf(times: readonly bigint[]): number[] {
  return [...new Set(times.map(dayOf))]
}

type HotMeters = ReturnType<typeof openHotMeters>

function openHotMeters(metrics: Metrics) {
  return {
    rows: metrics.counter({
      name: 'looptrace_hot_window_rows_total',
      help: 'Rows for the hot window in PostgreSQL, by result: written or missed.',
      labels: ['result'],
    }),
  }
}
