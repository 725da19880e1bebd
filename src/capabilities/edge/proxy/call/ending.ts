import type { Problem } from '../../../../kernel/problem.ts'
import type { Outcome } from '../../../../model/observation.ts'

/** How a call ended. */
export type Ending = {
  outcome: Outcome
  status_code: number
  error_type: string
  error_message: string
}

/** The provider's answer came whole. */
export function complete(status_code: number): Ending {
  return { outcome: 'complete', status_code, error_type: '', error_message: '' }
}

/** True when the provider had its say, whatever it said. */
export function endedWell({ outcome }: Ending): boolean {
  return outcome === 'complete' || outcome === 'provider_error'
}

/** The ending that an error of ours makes. */
export function endingOf(outcome: Outcome, fault: Problem): Ending {
  return {
    outcome,
    status_code: fault.status,
    error_type: fault.code,
    error_message: fault.message,
  }
}
