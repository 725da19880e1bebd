import type { Route } from '../../../platform/http/index.ts'
import { getErasure, listErasures, postErasure } from './erasures/erasures.ts'
import { deleteLegalHold, listLegalHolds, postLegalHold } from './holds/legal-holds.ts'
import { deleteRetentionPolicy } from './policy/drop-retention-policy.ts'
import { getRetentionPolicy, putRetentionPolicy } from './policy/retention-policy.ts'
import type { RetentionDeps } from './retention-deps.ts'
import {
  cancelRetentionRun,
  getRetentionRun,
  listRetentionRuns,
  runRetention,
} from './runs/retention-runs.ts'

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
