import type { TraceTree, TreeNode } from '../tree/contract.ts'
import { findStages, type Stage } from './find-stages.ts'

/** A stretch of the path: this node did what had to be waited for. Nanoseconds after the origin. */
export type Segment = { node: TreeNode; start: number; end: number }

/** What a root waited for, from its start to its end. */
export type CriticalPath = {
  root: TreeNode
  /** In the order of time, without holes: together they take as long as the root. */
  segments: readonly Segment[]
  stages: ReadonlyMap<TreeNode, Stage>
}

/** The critical path of a root; pure, without recursion. */
export function criticalPathOf(root: TreeNode): CriticalPath {
  const stages = findStages(root)
  const segments: Segment[] = []
  const open = [visitOf(stages.get(root))]
  for (let visit = open.at(-1); visit !== undefined; visit = open.at(-1)) {
    const child = visit.left.pop()
    const next = child && stages.get(child)
    const end = next?.start ?? visit.end
    if (end > visit.cursor) segments.push({ node: visit.node, start: visit.cursor, end })
    visit.cursor = next?.end ?? visit.end
    if (next === undefined) open.pop()
    else open.push(visitOf(next))
  }
  return { root, segments, stages }
}

/** The root that took longest, the earliest of those that took as long; undefined without roots. */
export function longestRoot({ roots }: TraceTree): TreeNode | undefined {
  let longest = roots[0]
  for (const root of roots) {
    if (longest && root.end - root.start > longest.end - longest.start) longest = root
  }
  return longest
}

function visitOf(stage: Stage | undefined) {
  if (stage === undefined) throw new RangeError('a root has a stage')
  const { node, start, end, picked } = stage
  return { node, cursor: start, end, left: picked.toReversed() }
}
