export { type ErasureJobOptions, erasureHandler } from './erasures/erasure-job.ts'
export { duringRestore } from './erasures/restore-lock.ts'
export { userDigest } from './erasures/user-digest.ts'
export type { RetentionDb, RetentionDeps } from './retention-deps.ts'
export { retentionRoutes } from './retention-routes.ts'
export { type DryRunJobOptions, dryRunHandler } from './runs/dry-run-job.ts'
export { type RetentionJobOptions, retentionHandler } from './runs/retention-job.ts'
export {
  type ArchiveScheduleOptions,
  archiveScheduleHandler,
} from './schedule/archive-schedule-job.ts'
export { type RetentionChoresOptions, retentionChores } from './schedule/chores.ts'
