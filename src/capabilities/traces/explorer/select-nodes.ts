import type { TreeNode } from '../tree/contract.ts'

/** Which nodes a page is to have: a list of siblings from a place on, and what is below them. */
export type Selecting = {
  siblings: readonly TreeNode[]
  from: number
  /** Levels that are shown: 1 shows the siblings alone. */
  depth: number
  /** Children of one node, at most. */
  children_max: number
  /** Nodes of the page, at most. */
  nodes_max: number
  /** A node to be shown whatever else is, with those above it. */
  target?: TreeNode | undefined
}

export type Selection = {
  /** Parents before their children. */
  nodes: readonly TreeNode[]
  /** How many of a node's children, from the first on, the page has. */
  shown: ReadonlyMap<TreeNode, number>
  /** The place among the siblings behind the last one of the page. */
  next: number
}

/** Fills a page level by level, so that what is near the top comes first; pure. */
export function selectNodes(asked: Selecting): Selection {
  const page = openPage(asked)
  for (const node of wayTo(asked.target, Math.ceil(asked.nodes_max / 2))) page.add(node)
  if (asked.target !== undefined) page.below([asked.target], asked.depth)
  const taken = page.take(asked.siblings, asked.from)
  page.below(asked.siblings.slice(asked.from, taken), asked.depth - 1)
  const nodes = [...page.nodes].sort((a, b) => a.position - b.position)
  return { nodes, shown: page.shown, next: taken }
}

/** From the top to the node; of a long way the part near the node. */
function wayTo(target: TreeNode | undefined, length_max: number): TreeNode[] {
  const way: TreeNode[] = []
  let node = target ?? null
  while (node !== null && way.length < length_max) {
    way.push(node)
    node = node.parent
  }
  return way
}

function openPage({ children_max, nodes_max }: Selecting) {
  const nodes = new Set<TreeNode>()
  const shown = new Map<TreeNode, number>()
  const add = (node: TreeNode) => {
    if (!nodes.has(node) && nodes.size >= nodes_max) return false
    nodes.add(node)
    return true
  }
  /** Takes siblings from a place on while there is room; answers the place behind the last. */
  const take = (siblings: readonly TreeNode[], from: number) => {
    let at = from
    while (at < siblings.length && at - from < children_max) {
      const node = siblings[at]
      if (node === undefined || !add(node)) break
      at += 1
    }
    return at
  }
  const below = (tops: readonly TreeNode[], depth: number) => {
    let level = tops
    for (let left = depth; left > 0 && level.length > 0 && nodes.size < nodes_max; left -= 1) {
      const next: TreeNode[] = []
      for (const node of level) {
        if (!shown.has(node)) shown.set(node, take(node.children, 0))
        next.push(...node.children.slice(0, shown.get(node)))
      }
      level = next
    }
  }
  return { nodes, shown, add, take, below }
}
