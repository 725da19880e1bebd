import type { CacheBounds } from './history-cache.ts'

/** Bounds of the worker's detection; every one has a default in `defaultDetectionWork`. */
export type DetectionWork = CacheBounds & {
  /** How often it is looked whether tasks are due. */
  poll_ms: number
  /** Tasks claimed at once. */
  claim_tasks_max: number
  /** What was claimed and not ended by then is claimed by whoever looks next. */
  lease_ms: number
  /** Between two looks at one task, at least; and this many times what the last one took. */
  rest_ms: number
  rest_factor: number
  /** Of its time detection works so much, at most; the rest is for whoever shares the process. */
  busy_share: number
  /** Waits after a failure: doubled from the first to the second figure. */
  retry_ms: number
  retry_ms_max: number
  /** Failures in a row after which a task waits until something comes for it. */
  failures_max: number
}

/**
 * A user sees a finding within 5 s of the last call: up to 2 s until the call is stored, a poll, a
 * rest. 48 MiB hold some hundred tasks of a hundred steps.
 */
export const defaultDetectionWork: DetectionWork = {
  poll_ms: 250,
  claim_tasks_max: 8,
  lease_ms: 30_000,
  rest_ms: 500,
  rest_factor: 2,
  busy_share: 0.25,
  retry_ms: 1_000,
  retry_ms_max: 300_000,
  failures_max: 12,
  bytes_max: 48 * 1024 * 1024,
  histories_max: 5_000,
  idle_ms_max: 600_000,
}
