import type { Clock } from '../../../kernel/time.ts'
import type { Enqueuer } from '../enqueue/index.ts'
import type { LedgerStore, RecordStore } from '../stores/index.ts'

/** What the routes of correlations need. */
export type CorrelationDeps = {
  records: RecordStore
  ledger: Pick<LedgerStore, 'receipt'>
  /** Makes correlations durable; rejects with `overloaded`. */
  enqueue: Enqueuer['enqueue']
  clock: Clock
}
