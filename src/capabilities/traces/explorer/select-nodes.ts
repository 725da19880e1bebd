import { decodeCursor, encodeCursor } from '../../../kernel/pages.ts'
import { problem } from '../../../kernel/problem.ts'
import { byStart, observationKey } from '../tree/build-tree.ts'
import type { TraceTree, TreeNode } from '../tree/contract.ts'

/** A request for nodes: siblings from an index on, and their descendants. */
type SelectionRequest = {
  siblings: readonly TreeNode[]
  from: number
  /** Maximum levels; 1 selects the siblings alone. */
  depth: number
  /** Maximum children of one node. */
  children_max: number
  /** Maximum nodes of the page. */
  nodes_max: number
  /** A node to include first, with its ancestors. */
  target?: TreeNode | undefined
}

type Selection = {
  /** Parents before their children. */
  nodes: readonly TreeNode[]
  /** Number of each node's first children on the page. */
  shown: ReadonlyMap<TreeNode, number>
  /** Index of the first sibling after the page. */
  next: number
}

/** Selects the nodes of a page level by level, from the top; pure. */
export function selectNodes(request: SelectionRequest): Selection {
  const page = openPage(request)
  for (const node of pathTo(request.target, Math.ceil(request.nodes_max / 2))) page.add(node)
  if (request.target !== undefined) page.below([request.target], request.depth)
  const next = page.take(request.siblings, request.from)
  page.below(request.siblings.slice(request.from, next), request.depth - 1)
  const nodes = [...page.nodes].sort((a, b) => a.position - b.position)
  return { nodes, shown: page.shown, next }
}

/** Lists a node and its nearest ancestors, at most `length_max` nodes. */
function pathTo(target: TreeNode | undefined, length_max: number): TreeNode[] {
  const path: TreeNode[] = []
  let node = target ?? null
  while (node !== null && path.length < length_max) {
    path.push(node)
    node = node.parent
  }
  return path
}

function openPage({ children_max, nodes_max }: SelectionRequest) {
  const nodes = new Set<TreeNode>()
  const shown = new Map<TreeNode, number>()
  const add = (node: TreeNode) => {
    if (!nodes.has(node) && nodes.size >= nodes_max) return false
    nodes.add(node)
    return true
  }
  /** Adds siblings from an index while the page has room. Returns the next index. */
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

/** A filter of nodes. Undefined fields match all nodes. */
type NodeFilter = {
  name?: string | undefined
  type?: string | undefined
  status?: string | undefined
  mark?: string | undefined
  /** Observations found by a text search, by `observationKey`. */
  keys?: ReadonlySet<string> | undefined
}

/** Finds the nodes that match a filter, by start and id; never synthetic roots. Pure. */
export function findNodes({ nodes }: TraceTree, filter: NodeFilter): TreeNode[] {
  const { name, type, status, mark, keys } = filter
  return nodes
    .filter(({ row, marks }) => {
      if (row === null) return false
      if (name !== undefined && row.name !== name) return false
      if (type !== undefined && row.type !== type) return false
      if (status !== undefined && row.status !== status) return false
      if (mark !== undefined && !marks.some((each) => each === mark)) return false
      return keys === undefined || keys.has(observationKey(row))
    })
    .sort(byStart)
}

/** Maximum ancestors listed for a found node. */
const path_max = 100

/** Lists the ids of a node’s nearest ancestors, from the top. */
export function pathOf(node: TreeNode): string[] {
  const path: string[] = []
  let above = node.parent
  while (above !== null && path.length < path_max) {
    path.push(above.id)
    above = above.parent
  }
  return path.reverse()
}

/**
 * The node after which a page begins, by start, id and trace, so that nodes that arrive between two pages
 * neither shift nor repeat others. `revision`: of the tree of the first page.
 */
export type PagePosition = {
  /** The node whose children are listed; empty for roots and for filtered nodes. */
  parent: string
  parent_trace: string
  /** Nanoseconds since 1970; null: before the first node. */
  start: bigint | null
  id: string
  trace: string
  revision: string
}

/** Returns the cursor of a position; `list` names the source and filters. */
export function cursorAfterNode(list: string, position: PagePosition): string {
  const { parent, parent_trace, start, id, trace, revision } = position
  const at = start === null ? null : start.toString()
  return encodeCursor(list, [parent, parent_trace, at, id, trace, revision])
}

/** Reads a cursor. Throws `invalid_cursor` for a cursor of another list. */
export function readPageCursor(list: string, cursor: string): PagePosition {
  const [parent, parent_trace, start, id, trace, revision] = decodeCursor(list, cursor, 6)
  const isStart = start === null || (typeof start === 'string' && /^\d{1,19}$/.test(start))
  const isOwner = typeof parent === 'string' && typeof parent_trace === 'string'
  const isNode = typeof id === 'string' && typeof trace === 'string'
  if (isOwner && isStart && isNode && isRevision(revision)) {
    const start_ns = start === null ? null : BigInt(start)
    return { parent, parent_trace, start: start_ns, id, trace, revision }
  }
  throw problem('invalid_cursor', {
    detail: `cursor: got "${cursor.slice(0, 80)}", expected an unchanged next_cursor`,
  })
}

function isRevision(text: unknown): text is string {
  return typeof text === 'string' && /^[\w-]{22}$/.test(text)
}

/** Returns the index after a position in sorted siblings. Times of nodes count from `origin_ns`. */
export function indexAfter(
  nodes: readonly TreeNode[],
  { start, id, trace }: Pick<PagePosition, 'start' | 'id' | 'trace'>,
  origin_ns: bigint,
): number {
  if (start === null) return 0
  const at = Number(start - origin_ns)
  let [low, high] = [0, nodes.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const node = nodes[middle]
    if (node !== undefined && isAfter(node)) high = middle
    else low = middle + 1
  }
  return low

  function isAfter(node: TreeNode): boolean {
    if (node.start !== at) return node.start > at
    return node.id === id ? node.trace_id > trace : node.id > id
  }
}

/** Returns the position of a node in a sorted list. */
export function toPosition(
  { start, id, trace_id }: TreeNode,
  { origin_ns }: Pick<TraceTree, 'origin_ns'>,
) {
  return { start: origin_ns + BigInt(Math.round(start)), id, trace: trace_id }
}
