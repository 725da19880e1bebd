export { type BackfillOptions, hotWindowBackfill } from './backfill.ts'
export { storeBenchmark } from './benchmark-job.ts'
export {
  chooseByRouting,
  type StoreCandidate,
  type StoreChoice,
  type StoreQuestion,
} from './choose-store.ts'
export { hotWindowChores } from './hot-chores.ts'
export { createHotWrites, type HotWritesOptions } from './hot-writes.ts'
export { startRouteStats } from './route-stats.ts'
export { createRoutingCache, type RoutingCache } from './routing-cache.ts'
export { type StoreRoutingRoutesDeps, storeRoutingRoutes } from './store-routing-routes.ts'
export { hotWindowTrim } from './trim.ts'
