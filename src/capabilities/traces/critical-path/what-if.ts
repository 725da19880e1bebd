import type { TreeNode } from '../tree/contract.ts'
import type { CriticalPath } from './find-path.ts'
import { endingFrom } from './find-slack.ts'
import type { Stage } from './find-stages.ts'

/**
 * By how much sooner the root would have ended, in nanoseconds, had these nodes taken a share less of
 * their time (0 to 1): everything waits for what it waited for, and a sibling that ran beside them
 * takes over where it ends later. Own time between children stays as it was.
 */
export function gainOf(
  { root, stages }: CriticalPath,
  targets: ReadonlySet<TreeNode>,
  share: number,
): number {
  const gains = new Map<TreeNode, number>()
  for (const node of upwards(targets)) {
    const stage = stages.get(node)
    if (stage === undefined) continue
    const whole = (stage.end - stage.start) * share
    gains.set(node, targets.has(node) ? whole : gainThrough(stage, gains, stages))
  }
  return gains.get(root) ?? 0
}

/** The nodes and all above them, children before their parents. */
function upwards(targets: ReadonlySet<TreeNode>): TreeNode[] {
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

/** Plays a node's children again, in the order of time: `soFar` is what was gained until then. */
function gainThrough(stage: Stage, gains: Gains, stages: CriticalPath['stages']): number {
  const until: number[] = [0]
  const limits = limitsBeside(stage, stages)
  let soFar = 0
  for (const [at, child] of stage.picked.entries()) {
    const { start, end } = stages.get(child) ?? child
    let newEnd = Math.max(start - soFar, end - soFar - (gains.get(child) ?? 0))
    for (const other of limits.get(at) ?? []) {
      const { start: began, end: ended } = stages.get(other) ?? other
      const before = until[endedBy(stage, began, stages, until.length - 1)] ?? 0
      newEnd = Math.max(newEnd, ended - before - (gains.get(other) ?? 0))
    }
    soFar = end - newEnd
    until.push(soFar)
  }
  return soFar
}

/** Those beside, by the picked child during which they ended. */
function limitsBeside(stage: Stage, stages: CriticalPath['stages']): Map<number, TreeNode[]> {
  const limits = new Map<number, TreeNode[]>()
  for (const other of stage.beside) {
    const at = endingFrom(stage, stages.get(other)?.end ?? other.end, stages)
    const known = limits.get(at)
    if (known === undefined) limits.set(at, [other])
    else known.push(other)
  }
  return limits
}

/** How many picked children had ended when a node began; at most those played so far. */
function endedBy(
  stage: Stage,
  began: number,
  stages: CriticalPath['stages'],
  most: number,
): number {
  const at = endingFrom(stage, began, stages)
  const child = stage.picked[at]
  const end = child && (stages.get(child)?.end ?? child.end)
  return Math.min(most, end === began ? at + 1 : at)
}
