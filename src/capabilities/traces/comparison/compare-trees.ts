import type { TraceTree, TreeNode } from '../tree/contract.ts'

/** A node of one trace beside the one that does the same in the other; at least one is there. */
export type Pair = {
  left: TreeNode | null
  right: TreeNode | null
  /** 0 for roots. */
  depth: number
}

/**
 * Lays two trees side by side; pure. Below nodes that belong together, the n-th child of a type and
 * name on the left belongs to the n-th of them on the right. What has no counterpart stands alone,
 * with all below it. Pairs come parents first, by the order of the left, then what the right has
 * more. O(n), and no recursion.
 */
export function compareTrees(left: TraceTree, right: TraceTree): Pair[] {
  const pairs: Pair[] = []
  const open = pairsOf(left.roots, right.roots, 0).reverse()
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    pairs.push(pair)
    const below = pairsOf(pair.left?.children ?? [], pair.right?.children ?? [], pair.depth + 1)
    for (const next of below.reverse()) open.push(next)
  }
  return pairs
}

/** How the sides of a pair stand to each other; `changed`: it ended otherwise. */
export function stateOf({ left, right }: Pair): 'added' | 'removed' | 'changed' | 'matched' {
  if (left === null) return 'added'
  if (right === null) return 'removed'
  return left.row?.status === right.row?.status ? 'matched' : 'changed'
}

function pairsOf(left: readonly TreeNode[], right: readonly TreeNode[], depth: number): Pair[] {
  const waiting = Map.groupBy(right, operationKey)
  const taken = new Map<string, number>()
  const matched = new Set<TreeNode>()
  const pairs = left.map((node): Pair => {
    const key = operationKey(node)
    const place = taken.get(key) ?? 0
    taken.set(key, place + 1)
    const other = waiting.get(key)?.[place] ?? null
    if (other !== null) matched.add(other)
    return { left: node, right: other, depth }
  })
  const added = right.filter((node) => !matched.has(node))
  return [...pairs, ...added.map((node): Pair => ({ left: null, right: node, depth }))]
}

/** What a node does. */
export function operationKey({ row }: TreeNode): string {
  return row === null ? 'synthetic ' : `${row.type} ${row.name}`
}
