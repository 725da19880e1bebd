export { openClickHouseErasure } from './clickhouse/erase-user.ts'
export { type HotSlice, type HotSource, openHotSource } from './clickhouse/hot-source.ts'
export { openClickHouseLedgerStore } from './clickhouse/ledger-store.ts'
export { openClickHouseRecordStore } from './clickhouse/record-store.ts'
export { openClickHouseRepairStore } from './clickhouse/repair-store.ts'
export { openClickHouseRetentionStore } from './clickhouse/retention-store.ts'
export { fingerprintOf, fingerprints_max } from './clickhouse/rollup-row.ts'
export { openClickHouseStore } from './clickhouse/store.ts'
export {
  type CallSums,
  type ConversationRollup,
  identities_max,
  type ObservationIdentity,
  type ObservationStore,
  type ObservationVersion,
  type TaskHint,
  type TaskPage,
  type TaskRollup,
  type TimelineRow,
  type TimelineSums,
  type TimePosition,
  type TimeWindow,
  type TracePage,
  type TraceSummary,
} from './contract.ts'
export type {
  LedgerQuery,
  LedgerStore,
  LedgerSums,
} from './ledger-contract.ts'
export { type HotRow, type HotTableName, hotTables } from './postgres/hot-rows.ts'
export {
  day_ns,
  dayOf,
  dropPartitions,
  lockHotWindows,
  lockProject,
  openPostgresRetention,
} from './postgres/retention.ts'
export { type HotObservationStore, openPostgresStore } from './postgres/store.ts'
export { type HotRowWriter, openHotRowWriter } from './postgres/write-rows.ts'
export type {
  CorrelationRow,
  CorrelationSearch,
  EventPage,
  EventRow,
  LinkRow,
  RecordKind,
  RecordStore,
} from './record-contract.ts'
export type { RepairStore, UsageChange, UsageColumns } from './repair-contract.ts'
export {
  type BucketCount,
  type CensusBucket,
  type CensusQuery,
  type ErasureTarget,
  type HeldBy,
  maxCensusBuckets,
  maxCountBounds,
  maxRetentionIds,
  type OpenSlice,
  type RetentionSlice,
  type RetentionStore,
  type RetentionTarget,
  type UserErasure,
} from './retention-contract.ts'
export { type StoreCapabilities, storeCapabilities } from './store-capabilities.ts'
export type {
  GenAiEvent,
  OwnerChange,
  RowsToErase,
  StoredHead,
  TraceHeads,
} from './trace-contract.ts'
