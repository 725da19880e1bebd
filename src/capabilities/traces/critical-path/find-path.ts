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
  const open = [openVisit(stages, root)]
  for (let visit = open.at(-1); visit !== undefined; visit = open.at(-1)) {
    const piece = visit.left.pop()
    const end = piece?.start ?? visit.end
    if (end > visit.cursor) segments.push({ node: visit.node, start: visit.cursor, end })
    visit.cursor = piece?.end ?? visit.end
    if (piece === undefined) open.pop()
    else open.push(openVisit(stages, piece.node, piece))
  }
  return { root, segments, stages }
}

/** Returns the longest root, the earliest of equal ones; undefined without roots. */
export function longestRoot({ roots }: Pick<TraceTree, 'roots'>): TreeNode | undefined {
  let longest = roots[0]
  for (const root of roots) {
    if (longest && root.end - root.start > longest.end - longest.start) longest = root
  }
  return longest
}

/** Opens a node, or the part of its time in which its parent waited for it. */
function openVisit(stages: CriticalPath['stages'], node: TreeNode, within?: Segment) {
  const stage = stages.get(node)
  if (stage === undefined) throw new RangeError('the node has no stage')
  const start = Math.max(stage.start, within?.start ?? stage.start)
  const end = Math.min(stage.end, within?.end ?? stage.end)
  const left: Segment[] = []
  const endOf = (piece: Segment) => piece.end
  for (let at = firstEndingFrom(stage.pieces, start, endOf); at < stage.pieces.length; at += 1) {
    const piece = stage.pieces[at]
    if (piece === undefined || piece.start > end) break
    left.push({ ...piece, start: Math.max(piece.start, start), end: Math.min(piece.end, end) })
  }
  return { node, cursor: start, end, left: left.reverse() }
}

/** Returns the index of the first of ordered parts that ends at or after an instant. */
export function firstEndingFrom<T>(
  parts: readonly T[],
  instant: number,
  endOf: (part: T) => number,
): number {
  let [low, high] = [0, parts.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const part = parts[middle]
    if (part !== undefined && endOf(part) < instant) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * A node's time, cut to that of its ancestors, and the children that it waited for in sequence. The
 * time between them is the node's own.
 */
export type Stage = {
  node: TreeNode
  start: number
  end: number
  /** The children that it waited for in sequence, in order of time; they don't overlap. */
  picked: readonly TreeNode[]
  /** Their times, and between them those of children beside them, in order: all time of children. */
  pieces: readonly Segment[]
  /** The other children that it waited for, in no order. */
  beside: readonly TreeNode[]
}

/**
 * Finds the children that each node below a root waited for, parents first. Leaves out nodes wholly
 * outside of their parents. From the end back, picks the child that ends last before the cursor, of
 * equal ones the first to start (CRISP, USENIX ATC 2022); time between them belongs to children that
 * ran then, else to the parent. Producers do not wait for consumers. O(n log n), without recursion.
 */
function findStages(root: TreeNode): Map<TreeNode, Stage> {
  const stages = new Map<TreeNode, Stage>()
  const open = [{ node: root, start: root.start, end: root.end }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, start, end } = next
    const stage = { node, start, end, ...pickChildren(next, waitedChildren(next)) }
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
    (a, b) =>
      b.end - a.end ||
      b.node.end - a.node.end ||
      a.start - b.start ||
      a.node.position - b.node.position,
  )
}

function pickChildren(
  parent: Span,
  spans: readonly Span[],
): Pick<Stage, 'picked' | 'pieces' | 'beside'> {
  const picked: Span[] = []
  const beside: Span[] = []
  let cursor = Number.POSITIVE_INFINITY
  for (const span of spans) {
    if (span.end > cursor || span.start === span.end) beside.push(span)
    else {
      picked.push(span)
      cursor = span.start
    }
  }
  return {
    picked: picked.map(({ node }) => node).reverse(),
    pieces: fillGaps(parent, picked, beside).reverse(),
    beside: beside.map(({ node }) => node),
  }
}

/**
 * Adds to the picked children, the last first, the parts of other children that ran between them; of
 * several the first to start. `beside` is sorted by end, the last first. Takes linear time.
 */
function fillGaps(parent: Span, picked: readonly Span[], beside: readonly Span[]): Span[] {
  const pieces: Span[] = []
  const others: Others = { beside, at: 0, earliest: undefined }
  let cursor = parent.end
  for (const pick of picked) {
    addBetween(pieces, others, { start: pick.end, end: cursor })
    pieces.push(pick)
    cursor = pick.start
  }
  addBetween(pieces, others, { start: parent.start, end: cursor })
  return pieces
}

/** Children beside the picked ones: those from `at` on end before the time that is filled. */
type Others = { beside: readonly Span[]; at: number; earliest: Span | undefined }

/** Adds the children that ran in a gap, from its end back. */
function addBetween(pieces: Span[], others: Others, gap: { start: number; end: number }): void {
  let end = gap.end
  while (end > gap.start) {
    const child = takeRunning(others, end)
    if (child === undefined) {
      end = others.beside[others.at]?.end ?? gap.start
      continue
    }
    const start = Math.max(child.start, gap.start)
    pieces.push({ node: child.node, start, end })
    end = start
  }
}

/** Returns the child that ran before an instant and started first; undefined if none ran. */
function takeRunning(others: Others, instant: number): Span | undefined {
  for (let next = others.beside[others.at]; next !== undefined && next.end >= instant; ) {
    if (others.earliest === undefined || next.start < others.earliest.start) others.earliest = next
    others.at += 1
    next = others.beside[others.at]
  }
  const { earliest } = others
  return earliest !== undefined && earliest.start < instant ? earliest : undefined
}
