import type { Clock } from '../../kernel/time.ts'
import type { IngestRecords } from '../../model/ingest-records.ts'
import type { Enqueuer } from '../edge/enqueue/index.ts'
import type { Captured } from '../records/capture/index.ts'
import type { LedgerStore, RecordStore } from '../storage/index.ts'

/** What the routes of correlations need. */
export type CorrelationDeps = {
  records: RecordStore
  ledger: Pick<LedgerStore, 'receipt'>
  /** Makes correlations durable; rejects with `overloaded`. */
  enqueue: Enqueuer['enqueue']
  /** Applies the project's capture policy; left out, all is kept as it came. */
  capture?: (
    records: IngestRecords,
    project_id: string,
    item_kinds: readonly ['correlations'],
  ) => Captured | Promise<Captured>
  clock: Clock
}
