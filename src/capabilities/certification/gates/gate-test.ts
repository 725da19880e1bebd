import type { Bounds } from '../statistics/bounds.ts'

/** Why a gate is inconclusive. */
export type GateReason =
  | 'no_samples'
  | 'too_few_samples'
  | 'too_few_clusters'
  | 'too_few_repeats'
  | 'too_many_groups'
  | 'broken_values'
  | 'no_variance'
  | 'no_baseline'
  | 'missing_group'
  | 'interval_spans_limit'

/** The test of one gate, or of one of its groups. */
export type GateTest = {
  group: string | null
  n: number
  /** Samples that count; null for means. */
  k: number | null
  clusters: number
  /** Samples of the baseline; null unless it is a regression. */
  baseline_n: number | null
  estimate: number | null
  bounds: Bounds
  /** Why the gate is inconclusive; null otherwise. */
  reason: GateReason | null
  warnings?: readonly string[]
  /** Returns whether the limit is reached, or missed, with an error of `tail`. */
  isReached(tail: number): boolean
  isMissed(tail: number): boolean
}

/** Tasks that a metric leaves out though it should measure them. */
export type Missing = 'running' | 'unanalysed' | 'unchecked' | 'unverified' | 'unpriced'

/** Names of too many missing tasks, as obstacle and as warning. */
export type MissingTasks = `many_${Missing}_tasks`

/** Reasons that prevent `certified` even if all gates pass. */
export type Obstacle =
  | 'incomplete_ledger'
  | 'incomplete_baseline'
  | 'stale_evidence'
  | 'too_much_evidence'
  | 'eval_run_missing'
  | 'attempts_exhausted'
  | 'missing_group'
  | 'late_evidence'
  | 'equal_evidence'
  | 'evidence_jump'
  | 'late_baseline'
  | 'equal_baseline'
  | 'baseline_jump'
  | MissingTasks
