import type { TreeNode } from '../tree/contract.ts'
import { type CriticalPath, firstEndingFrom, type Stage } from './find-path.ts'

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
    const onPath = new Set(stage.pieces.map((piece) => piece.node))
    for (const child of onPath) slack.set(child, own)
    for (const child of stage.beside) {
      if (onPath.has(child)) continue
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
  return firstEndingFrom(picked, instant, (child) => stages.get(child)?.end ?? child.end)
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
