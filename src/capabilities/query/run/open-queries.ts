import { openProjectSlots, type ProjectSlots } from '../../../kernel/project-slots.ts'
import type { Logger, Metrics } from '../../../platform/telemetry/index.ts'
import type { StoreName } from '../language/field.ts'
import type {
  ChooseStore,
  OnServed,
  QueryLimits,
  QueryRunner,
  RestoredSlices,
  Served,
} from './contract.ts'

/** The settings of queries. */
export type QuerySettings = {
  query_rows_read_max: number
  query_bytes_read_max: number
  query_time_ms_max: number
  query_memory_bytes_max: number
  query_result_rows_max: number
}

/** A query that waits longer for a slot, or finds the queue of its project full, gets 429. */
const defaultSlots = { running_max: 4, waiting_max: 20, wait_ms_max: 2_000 }

/** The stores, settings and telemetry that queries run with. */
export type QueriesOptions = {
  runners: Readonly<Record<'clickhouse' | 'postgres', QueryRunner>>
  chooseStore: ChooseStore
  onServed: OnServed
  /** Default: projects have no restored slices. */
  restoredSlices?: RestoredSlices
  settings: QuerySettings
  /** Queries of a project side by side; `defaultSlots` has the defaults. */
  slots?: Partial<typeof defaultSlots> | undefined
  metrics: Metrics
  logger: Logger
}

/** Opens queries: their limits, slots and metrics. */
export function openQueries(options: QueriesOptions): RunDeps {
  const { settings, slots, metrics, ...rest } = options
  return {
    restoredSlices: async () => [],
    ...rest,
    limits: toQueryLimits(settings),
    slots: openProjectSlots({ work: 'queries', ...defaultSlots, ...slots }),
    meters: openQueryMeters(metrics),
  }
}

function toQueryLimits(settings: QuerySettings): QueryLimits {
  return {
    rows_read_max: settings.query_rows_read_max,
    bytes_read_max: settings.query_bytes_read_max,
    time_ms_max: settings.query_time_ms_max,
    memory_bytes_max: settings.query_memory_bytes_max,
    result_rows_max: settings.query_result_rows_max,
  }
}

/** The dependencies of running queries. */
export type RunDeps = {
  runners: Readonly<Record<StoreName, QueryRunner>>
  chooseStore: ChooseStore
  onServed: OnServed
  restoredSlices: RestoredSlices
  slots: ProjectSlots
  limits: QueryLimits
  meters: QueryMeters
  logger: Logger
}

/** The metrics of queries. */
type QueryMeters = { observe(served: Served): void }

const buckets_s = [0.005, 0.02, 0.05, 0.1, 0.5, 2, 10]

/** Registers the metrics of queries. */
function openQueryMeters(metrics: Metrics): QueryMeters {
  const labels = ['class', 'store'] as const
  const queries = metrics.counter({
    name: 'looptrace_query_total',
    help: 'Queries by class, store and outcome: ok, or an error code.',
    labels: [...labels, 'outcome'],
  })
  const seconds = metrics.histogram({
    name: 'looptrace_query_duration_seconds',
    help: 'Duration of queries in a store, by class and store.',
    labels,
    buckets: buckets_s,
  })
  const rows = metrics.counter({
    name: 'looptrace_query_rows_read_total',
    help: 'Rows read by queries, by class and store, where the store reports them.',
    labels,
  })
  return {
    observe: ({ query_class, store, failed, duration_ms, rows_read }) => {
      const about = { class: query_class, store }
      queries.inc({ ...about, outcome: failed ?? 'ok' })
      seconds.observe(about, duration_ms / 1000)
      if (rows_read !== null) rows.inc(about, rows_read)
    },
  }
}
