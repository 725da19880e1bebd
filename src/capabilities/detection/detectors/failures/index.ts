import type { Detector } from '../../contract.ts'
import { budgets } from './budgets.ts'
import { duplicateEffects } from './duplicate-effects.ts'
import { emptyCompletions } from './empty-completions.ts'
import { finishReasons } from './finish-reasons.ts'
import { orphans } from './orphans.ts'
import { prematureStops } from './premature-stops.ts'
import { providerErrors } from './provider-errors.ts'
import { refusals } from './refusals.ts'
import { successClaims } from './success-claims.ts'
import { toolArguments } from './tool-arguments.ts'
import { toolFailures } from './tool-failures.ts'
import { toolOutages } from './tool-outages.ts'
import { unknownTools } from './unknown-tools.ts'

export { type FailureType, failureTypes } from './failure-types.ts'
export { type RootCause, rootCauseOf } from './root-cause.ts'
export { type TaskState, verdictOf } from './verdict.ts'

/** Every detector of failures, in the order in which they run. */
export const failureDetectors: readonly Detector[] = [
  providerErrors,
  finishReasons,
  refusals,
  emptyCompletions,
  unknownTools,
  toolArguments,
  orphans,
  toolOutages,
  toolFailures,
  successClaims,
  duplicateEffects,
  prematureStops,
  budgets,
]
