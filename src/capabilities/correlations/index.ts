export type { CorrelationDeps } from './correlation-deps.ts'
export { correlationRoutes } from './correlation-routes.ts'
