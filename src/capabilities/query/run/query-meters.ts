import type { Metrics } from '../../../platform/telemetry/index.ts'
import type { Served } from './contract.ts'

/** Counts what queries take. */
export type QueryMeters = { observe(served: Served): void }

const buckets_s = [0.005, 0.02, 0.05, 0.1, 0.5, 2, 10]

/** Registers the metrics of queries. */
export function queryMeters(metrics: Metrics): QueryMeters {
  const labels = ['class', 'store'] as const
  const queries = metrics.counter({
    name: 'looptrace_query_total',
    help: 'Queries by class, store and outcome: ok, or the code of the error.',
    labels: [...labels, 'outcome'],
  })
  const seconds = metrics.histogram({
    name: 'looptrace_query_duration_seconds',
    help: 'Time in which a store answered a query, by class and store.',
    labels,
    buckets: buckets_s,
  })
  const rows = metrics.counter({
    name: 'looptrace_query_rows_read_total',
    help: 'Rows that queries read, by class and store, where the store tells.',
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
