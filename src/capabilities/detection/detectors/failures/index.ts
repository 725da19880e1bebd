import type { Detector } from '../../contract.ts'

export { type FailureType, failureTypes } from './failure-types.ts'
export { type RootCause, rootCauseOf } from './root-cause.ts'
export { type TaskState, verdictOf } from './verdict.ts'

/** Every detector of failures, in the order in which they run. */
export const failureDetectors: readonly Detector[] = []
