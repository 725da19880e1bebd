import type { Route } from '../../../platform/http/index.ts'
import { deleteLegalHold, listLegalHolds, postLegalHold } from './holds/legal-holds.ts'
import { getRetentionPolicy, putRetentionPolicy } from './policy/retention-policy.ts'
import type { RetentionDeps } from './retention-deps.ts'
import { getRetentionRun, listRetentionRuns, runRetention } from './runs/retention-runs.ts'

/** The routes of policies, legal holds and runs. */
export function retentionRoutes(deps: RetentionDeps): Route[] {
  return [
    getRetentionPolicy(deps),
    putRetentionPolicy(deps),
    runRetention(deps),
    listRetentionRuns(deps),
    getRetentionRun(deps),
    listLegalHolds(deps),
    postLegalHold(deps),
    deleteLegalHold(deps),
  ]
}
