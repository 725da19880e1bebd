export { personVerdicts, verdictSchema } from './api/claim-reply.ts'
export type { VerificationRoutesDeps } from './api/contract.ts'
export { startVerification } from './api/start-verification.ts'
export { verificationRoutes } from './api/verification-routes.ts'
export { embeddingsChore } from './knowledge-base/index.ts'
export { openModels } from './models/open-models.ts'
export { verifyQuietTasksChore } from './policy/verify-quiet-tasks.ts'
export { readVerifiedClaims } from './runs/answer-claims.ts'
export {
  type ClaimLabel,
  type ClaimToReview,
  claimLabelsOf,
  claimsToReview,
  putClaimLabels,
} from './runs/claim-labels.ts'
export { overridesOf } from './runs/claims-store.ts'
export { endLostRunsChore } from './runs/lost-runs.ts'
export { openSpend } from './runs/paid-calls.ts'
export { runMeters } from './runs/run-meters.ts'
export { verificationHandler } from './runs/run-verification.ts'
export { openRunsRetention } from './runs/runs-retention.ts'
export { toVerifiedAnswer } from './runs/verified-answer.ts'
export { openValueCalibration } from './trust/value-calibration-store.ts'
export { openVerifiers } from './verifiers/index.ts'
export { openWebAccess } from './web/open-web-access.ts'
