import type { Route } from '../../../platform/http/index.ts'
import type { RetentionDeps } from './contract.ts'
import { getErasure, listErasures, postErasure } from './erasures/erasures.ts'
import { deleteLegalHold, listLegalHolds, postLegalHold } from './legal-holds/legal-holds.ts'
import {
  deleteRetentionPolicy,
  getRetentionPolicy,
  putRetentionPolicy,
} from './retention-policy/retention-policy.ts'
import { cancelRetentionRun, getRetentionRun, listRetentionRuns, runRetention } from './runs/run.ts'

export type { RetentionDb, RetentionDeps } from './contract.ts'
export { type ErasureJobOptions, erasureHandler } from './erasures/erasure-job.ts'
export { requestErasure } from './erasures/erasures.ts'
export { openLateErasure } from './erasures/late-rows.ts'
export { userDigest } from './erasures/receipt.ts'
export { duringRestore } from './erasures/restore-lock.ts'
export type { retentionBody } from './retention-policy/policy-schema.ts'
export { dryRunHandler } from './runs/dry-run-job.ts'
export { retentionHandler } from './runs/retention-job.ts'
export {
  type ArchiveScheduleOptions,
  archiveScheduleHandler,
} from './schedule/archive-schedule.ts'
export { type RetentionChoresOptions, retentionChores } from './schedule/chores.ts'

/** The routes of policies, legal holds, runs and erasures. */
export function retentionRoutes(deps: RetentionDeps): Route[] {
  return [
    getRetentionPolicy(deps),
    putRetentionPolicy(deps),
    deleteRetentionPolicy(deps),
    runRetention(deps),
    listRetentionRuns(deps),
    getRetentionRun(deps),
    cancelRetentionRun(deps),
    listLegalHolds(deps),
    postLegalHold(deps),
    deleteLegalHold(deps),
    postErasure(deps),
    listErasures(deps),
    getErasure(deps),
  ]
}
