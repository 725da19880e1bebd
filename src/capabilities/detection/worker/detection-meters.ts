import type { Metrics } from '../../../platform/telemetry/index.ts'

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
