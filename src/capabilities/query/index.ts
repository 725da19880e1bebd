import type { Route } from '../../platform/http/index.ts'
import { runAggregateRoute } from './aggregate.ts'
import { explainRoute } from './explain.ts'
import { getQueryFields } from './fields.ts'
import { runQueryRoute } from './query.ts'
import type { RunDeps } from './run/open-queries.ts'

export { answerAggregate } from './aggregate.ts'
export { aggregateSchema } from './language/aggregate-query.ts'
export { filterSchema } from './language/filter.ts'
export { querySchema, queryWindow } from './language/page-query.ts'
export { answerFields, answerQuery, type RecordsRead, readRecords } from './query.ts'
export { checkRecordFilter, compileRecordFilter } from './record-filter.ts'
export { openClickHouseRunner } from './run/clickhouse-runner.ts'
export type {
  ChooseStore,
  OnServed,
  QueryLimits,
  QueryRunner,
  RoutingRequest,
  Served,
  StoreCandidate,
  StoreChoice,
} from './run/contract.ts'
export {
  openQueries,
  type QueriesOptions,
  type QuerySettings,
  type RunDeps,
} from './run/open-queries.ts'
export { openPostgresRunner } from './run/postgres-runner.ts'
export { type Replay, readReplay } from './run/prepare-run.ts'
export { chooseByEntity } from './run/run-query.ts'

/** The routes of queries. */
export function queryRoutes(deps: RunDeps): Route[] {
  return [runQueryRoute(deps), runAggregateRoute(deps), explainRoute(deps), getQueryFields()]
}
