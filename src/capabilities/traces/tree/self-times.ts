import type { TreeNode } from './contract.ts'

/**
 * Tells each node's own time from that of its children, cut to it: the node's duration is its own
 * time plus theirs less their overlap. Children are sorted by start.
 */
export function measureTimes(nodes: readonly TreeNode[]): void {
  for (const node of nodes) measureNode(node)
}

function measureNode(node: TreeNode): void {
  let busyUntil = node.start
  let covered = 0
  let sum = 0
  for (const child of node.children) {
    const from = Math.max(child.start, node.start)
    const to = Math.min(child.end, node.end)
    if (isOutside(child, node)) child.marks.push('outside_parent')
    if (to <= from) continue
    keepLonger(node, busyUntil, from)
    sum += to - from
    covered += Math.max(0, to - Math.max(from, busyUntil))
    busyUntil = Math.max(busyUntil, to)
  }
  if (node.children.length > 0) keepLonger(node, busyUntil, node.end)
  node.self = node.end - node.start - covered
  node.overlap = sum - covered
}

function isOutside(child: TreeNode, node: TreeNode): boolean {
  return node.row !== null && (child.end < node.start || child.start > node.end)
}

function keepLonger(node: TreeNode, start: number, end: number): void {
  const longest = node.gap === null ? 0 : node.gap.end - node.gap.start
  if (end - start > longest) node.gap = { start, end }
}
