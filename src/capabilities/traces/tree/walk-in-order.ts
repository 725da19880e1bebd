import type { TreeNode } from './contract.ts'
import { byStart } from './sibling-order.ts'

/** Sorts siblings and gives each node its depth and its place, parents before children. */
export function walkInOrder(roots: readonly TreeNode[]): { nodes: TreeNode[]; roots: TreeNode[] } {
  const sorted = [...roots].sort(byStart)
  const nodes: TreeNode[] = []
  const open = sorted.toReversed()
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    node.position = nodes.length
    node.last = node.position
    node.depth = node.parent === null ? 0 : node.parent.depth + 1
    nodes.push(node)
    if (!isSorted(node.children)) node.children.sort(byStart)
    for (let at = node.children.length - 1; at >= 0; at -= 1) {
      const child = node.children[at]
      if (child !== undefined) open.push(child)
    }
  }
  for (let at = nodes.length - 1; at >= 0; at -= 1) {
    const node = nodes[at]
    if (node?.parent) node.parent.last = Math.max(node.parent.last, node.last)
  }
  return { nodes, roots: sorted }
}

function isSorted(nodes: readonly TreeNode[]): boolean {
  return nodes.every((node, at) => {
    const before = nodes[at - 1]
    return before === undefined || byStart(before, node) <= 0
  })
}
