import type { TreeNode } from './contract.ts'
import { emptyNode } from './empty-node.ts'
import { byStart } from './sibling-order.ts'

/** Links nodes, sorted by start, with their parents and children; answers the roots. */
export function linkParents(nodes: readonly TreeNode[]): { roots: TreeNode[] } {
  findParents(nodes)
  cutCircles(nodes)
  const roots: TreeNode[] = []
  const synthetic = new Map<string, TreeNode>()
  for (const node of nodes) {
    const parent = node.parent ?? syntheticFor(node, synthetic)
    node.parent = parent
    if (parent === null) roots.push(node)
    else parent.children.push(node)
  }
  for (const root of synthetic.values()) spanChildren(root)
  return { roots: [...roots, ...synthetic.values()].sort(byStart) }
}

/** What the synthetic root of a trace is called. */
export function syntheticIdOf(trace_id: string): string {
  return `orphans:${trace_id}`
}

function findParents(nodes: readonly TreeNode[]): void {
  const traces = new Map<string, Map<string, TreeNode>>()
  for (const node of nodes) {
    const ofTrace = traces.get(node.trace_id) ?? new Map<string, TreeNode>()
    traces.set(node.trace_id, ofTrace)
    if (ofTrace.has(node.id)) node.marks.push('repeated_id')
    else ofTrace.set(node.id, node)
  }
  const elsewhere = traces.size > 1 ? anywhereIn([...traces.values()]) : undefined
  for (const node of nodes) {
    const wanted = node.row?.parent_observation_id ?? ''
    if (wanted === '') continue
    const near = traces.get(node.trace_id)?.get(wanted)
    node.parent = near ?? elsewhere?.get(wanted) ?? null
    if (node.parent === null) node.marks.push('orphan')
    else if (near === undefined) node.marks.push('relinked')
  }
}

/** Nodes by id over traces; an id that two traces have leads to neither. */
function anywhereIn(
  traces: readonly ReadonlyMap<string, TreeNode>[],
): ReadonlyMap<string, TreeNode | null> {
  const found = new Map<string, TreeNode | null>()
  for (const trace of traces) {
    for (const [id, node] of trace) found.set(id, found.has(id) ? null : node)
  }
  return found
}

/** Follows parents from each node once; a way that meets itself is a circle. */
function cutCircles(nodes: readonly TreeNode[]): void {
  for (const [place, node] of nodes.entries()) node.position = place
  const notSeen = -1
  const wayOf = new Int32Array(nodes.length).fill(notSeen)
  for (const [way, first] of nodes.entries()) {
    let node: TreeNode | null = first
    while (node !== null && wayOf[node.position] === notSeen) {
      wayOf[node.position] = way
      node = node.parent
    }
    if (node !== null && wayOf[node.position] === way) cutCircle(node)
  }
}

function cutCircle(member: TreeNode): void {
  let earliest = member
  for (let node = member.parent; node !== null && node !== member; node = node.parent) {
    if (byStart(node, earliest) < 0) earliest = node
  }
  earliest.parent = null
  earliest.marks = [...earliest.marks.filter((mark) => mark !== 'relinked'), 'cycle']
}

function syntheticFor(node: TreeNode, known: Map<string, TreeNode>): TreeNode | null {
  const { trace_id, marks } = node
  if (marks.length === 0) return null
  if (!marks.includes('orphan') && !marks.includes('cycle')) return null
  const root =
    known.get(trace_id) ?? emptyNode({ row: null, trace_id, id: syntheticIdOf(trace_id) })
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
