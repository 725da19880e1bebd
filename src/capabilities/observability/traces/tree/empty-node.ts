import type { TreeNode } from './contract.ts'

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
    rollup: {
      observations: 0,
      calls: 0,
      errors: 0,
      cancelled: 0,
      input_uncached_tokens: 0,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
      output_visible_tokens: 0,
      reasoning_tokens: 0,
      total_tokens: 0,
      nano_dollars: 0n,
      unpriced_calls: 0,
    },
  }
}
