import type { TreeNode } from '../tree/contract.ts'
import type { CriticalPath } from './find-path.ts'
import type { Stage } from './find-stages.ts'

/**
 * How much later each node could have ended without its root ending later, in nanoseconds: 0 on the
 * critical path. A node that its parent did not wait for had until the end of the sibling that it
 * did wait for then, and whatever its parent itself had. Nodes that nothing waited for are left out.
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
  const sibling = stages.get(stage.picked[endingFrom(stage, end, stages)] ?? stage.node)
  if (sibling === undefined || sibling === stage) return 0
  return sibling.start < end ? sibling.end - end : 0
}

/** The place of the first picked child that ends at or behind an instant. */
export function endingFrom(
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
