import type { Task } from '../tasks/index.ts'
import {
  addTo,
  emptyRollUp,
  isoAt,
  msFrom,
  type RollUp,
  shownRollup,
  type TraceTree,
  type TreeNode,
  takeFrom,
} from '../traces/index.ts'
import type { TraceOfPage } from './trace-tree-page.ts'
import type { ShownObservation, ShownTask, ShownTrace } from './trace-tree-schema.ts'

/** What is shown of a tree. */
export type TreeShape = {
  traces: readonly TraceOfPage[]
  tasks: readonly Task[]
  depth: number
  observations_max: number
}

/** Shapes the tasks of a page, with their traces, and the top of each of these. */
export function shownTasks(tree: TraceTree, shape: TreeShape): ShownTask[] {
  const nodes = Map.groupBy(tree.nodes, ({ trace_id }) => trace_id)
  const records = new Map(shape.tasks.map((task) => [task.task_id, task]))
  const byTask = Map.groupBy(shape.traces, ({ task_id }) => task_id)
  return [...byTask].map(([task_id, traces]) => {
    const sums = emptyRollUp()
    const shown = traces.flatMap(({ trace_id }) => {
      const ofTrace = nodes.get(trace_id)
      if (ofTrace === undefined) return []
      const rollup = ownRollUp(trace_id, ofTrace)
      addTo(sums, rollup)
      return [shownTrace(tree, { trace_id, nodes: ofTrace, rollup }, shape)]
    })
    return { task_id, task: records.get(task_id) ?? null, rollup: shownRollup(sums), traces: shown }
  })
}

/** Sums over the observations of one trace, though those of others hang below or above them. */
function ownRollUp(trace_id: string, nodes: readonly TreeNode[]): RollUp {
  const sums = emptyRollUp()
  for (const node of nodes) {
    if (node.parent?.trace_id !== trace_id) addTo(sums, node.rollup)
    for (const child of node.children) {
      if (child.trace_id !== trace_id) takeFrom(sums, child.rollup)
    }
  }
  return sums
}

type OneTrace = { trace_id: string; nodes: readonly TreeNode[]; rollup: RollUp }

function shownTrace(
  { origin_ns }: TraceTree,
  { trace_id, nodes, rollup }: OneTrace,
  { depth, observations_max }: TreeShape,
): ShownTrace {
  let [start, end] = [Number.POSITIVE_INFINITY, 0]
  for (const node of nodes) {
    start = Math.min(start, node.start)
    end = Math.max(end, node.end)
  }
  const url = `/api/v2/observability/traces/${trace_id}`
  return {
    trace_id,
    start_time: isoAt(origin_ns, start),
    end_time: isoAt(origin_ns, end),
    duration_ms: msFrom(end - start),
    rollup: shownRollup(rollup),
    observations: topOf(nodes, { depth, observations_max }).map(([node, level]) =>
      shownObservation(node, level, origin_ns),
    ),
    explorer_url: `${url}/explorer`,
    critical_path_url: `${url}/critical-path`,
  }
}

/** The nodes nearest to the top of their trace, in the order of the walk. Nodes come in that order. */
function topOf(
  nodes: readonly TreeNode[],
  { depth, observations_max }: Pick<TreeShape, 'depth' | 'observations_max'>,
): (readonly [TreeNode, number])[] {
  const levels = new Map<TreeNode, number>()
  for (const node of nodes) {
    const above = node.parent === null ? undefined : levels.get(node.parent)
    levels.set(node, above === undefined ? 0 : above + 1)
  }
  return [...levels]
    .filter(([, level]) => level < depth)
    .sort(([a, one], [b, other]) => one - other || a.position - b.position)
    .slice(0, observations_max)
    .sort(([a], [b]) => a.position - b.position)
}

function shownObservation(node: TreeNode, depth: number, origin_ns: bigint): ShownObservation {
  const { row, parent, marks } = node
  const isLinkedAgain = parent !== null && parent.trace_id !== node.trace_id
  return {
    node_id: node.id,
    parent_id: parent?.id ?? null,
    parent_trace_id: isLinkedAgain ? parent.trace_id : null,
    missing_parent_id: marks.includes('orphan') ? (row?.parent_observation_id ?? null) : null,
    depth,
    type: row?.type ?? 'synthetic',
    name: row?.name ?? 'observations without a parent',
    status: row?.status ?? null,
    marks,
    start_time: isoAt(origin_ns, node.start),
    duration_ms: msFrom(node.end - node.start),
    self_ms: msFrom(node.self),
    rollup: shownRollup(node.rollup),
    children: node.children.length,
  }
}
