export { filterSchema } from './language/filter-schema.ts'
export { queryWindow } from './language/query-body.ts'
export { aggregateSchema, querySchema } from './language/schemas.ts'
export { openQueries, type QueriesOptions, type QuerySettings } from './query-deps.ts'
export { queryRoutes } from './query-routes.ts'
export { compileRecordFilter, faultsOfRecordFilter } from './record-filter.ts'
export { answerAggregate } from './run/answer-aggregate.ts'
export { answerFields } from './run/answer-parts.ts'
export { answerQuery } from './run/answer-query.ts'
export { chooseByEntity } from './run/choose-store.ts'
export { openClickHouseRunner } from './run/clickhouse-runner.ts'
export type {
  ChooseStore,
  OnServed,
  QueryClass,
  QueryLimits,
  QueryRunner,
  Served,
  StoreAsked,
  StoreCandidate,
  StoreChoice,
} from './run/contract.ts'
export { openPostgresRunner } from './run/postgres-runner.ts'
export { type RecordsRead, readRecords } from './run/read-records.ts'
export { type Replay, replayOf } from './run/replay.ts'
export type { RunDeps } from './run/run-query.ts'
