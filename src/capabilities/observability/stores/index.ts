export { openClickHouseStore } from './clickhouse/store.ts'
export type {
  CallSums,
  ConversationHint,
  ConversationRollup,
  ObservationIds,
  ObservationStore,
  TaskHint,
  TaskPage,
  TaskRollup,
  TimelineRow,
  TimePosition,
  TimeWindow,
  TraceLookup,
  TracePage,
  TraceSummary,
} from './contract.ts'
