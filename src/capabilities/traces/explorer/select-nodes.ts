import { type RunDeps, readRecords } from '../../query/index.ts'
import type { TimeWindow } from '../../storage/index.ts'
import { isoWindowOf, traceFilter } from '../read-trace-rows.ts'
import { byStart } from '../tree/build-tree.ts'
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
  /** Ids found by a text search. */
  ids?: ReadonlySet<string> | undefined
}

/** Finds the nodes that match a filter, by start and id; never synthetic roots. Pure. */
export function findNodes({ nodes }: TraceTree, filter: NodeFilter): TreeNode[] {
  const { name, type, status, mark, ids } = filter
  return nodes
    .filter(({ row, id, marks }) => {
      if (row === null) return false
      if (name !== undefined && row.name !== name) return false
      if (type !== undefined && row.type !== type) return false
      if (status !== undefined && row.status !== status) return false
      if (mark !== undefined && !marks.some((each) => each === mark)) return false
      return ids === undefined || ids.has(id)
    })
    .sort(byStart)
}

const plainFields = [
  'name',
  'error_type',
  'error_message',
  'model',
  'model_requested',
  'provider',
  'agent_name',
  'service_name',
]

const contentFields = ['input', 'output']

/** Maximum observations that a search finds; the earliest are kept. */
const found_max = 10_000

/** Finds the observations of a trace with a text in one of their fields; case-sensitive. */
export async function searchText(
  queries: RunDeps,
  request: {
    project_id: string
    trace_id: string
    window: TimeWindow
    text: string
    /** Whether to search inputs and outputs too. */
    content: boolean
    signal: AbortSignal
  },
): Promise<ReadonlySet<string>> {
  const { project_id, trace_id, window, text, content, signal } = request
  const searched = content ? [...plainFields, ...contentFields] : plainFields
  const anyOf = { or: searched.map((field) => ({ field, op: 'contains', value: text })) }
  const { rows, alias } = await readRecords(queries, {
    ...{ project_id, signal },
    rows_max: found_max,
    query_class: 'explorer',
    body: {
      entity: 'observations',
      window: isoWindowOf(window),
      where: { and: [traceFilter([trace_id]), anyOf] },
      select: ['observation_id'],
      order_by: [{ field: 'start_time', direction: 'asc' }],
    },
  })
  return new Set(rows.map((row) => String(row[alias['observation_id'] ?? ''])))
}
