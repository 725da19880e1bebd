import type { Metrics } from '../../platform/telemetry/index.ts'

/** The metrics of ingest. */
export type IngestMeters = ReturnType<typeof ingestMeters>

/** Registers the metrics of ingest; once per process. */
export function ingestMeters(metrics: Metrics) {
  return {
    rows: metrics.counter({
      name: 'looptrace_ingest_rows_stored_total',
      help: 'Rows written to the store, by kind; a redelivered one counts each time.',
      labels: ['kind'],
    }),
    batches: metrics.counter({
      name: 'looptrace_ingest_batches_total',
      help: 'Batches of queue messages, by how they ended.',
      labels: ['result'],
    }),
    poisoned: metrics.counter({
      name: 'looptrace_ingest_poisoned_messages_total',
      help: 'Queue messages set apart because something in them can not be stored.',
    }),
    ledger_entries: metrics.counter({
      name: 'looptrace_ingest_ledger_entries_total',
      help: 'Entries of the ledger written to the store, by the side that told them.',
      labels: ['side'],
    }),
    refreshed: metrics.counter({
      name: 'looptrace_ingest_large_rollups_refreshed_total',
      help: 'Refreshes of large tasks and conversations, by how they ended.',
      labels: ['result'],
    }),
    lag: metrics.histogram({
      name: 'looptrace_ingest_lag_seconds',
      help: 'From the end of a call to its row being stored.',
      buckets: [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 1_800, 7_200],
    }),
  }
}
