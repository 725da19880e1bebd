import type { Logger, Metrics } from '../../platform/telemetry/index.ts'
import type {
  ChooseStore,
  OnServed,
  QueryLimits,
  QueryRunner,
  RestoredSlices,
} from './run/contract.ts'
import { openProjectSlots } from './run/project-slots.ts'
import { queryMeters } from './run/query-meters.ts'
import type { RunDeps } from './run/run-query.ts'

/** The settings of queries. */
export type QuerySettings = {
  query_rows_read_max: number
  query_bytes_read_max: number
  query_time_ms_max: number
  query_memory_bytes_max: number
  query_result_rows_max: number
  query_running_max: number
  query_waiting_max: number
  query_wait_ms_max: number
}

/** What queries are opened with. */
export type QueriesOptions = {
  runners: Readonly<Record<'clickhouse' | 'postgres', QueryRunner>>
  chooseStore: ChooseStore
  onServed: OnServed
  /** None when left out. */
  restoredSlices?: RestoredSlices
  settings: QuerySettings
  metrics: Metrics
  logger: Logger
}

/** Makes what the routes of queries need. */
export function openQueries(options: QueriesOptions): RunDeps {
  const { settings, metrics, ...given } = options
  return {
    restoredSlices: async () => [],
    ...given,
    limits: limitsOf(settings),
    slots: openProjectSlots({
      running_max: settings.query_running_max,
      waiting_max: settings.query_waiting_max,
      wait_ms_max: settings.query_wait_ms_max,
    }),
    meters: queryMeters(metrics),
  }
}

function limitsOf(settings: QuerySettings): QueryLimits {
  return {
    rows_read_max: settings.query_rows_read_max,
    bytes_read_max: settings.query_bytes_read_max,
    time_ms_max: settings.query_time_ms_max,
    memory_bytes_max: settings.query_memory_bytes_max,
    result_rows_max: settings.query_result_rows_max,
  }
}
