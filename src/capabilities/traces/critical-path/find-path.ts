import type { TraceTree, TreeNode } from '../tree/contract.ts'

/** A segment of the path: its root waited for this node. Nanoseconds after the origin. */
type Segment = { node: TreeNode; start: number; end: number }

/** The critical path of a root: all that it waited for, from start to end. */
export type CriticalPath = {
  root: TreeNode
  /** In order of time, without gaps: they add up to the duration of the root. */
  segments: readonly Segment[]
  stages: ReadonlyMap<TreeNode, Stage>
}

/** Finds the critical path of a root; pure, without recursion. */
export function findCriticalPath(root: TreeNode): CriticalPath {
  const stages = findStages(root)
  const segments: Segment[] = []
  const open = [openVisit(stages.get(root))]
  for (let visit = open.at(-1); visit !== undefined; visit = open.at(-1)) {
    const child = visit.left.pop()
    const next = child && stages.get(child)
    const end = next?.start ?? visit.end
    if (end > visit.cursor) segments.push({ node: visit.node, start: visit.cursor, end })
    visit.cursor = next?.end ?? visit.end
    if (next === undefined) open.pop()
    else open.push(openVisit(next))
  }
  return { root, segments, stages }
}

/** Returns the longest root, the earliest of equal ones; undefined without roots. */
export function longestRoot({ roots }: TraceTree): TreeNode | undefined {
  let longest = roots[0]
  for (const root of roots) {
    if (longest && root.end - root.start > longest.end - longest.start) longest = root
  }
  return longest
}

function openVisit(stage: Stage | undefined) {
  if (stage === undefined) throw new RangeError('the root has no stage')
  const { node, start, end, picked } = stage
  return { node, cursor: start, end, left: picked.toReversed() }
}

/**
 * A node's time, cut to that of its ancestors, and the children that it waited for in sequence. The
 * time between them is the node's own.
 */
export type Stage = {
  node: TreeNode
  start: number
  end: number
  /** The children on the path, in order of time; they don't overlap. */
  picked: readonly TreeNode[]
  /** The other children that it waited for, in no order. */
  beside: readonly TreeNode[]
}

/**
 * Finds the children that each node below a root waited for, parents first. Leaves out nodes wholly
 * outside of their parents, with their descendants. From the end back, picks the child that ends
 * last before the cursor (CRISP, USENIX ATC 2022). Producers do not wait for queue consumers. Takes
 * O(n log n), without recursion.
 */
function findStages(root: TreeNode): Map<TreeNode, Stage> {
  const stages = new Map<TreeNode, Stage>()
  const open = [{ node: root, start: root.start, end: root.end }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, start, end } = next
    const stage = { node, start, end, ...pickChildren(waitedChildren(next)) }
    stages.set(node, stage)
    for (const child of [...stage.picked, ...stage.beside]) open.push(cutTo(child, next))
  }
  return stages
}

type Span = { node: TreeNode; start: number; end: number }

function cutTo(node: TreeNode, { start, end }: Pick<Span, 'start' | 'end'>): Span {
  return { node, start: Math.max(node.start, start), end: Math.min(node.end, end) }
}

/** Returns the children that a node waits for, cut to its time, the last to end first. */
function waitedChildren(parent: Span): Span[] {
  const sends = parent.node.row?.span_kind === 'producer'
  const spans: Span[] = []
  for (const child of parent.node.children) {
    if (sends && child.row?.span_kind === 'consumer') continue
    const span = cutTo(child, parent)
    if (span.end >= span.start) spans.push(span)
  }
  return spans.sort(
    (a, b) => b.end - a.end || b.node.end - a.node.end || b.node.position - a.node.position,
  )
}

function pickChildren(spans: readonly Span[]): Pick<Stage, 'picked' | 'beside'> {
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
