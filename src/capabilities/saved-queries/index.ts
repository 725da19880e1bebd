export type { SavedQueryDeps } from './saved-query-deps.ts'
export { savedQueryRoutes } from './saved-query-routes.ts'
