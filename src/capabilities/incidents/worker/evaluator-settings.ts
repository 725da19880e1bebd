import type { Metrics } from '../../../platform/telemetry/index.ts'

/** Limits and intervals of an evaluator; defaults in `defaultEvaluatorSettings`. */
export type EvaluatorSettings = {
  /** Time after which another process takes the projects of one that ended. */
  lease_ms: number
  /** Interval of claiming projects and renewing leases. */
  claim_ms: number
  /** Interval of looking for due slots and due timers. */
  poll_ms: number
  /** Interval of looking for suppressions and inhibitions that begin or end. */
  muting_ms: number
  /** Interval of looking for ledger events and for event incidents that end. */
  events_ms: number
  /** Wait before a partial slot is evaluated again. */
  partial_ms: number
  /** First and longest wait after a failed measurement. */
  retry_ms: number
  retry_ms_max: number
  /** Maximum time to measure the due slots of a project. */
  measure_ms_max: number
  /** Projects that are evaluated side by side. */
  projects_max: number
  /** Due projects that a look takes, and that wait for their evaluation in memory. */
  due_projects_max: number
  /** Rules in memory, 1–3 KB each. */
  cached_rules_max: number
  /** Rules that are written in one transaction. */
  rules_max: number
  /** Incidents whose timers are applied, per look. */
  timers_max: number
  /** Time without data after which a group is forgotten. */
  forget_after_ms: number
  /** Time for which samples are kept, and the interval of deleting older ones. */
  samples_ms: number
  prune_ms: number
}

const minute_ms = 60_000
const day_ms = 24 * 60 * minute_ms

/** `looptrace rules backtest` reads the samples of 14 days. */
export const defaultEvaluatorSettings: EvaluatorSettings = {
  lease_ms: 30_000,
  claim_ms: 5_000,
  poll_ms: 1_000,
  muting_ms: 2_000,
  events_ms: 3_000,
  partial_ms: 10_000,
  retry_ms: 5_000,
  retry_ms_max: minute_ms,
  measure_ms_max: 30_000,
  projects_max: 8,
  due_projects_max: 256,
  cached_rules_max: 10_000,
  rules_max: 250,
  timers_max: 500,
  forget_after_ms: day_ms,
  samples_ms: 14 * day_ms,
  prune_ms: 10 * minute_ms,
}

/** Metrics of an evaluator. */
export type EvaluatorMeters = ReturnType<typeof evaluatorMeters>

/** Registers the metrics; call once per process. */
export function evaluatorMeters(metrics: Metrics) {
  return {
    evaluations: metrics.counter({
      name: 'looptrace_incident_evaluations_total',
      help: 'Evaluations of incident rules by result: complete, partial, failed.',
      labels: ['result'],
    }),
    duration: metrics.histogram({
      name: 'looptrace_incident_evaluation_seconds',
      help: 'Seconds from reading the due rules of a project to their incidents being stored.',
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 120],
    }),
    leasesLost: metrics.counter({
      name: 'looptrace_incident_leases_lost_total',
      help: 'Evaluations that were not written because another process took the project.',
    }),
    opened: metrics.counter({
      name: 'looptrace_incidents_opened_total',
      help: 'Incidents that this process opened.',
    }),
  }
}
