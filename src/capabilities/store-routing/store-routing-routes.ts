import type { Route } from '../../platform/http/index.ts'
import {
  type BenchmarkDeps,
  getStoreBenchmark,
  listStoreBenchmarks,
  runStoreBenchmark,
} from './benchmark-routes.ts'
import { getRouteStats, type RouteStatsDeps } from './route-stats-route.ts'
import { getScorecard, type ScorecardDeps } from './scorecard-route.ts'
import { getStoreRouting, putStoreRouting, type StoreRoutingDeps } from './store-routing.ts'

/** What the routes of store routing need. */
export type StoreRoutingRoutesDeps = StoreRoutingDeps &
  RouteStatsDeps &
  BenchmarkDeps &
  ScorecardDeps

/** The routes of store routing, its benchmarks and what they say. */
export function storeRoutingRoutes(deps: StoreRoutingRoutesDeps): Route[] {
  return [
    getStoreRouting(deps),
    putStoreRouting(deps),
    getRouteStats(deps),
    runStoreBenchmark(deps),
    getStoreBenchmark(deps),
    listStoreBenchmarks(deps),
    getScorecard(deps),
  ]
}
