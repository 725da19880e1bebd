import type { Metrics } from '../../../platform/telemetry/index.ts'
import type { CacheBounds } from './task-history.ts'

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

/** What the worker's detection counts of itself. */
export type DetectionMeters = ReturnType<typeof detectionMeters>

/** Registers the metrics; once per process. */
export function detectionMeters(metrics: Metrics) {
  return {
    tasks: metrics.counter({
      name: 'looptrace_detection_tasks_total',
      help: 'Tasks that were looked at, by how it ended: written, stale, gone, failed, put_off.',
      labels: ['result'],
    }),
    findings: metrics.counter({
      name: 'looptrace_findings_total',
      help: 'Changes of findings, by kind and change: opened, updated, recovered, withdrawn.',
      labels: ['kind', 'change'],
    }),
    detectorFailures: metrics.counter({
      name: 'looptrace_detector_failures_total',
      help: 'Runs on which a detector threw, which takes only itself down.',
      labels: ['detector'],
    }),
    rebuilt: metrics.counter({
      name: 'looptrace_detection_histories_read_total',
      help: 'Histories of tasks that were read: on from what was known, or anew from the beginning.',
      labels: ['how'],
    }),
    lag: metrics.histogram({
      name: 'looptrace_detection_lag_seconds',
      help: 'From a task being due to its findings being stored.',
      buckets: [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 1_800],
    }),
    busy: metrics.counter({
      name: 'looptrace_detection_busy_seconds_total',
      help: 'Time that detection was at work, waiting for stores included.',
    }),
  }
}
