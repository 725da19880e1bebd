/** Limits of what a run reads. */
export const readLimits = {
  /** Characters of an answer. */
  answer_chars: 200_000,
  /** Bytes of the contents of observations. */
  content_bytes: 8 * 1024 * 1024,
  /** Earlier tasks of the conversation. */
  earlier_tasks: 20,
  /** Observations listed, of the task and earlier ones. */
  versions: 50_000,
  /** Model calls of the trace that are searched for the answer, latest first. */
  answers: 64,
} as const

/** Limits of a run. */
export const runLimits = {
  /** Time of a run; verifiers that have not ended by then are `failed`. */
  run_ms: 120_000,
  /** Time of one check of a claim. */
  check_ms: 30_000,
  /** Interval of the check whether the run was cancelled. */
  cancel_poll_ms: 500,
  /** Claims of an answer; the others are named in the gaps. */
  claims: 500,
  /** Claims that a verifier with priced model calls checks. */
  model_claims: 60,
  /** Checks of one verifier at a time: free ones, and ones that call servers. */
  checks: { free: 8, search: 4, model: 4 },
} as const

/** A run cannot verify its trace. The code and message are stored in its record. */
export class RunRefused extends Error {
  override readonly name = 'RunRefused'
  readonly code: RunFault

  constructor(code: RunFault, message: string) {
    super(message)
    this.code = code
  }
}

/**
 * Why a run failed. `timed_out`, `verifiers_failed` and `worker_lost` may pass with another run.
 */
export type RunFault =
  | 'trace_not_found'
  | 'content_not_stored'
  | 'no_answer'
  | 'timed_out'
  | 'verifiers_failed'
  | 'worker_lost'
  | 'internal'
