/** Bounds of asking the judge; every one has a default in `defaultJudgeWork`. */
export type JudgeWork = {
  /** A running task is not asked about before it had no call for so long. */
  rest_ms: number
  /** How often it is looked whether tasks are due. */
  poll_ms: number
  /** Questions of one process at a time. */
  asks_max: number
  /** What was claimed and not ended by then is asked about by whoever looks next. */
  lease_ms: number
  /** Waits after a failure: doubled from the first to the second figure. */
  retry_ms: number
  retry_ms_max: number
  /** Failures after which the same answers are not asked about again. */
  failures_max: number
}

/** The lease is longer than the longest time-out of a question, a minute, and what is read for it. */
export const defaultJudgeWork: JudgeWork = {
  rest_ms: 10_000,
  poll_ms: 1_000,
  asks_max: 4,
  lease_ms: 120_000,
  retry_ms: 5_000,
  retry_ms_max: 300_000,
  failures_max: 3,
}
