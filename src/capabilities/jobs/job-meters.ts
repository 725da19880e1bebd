import type { Metrics } from '../../platform/telemetry/index.ts'

/** What the runs of jobs count of themselves. */
export type JobMeters = ReturnType<typeof jobMeters>

/** Registers the metrics; once per process. */
export function jobMeters(metrics: Metrics) {
  return {
    ended: metrics.counter({
      name: 'looptrace_job_attempts_total',
      help: 'Attempts of jobs, by kind and how they ended: succeeded, failed, retried, given_back, lost.',
      labels: ['kind', 'result'],
    }),
    running: metrics.gauge({
      name: 'looptrace_jobs_running',
      help: 'Jobs that this process works on, by kind.',
      labels: ['kind'],
    }),
    duration: metrics.histogram({
      name: 'looptrace_job_attempt_duration_seconds',
      help: 'How long attempts of jobs took, by kind.',
      labels: ['kind'],
      buckets: [0.1, 1, 5, 30, 60, 300, 1_800, 7_200, 36_000],
    }),
  }
}
