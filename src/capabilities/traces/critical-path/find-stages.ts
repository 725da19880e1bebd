import type { TreeNode } from '../tree/contract.ts'

/**
 * A node's time, cut to that of those above it, and the children that it waited for one after the
 * other. What lies between them is the node's own.
 */
export type Stage = {
  node: TreeNode
  start: number
  end: number
  /** In the order of time; they don't overlap. */
  picked: readonly TreeNode[]
  /** The others that ran within it and that it waited for, in no order. */
  beside: readonly TreeNode[]
}

/**
 * What each node below a root waited for, parents first; nodes wholly outside their parents are left
 * out, with all below them. From the end back it is ever the child that ends last before the cursor
 * (CRISP, USENIX ATC 2022); what takes messages of a queue runs beside whoever sent them. Takes
 * O(n log n), and no recursion.
 */
export function findStages(root: TreeNode): Map<TreeNode, Stage> {
  const stages = new Map<TreeNode, Stage>()
  const open = [{ node: root, start: root.start, end: root.end }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, start, end } = next
    const stage = { node, start, end, ...chosenAmong(within(next)) }
    stages.set(node, stage)
    for (const child of [...stage.picked, ...stage.beside]) open.push(cut(child, next))
  }
  return stages
}

type Span = { node: TreeNode; start: number; end: number }

function cut(node: TreeNode, { start, end }: Pick<Span, 'start' | 'end'>): Span {
  return { node, start: Math.max(node.start, start), end: Math.min(node.end, end) }
}

/** Children that a node waits for, cut to its time, the last to end first. */
function within(parent: Span): Span[] {
  const sends = parent.node.row?.span_kind === 'producer'
  const spans: Span[] = []
  for (const child of parent.node.children) {
    if (sends && child.row?.span_kind === 'consumer') continue
    const span = cut(child, parent)
    if (span.end >= span.start) spans.push(span)
  }
  return spans.sort(
    (a, b) => b.end - a.end || b.node.end - a.node.end || b.node.position - a.node.position,
  )
}

function chosenAmong(spans: readonly Span[]): Pick<Stage, 'picked' | 'beside'> {
  const picked: TreeNode[] = []
  const beside: TreeNode[] = []
  let cursor = Number.POSITIVE_INFINITY
  for (const { node, start, end } of spans) {
    if (end > cursor || start === end) beside.push(node)
    else {
      picked.push(node)
      cursor = start
    }
  }
  return { picked: picked.reverse(), beside }
}
