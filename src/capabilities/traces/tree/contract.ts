import type { Observation } from '../../../model/observation.ts'

/** Tokens in disjoint buckets, as observations have them. */
export const tokenBuckets = [
  'input_uncached_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_visible_tokens',
  'reasoning_tokens',
] as const
export type TokenBucket = (typeof tokenBuckets)[number]

/** What a tree is built of: an observation without what was said. */
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
  | TokenBucket
>

/** What is not as it should be with a node; nothing of it is repaired in silence. */
export const marks = [
  /** It was made to hold observations whose parent is not there. */
  'synthetic',
  /** Its parent is not among the observations. */
  'orphan',
  /** It is its own ancestor: here the circle was cut. */
  'cycle',
  /** Its parent was found in another trace. */
  'relinked',
  /** It ends before it starts: it is taken to last no time. */
  'ends_before_start',
  /** Another observation of the trace has its id; children are those of the earliest. */
  'repeated_id',
  /** Its clock differs from its parent's: its times were moved by `skew`. */
  'clock_skew',
  /** Its clock differs from its parent's by more than is corrected. */
  'clock_skew_too_large',
  /** It runs wholly before or after its parent. */
  'outside_parent',
  /** What it says it used is not what those below it used together. */
  'aggregate_differs',
] as const
export type Mark = (typeof marks)[number]

/** `own`: counted. `aggregate`: it repeats what is counted below it. `none`: it says nothing. */
export type Share = 'own' | 'aggregate' | 'none'

/** Sums over a node and all below it, each thing counted once. */
export type RollUp = Record<TokenBucket, number> & {
  observations: number
  /** Calls of models; one that two instruments told of is one. */
  calls: number
  errors: number
  cancelled: number
  total_tokens: number
  nano_dollars: bigint
  /** Calls without a known cost. */
  unpriced_calls: number
}

/** A time in which a node ran and none of its children did. */
export type Gap = { start: number; end: number }

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
  /** Its place in the walk that shows each parent before its children, and that of its last one. */
  position: number
  last: number
  start: number
  end: number
  /** By how much its times were moved: corrected less recorded. */
  skew: number
  marks: Mark[]
  /** In which none of its children ran. */
  self: number
  /** By how much its children, cut to its own time, ran side by side. */
  overlap: number
  /** The longest such time, if it has children. */
  gap: Gap | null
  usage: Share
  cost: Share
  rollup: RollUp
}

/** A forest; `nodes` are in the order in which each parent is shown before its children. */
export type TraceTree = {
  nodes: readonly TreeNode[]
  roots: readonly TreeNode[]
  /** The earliest start; 0 when there is no node. */
  origin_ns: bigint
}
