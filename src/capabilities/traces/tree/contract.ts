import type { Observation } from '../../../model/observation.ts'

/** The disjoint token buckets of observations. */
export const tokenBuckets = [
  'input_uncached_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_visible_tokens',
  'reasoning_tokens',
] as const

type TokenBucket = (typeof tokenBuckets)[number]

/** A row of a tree: an observation without its content. */
export type TraceRow = Pick<
  Observation,
  | 'trace_id'
  | 'observation_id'
  | 'parent_observation_id'
  | 'type'
  | 'name'
  | 'start_time'
  | 'end_time'
  | 'status'
  | 'source'
  | 'service_name'
  | 'span_kind'
  | 'task_id'
  | 'task_name'
  | 'cost_usd'
  | 'price_partial'
  | 'counted_with'
  | TokenBucket
>

/** Anomalies of a node. Every repair of a tree is marked. */
export const marks = [
  /** A root made for observations whose parent is missing. */
  'synthetic',
  /** The parent is missing. */
  'orphan',
  /** A root whose parent is stored but not in the tree, because it belongs to another task. */
  'outer_parent',
  /** The node is its own ancestor; the cycle was cut here. */
  'cycle',
  /** The parent was found in another trace. */
  'relinked',
  /** The node ends before it starts; its duration counts as 0. */
  'ends_before_start',
  /** An earlier observation of the trace has the same id, and gets the children. */
  'repeated_id',
  /** The clock differs from the parent's; the times were moved by `skew`. */
  'clock_skew',
  /** The clock differs from the parent's by more than the maximum correction. */
  'clock_skew_too_large',
  /** The node runs wholly before or after its parent. */
  'outside_parent',
  /** The reported usage differs from the sum over the descendants. */
  'aggregate_differs',
] as const

export type Mark = (typeof marks)[number]

/** `own`: counted. `aggregate`: repeats the descendants' usage. `none`: reports no usage. */
type Share = 'own' | 'aggregate' | 'none'

/** Sums over a node and its descendants, each item counted once. */
export type RollUp = Record<TokenBucket, number> & {
  observations: number
  /** Model calls. A call reported by two instruments counts once. */
  calls: number
  errors: number
  cancelled: number
  total_tokens: number
  nano_dollars: bigint
  /** Calls without a known cost. */
  unpriced_calls: number
  /** Costs in the sum with parts that have no rate of their own. */
  merged_calls: number
  partially_priced_calls: number
}

/** A period in which a node ran and none of its children did. */
type Gap = { start: number; end: number }

/** A node; times are nanoseconds after the tree's `origin_ns`, corrected where clocks differ. */
export type TreeNode = {
  /** Null for a synthetic root. */
  row: TraceRow | null
  trace_id: string
  id: string
  parent: TreeNode | null
  /** By start, then id. */
  children: TreeNode[]
  /** 0 for roots. */
  depth: number
  /** Index in the walk, parents before children, and index of the last descendant. */
  position: number
  last: number
  start: number
  end: number
  /** Correction of the times: corrected minus recorded. */
  skew: number
  marks: Mark[]
  /** Time in which no child ran. */
  self: number
  /** Time in which children, cut to the node, overlapped. */
  overlap: number
  /** The longest gap; null without children. */
  gap: Gap | null
  usage: Share
  cost: Share
  rollup: RollUp
}

/** A forest; `nodes` come parents before children. */
export type TraceTree = {
  nodes: readonly TreeNode[]
  roots: readonly TreeNode[]
  /** The earliest start; 0 without nodes. */
  origin_ns: bigint
}
