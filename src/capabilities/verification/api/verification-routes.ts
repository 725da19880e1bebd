import { openWaitSlots } from '../../../kernel/wait-slots.ts'
import type { Route } from '../../../platform/http/index.ts'
import { getCalibration } from './calibration/calibration.ts'
import { fitVerifiers } from './calibration/fit.ts'
import { overrideClaim, removeOverride } from './claims/override.ts'
import { getVerificationConfig } from './config.ts'
import type { VerificationRoutesDeps } from './contract.ts'
import { verificationPolicyRoutes } from './policy.ts'
import { listVerificationCalls } from './runs/calls.ts'
import { exportRun } from './runs/export.ts'
import { recomputeRun } from './runs/recompute.ts'
import { getVerificationRun } from './runs/run.ts'
import { getTaskVerification } from './tasks/task.ts'
import { postVerifyTask } from './tasks/verify.ts'
import { cancelVerification } from './traces/cancel.ts'
import { listTraceClaims } from './traces/claims.ts'
import { diffVerifications } from './traces/diff.ts'
import { estimateVerification } from './traces/estimate.ts'
import { listTraceRuns } from './traces/runs.ts'
import { getVerificationSummary } from './traces/summary.ts'
import { getTraceVerification } from './traces/trace.ts'
import { postVerifyTrace } from './traces/verify.ts'

/** The routes of runs, their results, calibrations, and the policy. */
export function verificationRoutes(deps: VerificationRoutesDeps): Route[] {
  const starting = { ...deps, waits: openWaitSlots('waiting verifications') }
  return [
    postVerifyTrace(starting),
    getTraceVerification(deps),
    getVerificationSummary(deps),
    listTraceClaims(deps),
    listTraceRuns(deps),
    diffVerifications(deps),
    estimateVerification(deps),
    cancelVerification(deps),
    getVerificationRun(deps),
    listVerificationCalls(deps),
    recomputeRun(deps),
    exportRun(deps),
    overrideClaim(deps),
    removeOverride(deps),
    postVerifyTask(starting),
    getTaskVerification(deps),
    getCalibration(deps),
    fitVerifiers(deps),
    getVerificationConfig(deps),
    ...verificationPolicyRoutes(deps),
  ]
}
