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
