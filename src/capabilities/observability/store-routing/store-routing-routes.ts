import type { Route } from '../../../platform/http/index.ts'
import { getRouteStats, type RouteStatsDeps } from './route-stats-route.ts'
import { getStoreRouting, putStoreRouting, type StoreRoutingDeps } from './store-routing.ts'

/** The routes of store routing. */
export function storeRoutingRoutes(deps: StoreRoutingDeps & RouteStatsDeps): Route[] {
  return [getStoreRouting(deps), putStoreRouting(deps), getRouteStats(deps)]
}
