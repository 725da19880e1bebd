import { correctClocks } from './clock-skew.ts'
import type { TraceRow, TraceTree, TreeNode } from './contract.ts'
import { emptyNode } from './empty-node.ts'
import { linkParents } from './link-parents.ts'
import { rollUp } from './roll-up.ts'
import { measureTimes } from './self-times.ts'
import { byStart } from './sibling-order.ts'
import { walkInOrder } from './walk-in-order.ts'

/**
 * Builds the tree of a trace, or of several, of its observations in any order; pure. It takes
 * O(n log n) and never recurses. Observations whose parent is not there hang below a synthetic root
 * of their trace, as do circles of parents where they are cut: at their earliest member. Where clocks
 * differ, times are corrected like Jaeger does, and marked; `keep_clocks` leaves them as they are.
 */
export function buildTree(
  rows: readonly TraceRow[],
  options: { keep_clocks?: boolean } = {},
): TraceTree {
  const origin_ns = earliest(rows)
  const nodes = rows.map((row) => nodeOf(row, origin_ns)).sort(byStart)
  const linked = linkParents(nodes)
  if (!options.keep_clocks) correctClocks(linked.roots)
  const tree = { ...walkInOrder(linked.roots), origin_ns }
  measureTimes(tree.nodes)
  rollUp(tree.nodes)
  return tree
}

function earliest(rows: readonly TraceRow[]): bigint {
  let least: bigint | undefined
  for (const { start_time } of rows) {
    if (least === undefined || start_time < least) least = start_time
  }
  return least ?? 0n
}

function nodeOf(row: TraceRow, origin_ns: bigint): TreeNode {
  const start = Number(row.start_time - origin_ns)
  const end = Number(row.end_time - origin_ns)
  const node = emptyNode({ row, trace_id: row.trace_id, id: row.observation_id })
  if (end < start) node.marks.push('ends_before_start')
  node.start = start
  node.end = Math.max(start, end)
  return node
}
