import { nanoDollarsFrom } from '../../../kernel/dollars.ts'
import type { TraceRow, TraceTree, TreeNode } from '../tree/contract.ts'
import { totalOf } from '../tree/roll-up.ts'

/** A node of one trace and its counterpart in the other; at least one is not null. */
export type Pair = {
  left: TreeNode | null
  right: TreeNode | null
  /** 0 for roots. */
  depth: number
}

/**
 * Matches the nodes of two trees; pure. Below a matched pair, the n-th child of a type and name on
 * the left matches the n-th one on the right. A node without a counterpart is a pair of its own, as
 * are its descendants. Pairs come parents first, in the order of the left, then the rest of the
 * right. Takes O(n), without recursion.
 */
export function compareTrees(left: TraceTree, right: TraceTree): Pair[] {
  const pairs: Pair[] = []
  const open = matchNodes(left.roots, right.roots, 0).reverse()
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    pairs.push(pair)
    const below = matchNodes(pair.left?.children ?? [], pair.right?.children ?? [], pair.depth + 1)
    for (const next of below.reverse()) open.push(next)
  }
  return pairs
}

/** Compares the sides of a pair. `changed`: their statuses differ. */
export function comparePair({ left, right }: Pair): 'added' | 'removed' | 'changed' | 'matched' {
  if (left === null) return 'added'
  if (right === null) return 'removed'
  return left.row?.status === right.row?.status ? 'matched' : 'changed'
}

function matchNodes(left: readonly TreeNode[], right: readonly TreeNode[], depth: number): Pair[] {
  const waiting = Map.groupBy(right, operationKey)
  const used = new Map<string, number>()
  const matched = new Set<TreeNode>()
  const pairs = left.map((node): Pair => {
    const key = operationKey(node)
    const index = used.get(key) ?? 0
    used.set(key, index + 1)
    const other = waiting.get(key)?.[index] ?? null
    if (other !== null) matched.add(other)
    return { left: node, right: other, depth }
  })
  const added = right.filter((node) => !matched.has(node))
  return [...pairs, ...added.map((node): Pair => ({ left: null, right: node, depth }))]
}

/** Returns the key of a node's operation: its type and name. */
function operationKey({ row }: TreeNode): string {
  return row === null ? 'synthetic ' : `${row.type} ${row.name}`
}

/** Sums over a trace's observations of one type and name; times in nanoseconds. */
export type OperationSums = {
  observations: number
  errors: number
  duration: number
  self: number
  tokens: number
  nano_dollars: bigint
}

type ComparedOperation = {
  type: string
  name: string
  left: OperationSums
  right: OperationSums
}

/** Sums both traces by type and name, with the largest difference of self times first. */
export function compareOperations(left: TraceTree, right: TraceTree): ComparedOperation[] {
  const found = new Map<string, ComparedOperation>()
  const addAll = ({ nodes }: TraceTree, side: 'left' | 'right') => {
    for (const node of nodes) {
      const { row } = node
      if (row === null) continue
      const key = operationKey(node)
      const known = found.get(key) ?? { type: row.type, name: row.name, ...bothEmpty() }
      found.set(key, known)
      addNode(known[side], node, row)
    }
  }
  addAll(left, 'left')
  addAll(right, 'right')
  const difference = (each: ComparedOperation) => Math.abs(each.right.self - each.left.self)
  return [...found.values()].sort((a, b) => difference(b) - difference(a))
}

function addNode(sums: OperationSums, { start, end, self, usage, cost }: TreeNode, row: TraceRow) {
  sums.observations += 1
  sums.errors += row.status === 'error' ? 1 : 0
  sums.duration += end - start
  sums.self += self
  sums.tokens += usage === 'own' ? totalOf(row) : 0
  sums.nano_dollars += cost === 'own' ? nanoDollarsFrom(row.cost_usd ?? '0') : 0n
}

function bothEmpty(): Pick<ComparedOperation, 'left' | 'right'> {
  const empty = () => ({
    observations: 0,
    errors: 0,
    duration: 0,
    self: 0,
    tokens: 0,
    nano_dollars: 0n,
  })
  return { left: empty(), right: empty() }
}
