import type { Metrics } from '../../../platform/telemetry/index.ts'
import type { CacheBounds } from './task-history.ts'

/** Limits of the worker; defaults in `defaultDetectionWork`. */
export type DetectionWork = CacheBounds & {
  /** Interval of looking for due tasks. */
  poll_ms: number
  /** Maximum tasks claimed at once. */
  claim_tasks_max: number
  /** Time after which a batch gives its remaining tasks back, so that other projects have their turn. */
  batch_ms_max: number
  /** Lease of a claim; afterwards another worker can claim the task. */
  lease_ms: number
  /**
   * Minimum time between two analyses of a task, and as a multiple of the last analysis' duration.
   */
  rest_ms: number
  rest_factor: number
  /**
   * Maximum share of time that detection works; the rest is left to the other parts of the process.
   */
  busy_share: number
  /** Back-off after a failure: first and longest delay. */
  retry_ms: number
  retry_ms_max: number
  /** Consecutive failures after which a task waits for its next change. */
  failures_max: number
}

/**
 * Findings appear within 5 s of the last call: up to 2 s until the call is stored, one poll
 * interval and one rest. 48 MiB hold some hundred tasks of a hundred steps.
 */
export const defaultDetectionWork: DetectionWork = {
  poll_ms: 250,
  claim_tasks_max: 16,
  batch_ms_max: 1_000,
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

/** Metrics of the worker. */
export type DetectionMeters = ReturnType<typeof detectionMeters>

/** Registers the metrics; call once per process. */
export function detectionMeters(metrics: Metrics) {
  return {
    tasks: metrics.counter({
      name: 'looptrace_detection_tasks_total',
      help: 'Analysed tasks by result: written, stale, gone, failed, put_off.',
      labels: ['result'],
    }),
    findings: metrics.counter({
      name: 'looptrace_findings_total',
      help: 'Changes of findings by kind and change: opened, updated, recovered, withdrawn.',
      labels: ['kind', 'change'],
    }),
    detectorFailures: metrics.counter({
      name: 'looptrace_detector_failures_total',
      help: 'Runs on which a detector threw; other detectors are not affected.',
      labels: ['detector'],
    }),
    rebuilt: metrics.counter({
      name: 'looptrace_detection_histories_read_total',
      help: 'Task histories read: `on` extends a cached history, `anew` starts from the beginning.',
      labels: ['how'],
    }),
    lag: metrics.histogram({
      name: 'looptrace_detection_lag_seconds',
      help: 'Seconds from a task becoming due to its findings being stored.',
      buckets: [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 1_800],
    }),
    busy: metrics.counter({
      name: 'looptrace_detection_busy_seconds_total',
      help: 'Seconds that detection worked, including waits for stores.',
    }),
  }
}
