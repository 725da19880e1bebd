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
export function longestRoot({ roots }: Pick<TraceTree, 'roots'>): TreeNode | undefined {
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
type Stage = {
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

/**
 * Finds the slack of each node in nanoseconds: how much later it could have ended without delaying
 * its root; 0 on the critical path. A node off the path has until the end of the sibling that its
 * parent waited for at that time, plus its parent's slack. Leaves out nodes that nothing waited
 * for.
 */
export function findSlack({ stages }: Pick<CriticalPath, 'stages'>): Map<TreeNode, number> {
  const slack = new Map<TreeNode, number>()
  for (const [node, stage] of stages) {
    const own = slack.get(node) ?? 0
    for (const child of stage.picked) slack.set(child, own)
    for (const child of stage.beside) {
      slack.set(child, own + slackBeside(stage, stages.get(child)?.end ?? child.end, stages))
    }
    if (!slack.has(node)) slack.set(node, 0)
  }
  return slack
}

function slackBeside(stage: Stage, end: number, stages: CriticalPath['stages']): number {
  const sibling = stages.get(stage.picked[indexEndingFrom(stage, end, stages)] ?? stage.node)
  if (sibling === undefined || sibling === stage) return 0
  return sibling.start < end ? sibling.end - end : 0
}

/** Returns the index of the first picked child that ends at or after an instant. */
function indexEndingFrom(
  { picked }: Stage,
  instant: number,
  stages: CriticalPath['stages'],
): number {
  let [low, high] = [0, picked.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const child = picked[middle]
    const end = child === undefined ? 0 : (stages.get(child)?.end ?? child.end)
    if (end >= instant) high = middle
    else low = middle + 1
  }
  return low
}

/**
 * Finds how much earlier the root would have ended, in nanoseconds, if these nodes took a share (0
 * to 1) less time. Each node still waits for the same children, or for an overlapping sibling that
 * now ends later. The time between children is unchanged.
 */
export function findGain(
  { root, stages }: CriticalPath,
  targets: ReadonlySet<TreeNode>,
  share: number,
): number {
  const gains = new Map<TreeNode, number>()
  for (const node of withAncestors(targets)) {
    const stage = stages.get(node)
    if (stage === undefined) continue
    const whole = (stage.end - stage.start) * share
    gains.set(node, targets.has(node) ? whole : gainThrough(stage, gains, stages))
  }
  return gains.get(root) ?? 0
}

/** Returns the nodes and their ancestors, children before parents. */
function withAncestors(targets: ReadonlySet<TreeNode>): TreeNode[] {
  const found = new Set<TreeNode>()
  for (const target of targets) {
    let node: TreeNode | null = target
    while (node !== null && !found.has(node)) {
      found.add(node)
      node = node.parent
    }
  }
  return [...found].sort((a, b) => b.position - a.position)
}

type Gains = ReadonlyMap<TreeNode, number>

/** Replays a node's children in order of time. `soFar` is the gain up to then. */
function gainThrough(stage: Stage, gains: Gains, stages: CriticalPath['stages']): number {
  const until: number[] = [0]
  const limits = groupBeside(stage, stages)
  let soFar = 0
  for (const [at, child] of stage.picked.entries()) {
    const { start, end } = stages.get(child) ?? child
    let newEnd = Math.max(start - soFar, end - soFar - (gains.get(child) ?? 0))
    for (const other of limits.get(at) ?? []) {
      const { start: began, end: ended } = stages.get(other) ?? other
      const before = until[countEnded(stage, began, stages, until.length - 1)] ?? 0
      newEnd = Math.max(newEnd, ended - before - (gains.get(other) ?? 0))
    }
    soFar = end - newEnd
    until.push(soFar)
  }
  return soFar
}

/** Groups the children off the path by the picked child during which they ended. */
function groupBeside(stage: Stage, stages: CriticalPath['stages']): Map<number, TreeNode[]> {
  const limits = new Map<number, TreeNode[]>()
  for (const other of stage.beside) {
    const at = indexEndingFrom(stage, stages.get(other)?.end ?? other.end, stages)
    const known = limits.get(at)
    if (known === undefined) limits.set(at, [other])
    else known.push(other)
  }
  return limits
}

/** Counts the picked children that had ended when a node began, among those replayed. */
function countEnded(
  stage: Stage,
  began: number,
  stages: CriticalPath['stages'],
  count_max: number,
): number {
  const at = indexEndingFrom(stage, began, stages)
  const child = stage.picked[at]
  const end = child && (stages.get(child)?.end ?? child.end)
  return Math.min(count_max, end === began ? at + 1 : at)
}
