import type { Route } from '../../../platform/http/index.ts'
import { getStoreRouting, putStoreRouting, type StoreRoutingDeps } from './store-routing.ts'

/** The routes of store routing. */
export function storeRoutingRoutes(deps: StoreRoutingDeps): Route[] {
  return [getStoreRouting(deps), putStoreRouting(deps)]
}
