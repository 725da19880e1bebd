import type { TreeNode } from './contract.ts'
import { emptyRollUp } from './sums.ts'

/** A node of which nothing is known yet. */
export function emptyNode(of: Pick<TreeNode, 'row' | 'trace_id' | 'id'>): TreeNode {
  return {
    ...of,
    parent: null,
    children: [],
    depth: 0,
    position: 0,
    last: 0,
    start: 0,
    end: 0,
    skew: 0,
    marks: [],
    self: 0,
    overlap: 0,
    gap: null,
    usage: 'none',
    cost: 'none',
    rollup: emptyRollUp(),
  }
}
