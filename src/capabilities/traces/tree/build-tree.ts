import type { TraceRow, TraceTree, TreeNode } from './contract.ts'
import { emptyRollUp, rollUp } from './roll-up.ts'
import { correctClocks, measureTimes } from './times.ts'

/**
 * Builds the tree of one or more traces from observations in any order; pure. Takes O(n log n),
 * without recursion. Observations with a missing parent are children of a synthetic root of their
 * trace; so is the earliest member of a cycle, where the cycle is cut. Corrects and marks times
 * where clocks differ, like Jaeger, unless `keep_clocks` is set. `outer`: parents that are known not to
 * be among the rows, by `observationKey`; their children are roots.
 */
export function buildTree(
  rows: readonly TraceRow[],
  options: { keep_clocks?: boolean; outer?: ReadonlySet<string> } = {},
): TraceTree {
  const origin_ns = earliestStart(rows)
  const nodes = rows.map((row) => toNode(row, origin_ns)).sort(byStart)
  const linked = linkParents(nodes, options.outer)
  if (!options.keep_clocks) correctClocks(linked.roots)
  const tree = { ...walkInOrder(linked.roots), origin_ns }
  measureTimes(tree.nodes)
  rollUp(tree.nodes)
  return tree
}

function earliestStart(rows: readonly TraceRow[]): bigint {
  let least: bigint | undefined
  for (const { start_time } of rows) {
    if (least === undefined || start_time < least) least = start_time
  }
  return least ?? 0n
}

function toNode(row: TraceRow, origin_ns: bigint): TreeNode {
  const start = Number(row.start_time - origin_ns)
  const end = Number(row.end_time - origin_ns)
  const node = emptyNode({ row, trace_id: row.trace_id, id: row.observation_id })
  if (end < start) node.marks.push('ends_before_start')
  node.start = start
  node.end = Math.max(start, end)
  return node
}

/** Links nodes, sorted by start, with their parents and children. Returns the roots. */
function linkParents(
  nodes: readonly TreeNode[],
  outer: ReadonlySet<string> | undefined,
): { roots: TreeNode[] } {
  findParents(nodes, outer)
  cutCycles(nodes)
  const roots: TreeNode[] = []
  const synthetic = new Map<string, TreeNode>()
  for (const node of nodes) {
    const parent = node.parent ?? findSyntheticRoot(node, synthetic)
    node.parent = parent
    if (parent === null) roots.push(node)
    else parent.children.push(node)
  }
  for (const root of synthetic.values()) spanChildren(root)
  return { roots: [...roots, ...synthetic.values()].sort(byStart) }
}

/** Returns the id of a trace's synthetic root. */
function syntheticId(trace_id: string): string {
  return `orphans:${trace_id}`
}

function findParents(nodes: readonly TreeNode[], outer: ReadonlySet<string> | undefined): void {
  const traces = indexTraces(nodes)
  const elsewhere = traces.size > 1 ? indexAll([...traces.values()]) : undefined
  for (const node of nodes) {
    const { trace_id } = node
    const wanted = node.row?.parent_observation_id ?? ''
    if (wanted === '') continue
    const inTrace = traces.get(trace_id)?.get(wanted)
    node.parent = inTrace ?? elsewhere?.get(wanted) ?? null
    if (node.parent !== null && inTrace === undefined) node.marks.push('relinked')
    if (node.parent !== null) continue
    const isOuter = outer?.has(observationKey({ trace_id, observation_id: wanted })) === true
    node.marks.push(isOuter ? 'outer_parent' : 'orphan')
  }
}

/** Returns the key of an observation in a tree of several traces. */
export function observationKey(of: Pick<TraceRow, 'trace_id' | 'observation_id'>): string {
  return `${of.trace_id} ${of.observation_id}`
}

/** Indexes nodes by trace and id. Marks all but the first node of an id. */
function indexTraces(nodes: readonly TreeNode[]): Map<string, Map<string, TreeNode>> {
  const traces = new Map<string, Map<string, TreeNode>>()
  for (const node of nodes) {
    const ofTrace = traces.get(node.trace_id) ?? new Map<string, TreeNode>()
    traces.set(node.trace_id, ofTrace)
    if (ofTrace.has(node.id)) node.marks.push('repeated_id')
    else ofTrace.set(node.id, node)
  }
  return traces
}

/** Indexes nodes by id over all traces. An id of two traces maps to null. */
function indexAll(
  traces: readonly ReadonlyMap<string, TreeNode>[],
): ReadonlyMap<string, TreeNode | null> {
  const byId = new Map<string, TreeNode | null>()
  for (const trace of traces) {
    for (const [id, node] of trace) byId.set(id, byId.has(id) ? null : node)
  }
  return byId
}

/** Follows the parents of each node once. A path that meets itself is a cycle. */
function cutCycles(nodes: readonly TreeNode[]): void {
  for (const [index, node] of nodes.entries()) node.position = index
  const unseen = -1
  const pathOf = new Int32Array(nodes.length).fill(unseen)
  for (const [path, first] of nodes.entries()) {
    let node: TreeNode | null = first
    while (node !== null && pathOf[node.position] === unseen) {
      pathOf[node.position] = path
      node = node.parent
    }
    if (node !== null && pathOf[node.position] === path) cutCycle(node)
  }
}

function cutCycle(member: TreeNode): void {
  let earliest = member
  for (let node = member.parent; node !== null && node !== member; node = node.parent) {
    if (byStart(node, earliest) < 0) earliest = node
  }
  earliest.parent = null
  earliest.marks = [...earliest.marks.filter((mark) => mark !== 'relinked'), 'cycle']
}

function findSyntheticRoot(node: TreeNode, known: Map<string, TreeNode>): TreeNode | null {
  const { trace_id, marks } = node
  if (marks.length === 0) return null
  if (!marks.includes('orphan') && !marks.includes('cycle')) return null
  const root = known.get(trace_id) ?? emptyNode({ row: null, trace_id, id: syntheticId(trace_id) })
  if (!known.has(trace_id)) root.marks.push('synthetic')
  known.set(trace_id, root)
  return root
}

function spanChildren(root: TreeNode): void {
  root.start = Number.POSITIVE_INFINITY
  for (const { start, end } of root.children) {
    root.start = Math.min(root.start, start)
    root.end = Math.max(root.end, end)
  }
}

/** Sorts siblings and sets the depth and position of each node, parents before children. */
function walkInOrder(roots: readonly TreeNode[]): { nodes: TreeNode[]; roots: TreeNode[] } {
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

/**
 * Returns a node above all roots of a tree, from the earliest start to the latest end. The roots do
 * not name it as their parent.
 */
export function spanRoots({ roots }: TraceTree): TreeNode {
  const top = { ...emptyNode({ row: null, trace_id: '', id: '' }), children: [...roots] }
  spanChildren(top)
  return roots.length === 0 ? { ...top, start: 0 } : top
}

/** Returns a node with default values. */
function emptyNode(of: Pick<TreeNode, 'row' | 'trace_id' | 'id'>): TreeNode {
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

/** Orders siblings by start, then id. Further fields make the tree independent of row order. */
export function byStart(a: TreeNode, b: TreeNode): number {
  return (
    a.start - b.start ||
    compareText(a.id, b.id) ||
    compareText(a.trace_id, b.trace_id) ||
    a.end - b.end ||
    compareText(a.row?.parent_observation_id ?? '', b.row?.parent_observation_id ?? '') ||
    compareText(a.row?.name ?? '', b.row?.name ?? '')
  )
}

function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
