import type { Route } from '../../platform/http/index.ts'
import { getRouteStats, type RouteStatsDeps } from './route-stats.ts'
import {
  type BenchmarkDeps,
  runStoreBenchmark,
  storeBenchmarkRoutes,
} from './store-benchmark/run.ts'
import { routingDocumentRoutes, type StoreRoutingDeps } from './store-routing.ts'
import { getScorecard, type ScorecardDeps } from './store-selection/scorecard.ts'

export { chooseByRouting, createRoutingCache } from './choose-store.ts'
export {
  hotWindowBackfill,
  hotWindowChores,
  hotWindowTrim,
} from './hot-window-jobs.ts'
export { createHotWrites } from './hot-writes.ts'
export { startRouteStats } from './route-stats.ts'
export { storeBenchmark } from './store-benchmark/benchmark-job.ts'

/** The dependencies of the routes. */
export type StoreRoutingRoutesDeps = StoreRoutingDeps &
  RouteStatsDeps &
  BenchmarkDeps &
  ScorecardDeps

/** The routes of store routing, route statistics, benchmarks and scorecards. */
export function storeRoutingRoutes(deps: StoreRoutingRoutesDeps): Route[] {
  return [
    ...routingDocumentRoutes(deps),
    getRouteStats(deps),
    runStoreBenchmark(deps),
    ...storeBenchmarkRoutes(deps),
    getScorecard(deps),
  ]
}
