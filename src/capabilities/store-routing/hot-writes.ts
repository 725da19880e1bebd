import { backOff } from '../../kernel/back-off.ts'
import { type Clock, sleep } from '../../kernel/time.ts'
import type { Observation } from '../../model/observation.ts'
import type { Logger, Metrics } from '../../platform/telemetry/index.ts'
import type { SecondStore } from '../ingest/index.ts'
import { dayOf, type HotRow, type HotRowWriter } from '../storage/index.ts'
import { keptSpan, type Routing, writesToPostgres } from './contract.ts'
import type { RoutingCache } from './routing-cache.ts'
import { markGaps, type RoutingDb } from './store.ts'

export type HotWritesOptions = {
  db: RoutingDb
  writer: HotRowWriter
  routings: RoutingCache
  clock: Clock
  logger: Logger
  metrics: Metrics
  /** Tries of a project's rows before its days are noted as not whole. */
  tries_max?: number
  /** The wait before the second try; doubled before each further one. */
  retry_delay_ms?: number
}

/**
 * The worker's second write: what is in ClickHouse goes to PostgreSQL too, where the project says so
 * and the rows lie in its hot window. Rows that can't be written are tried again a few times; then
 * their days are noted as not whole, and the batch goes on: reads of those days go to ClickHouse
 * until a backfill has repaired them. Rejects with `store_unavailable` when not even that can be
 * noted; then the batch waits, as it has to for its roll-ups, which are in the same database.
 */
export function createHotWrites(options: HotWritesOptions): SecondStore {
  const { routings, clock } = options
  const meters = hotMeters(options.metrics)
  return {
    write: async (rows) => {
      const wanted = new Map<string, Routing>()
      for (const project_id of rows.project_ids) {
        const routing = await routings.routingOf(project_id)
        if (writesToPostgres(routing)) wanted.set(project_id, routing)
      }
      if (wanted.size === 0) return
      const { observations, traces } = rows.of(new Set(wanted.keys()))
      const now_ms = clock.now_ms()
      for (const [project_id, routing] of wanted) {
        const kept = keptSpan(now_ms, routing)
        const stored = <Row>(row: Row) => ({ row, ingested_at_ms: rows.ingested_at_ms })
        const isKept = (time: bigint) => time >= kept.from && time < kept.to
        const mine = observations.filter((row) => row.project_id === project_id)
        const about: ProjectRows = {
          project_id,
          observations: mine.filter(({ start_time }) => isKept(start_time)).map(stored),
          traces: traces
            .filter((row) => row.project_id === project_id && isKept(row.time))
            .map(stored),
          ahead: mine.filter(({ start_time }) => start_time >= kept.to),
        }
        await writeProject(options, meters, about)
      }
    },
  }
}

type ProjectRows = {
  project_id: string
  observations: HotRow<'hot_observations'>[]
  traces: HotRow<'hot_traces'>[]
  /** Further in the future than is kept: one day their windows will be asked for. */
  ahead: Observation[]
}

async function writeProject(
  options: HotWritesOptions,
  meters: HotMeters,
  { project_id, observations, traces, ahead }: ProjectRows,
): Promise<void> {
  const { db, writer, logger } = options
  const rows = observations.length + traces.length
  const failure = await tried(options, async () => {
    await writer.write('hot_observations', observations)
    await writer.write('hot_traces', traces)
  })
  if (failure === undefined) meters.rows.inc({ result: 'written' }, rows)
  else {
    const days = daysOf([
      ...observations.map(({ row }) => row.start_time),
      ...traces.map(({ row }) => row.time),
    ])
    const reason = `a write failed: ${failure.message.slice(0, reason_chars_max)}`
    await markGaps(db, { project_id, days, reason })
    meters.rows.inc({ result: 'missed' }, rows)
    logger.error({ err: failure, project_id, days }, 'rows are missing in the hot window')
  }
  if (ahead.length === 0) return
  const days = daysOf(ahead.map(({ start_time }) => start_time))
  const reason = 'a row said to begin further ahead than is kept'
  await markGaps(db, { project_id, days, reason })
  meters.rows.inc({ result: 'missed' }, ahead.length)
}

const reason_chars_max = 200

/** The last error, when no try went well. */
async function tried(
  { tries_max = 3, retry_delay_ms = 100 }: HotWritesOptions,
  work: () => Promise<void>,
): Promise<Error | undefined> {
  for (let tries = 1; ; tries++) {
    try {
      await work()
      return undefined
    } catch (error) {
      if (tries >= tries_max) return error instanceof Error ? error : new Error(String(error))
    }
    await sleep(backOff({ base_ms: retry_delay_ms }, tries))
  }
}

function daysOf(times: readonly bigint[]): number[] {
  return [...new Set(times.map(dayOf))]
}

type HotMeters = ReturnType<typeof hotMeters>

function hotMeters(metrics: Metrics) {
  return {
    rows: metrics.counter({
      name: 'looptrace_hot_window_rows_total',
      help: 'Rows for the hot window in PostgreSQL, by whether they were written or noted as missing.',
      labels: ['result'],
    }),
  }
}
