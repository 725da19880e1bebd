export { type BackfillOptions, hotWindowBackfill } from './backfill.ts'
export {
  chooseByRouting,
  type StoreCandidate,
  type StoreChoice,
  type StoreQuestion,
} from './choose-store.ts'
export { hotWindowChores } from './hot-chores.ts'
export { createHotWrites, type HotWritesOptions } from './hot-writes.ts'
export { startRouteStats } from './route-stats.ts'
export type { RouteStatsDeps } from './route-stats-route.ts'
export { createRoutingCache, type RoutingCache } from './routing-cache.ts'
export type { StoreRoutingDeps } from './store-routing.ts'
export { storeRoutingRoutes } from './store-routing-routes.ts'
export { hotWindowTrim } from './trim.ts'
