export type { RetentionDb, RetentionDeps } from './retention-deps.ts'
export { retentionRoutes } from './retention-routes.ts'
export { type RetentionJobOptions, retentionHandler } from './runs/retention-job.ts'
