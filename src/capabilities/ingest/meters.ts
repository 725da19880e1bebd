import type { Metrics } from '../../platform/telemetry/index.ts'

/** The metrics of ingest. */
export type IngestMeters = ReturnType<typeof ingestMeters>

/** Registers the metrics of ingest; once per process. */
export function ingestMeters(metrics: Metrics) {
  return {
    rows: metrics.counter({
      name: 'looptrace_ingest_rows_stored_total',
      help: 'Rows written to the store, by kind; a redelivered row counts each time.',
      labels: ['kind'],
    }),
    batches: metrics.counter({
      name: 'looptrace_ingest_batches_total',
      help: 'Batches of queue messages, by result.',
      labels: ['result'],
    }),
    poisoned: metrics.counter({
      name: 'looptrace_ingest_poisoned_messages_total',
      help: 'Queue messages that were dead-lettered because they cannot be stored.',
    }),
    ledger_entries: metrics.counter({
      name: 'looptrace_ingest_ledger_entries_total',
      help: 'Ledger entries written to the store, by side.',
      labels: ['side'],
    }),
    refreshed: metrics.counter({
      name: 'looptrace_ingest_large_rollups_refreshed_total',
      help: 'Refreshes of large tasks and conversations, by result.',
      labels: ['result'],
    }),
    owners: metrics.counter({
      name: 'looptrace_ingest_owners_total',
      help: 'Stored rows that later rows gave another owner or counting row: changed; too_many_rows: not read.',
      labels: ['result'],
    }),
    lag: metrics.histogram({
      name: 'looptrace_ingest_lag_seconds',
      help: 'Time from the end of a call until its row is stored and its task is rolled up.',
      buckets: [0.1, 0.25, 0.5, 1, 1.5, 2, 3, 4, 5, 10, 30, 60, 300, 1_800, 7_200],
    }),
  }
}
