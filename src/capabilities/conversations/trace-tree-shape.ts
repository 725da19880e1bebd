import { z } from 'zod'
import { observationTypes, statuses, traceIdSchema } from '../../model/observation.ts'
import { instantSchema, type Task, taskSchema } from '../tasks/index.ts'
import {
  addTo,
  emptyRollUp,
  isoAt,
  marks,
  msFrom,
  type RollUp,
  rollupSchema,
  shownRollup,
  type TraceTree,
  type TreeNode,
  takeFrom,
} from '../traces/index.ts'
import { conversationSchema } from './conversations.ts'

/** A trace of a conversation, with its start and its number of observations. */
export type TraceOfPage = { trace_id: string; task_id: string; start: string; observations: number }

/** The page of a tree to show, and its bounds. */
type TreeShape = {
  traces: readonly TraceOfPage[]
  tasks: readonly Task[]
  depth: number
  observations_max: number
}

/** Shapes the tasks of a page with their traces and the top of each trace. */
export function toTasks(tree: TraceTree, shape: TreeShape): ShownTask[] {
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
      return [toTrace(tree, { trace_id, nodes: ofTrace, rollup }, shape)]
    })
    return { task_id, task: records.get(task_id) ?? null, rollup: shownRollup(sums), traces: shown }
  })
}

/** Sums up the observations of one trace, without those of linked traces above or below them. */
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

function toTrace(
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
      toObservation(node, level, origin_ns),
    ),
    explorer_url: `${url}/explorer`,
    critical_path_url: `${url}/critical-path`,
  }
}

/**
 * Returns the nodes nearest to the top of their trace, in the order of `nodes`, the tree's order.
 */
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

function toObservation(node: TreeNode, depth: number, origin_ns: bigint): ShownObservation {
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

const count = z.int().nonnegative()
const ms = z.number().nonnegative()

const observation = z
  .strictObject({
    node_id: z.string().describe('Observation id; `orphans:<trace_id>` for a synthetic root.'),
    parent_id: z.string().nullable().describe('Node id of the parent; null for a root.'),
    parent_trace_id: traceIdSchema
      .nullable()
      .describe('Trace of the parent when it differs: the two traces were linked.'),
    missing_parent_id: z.string().nullable().describe('The missing parent of an orphan.'),
    depth: count.describe('Depth in its trace; 0 at the top.'),
    type: z.enum([...observationTypes, 'synthetic']),
    name: z.string(),
    status: z.enum(statuses).nullable().describe('null for a synthetic root.'),
    marks: z
      .array(z.enum(marks).meta({ id: 'TraceMark' }))
      .describe('Irregularities of the observation.'),
    start_time: instantSchema.describe('Start, corrected for clock differences.'),
    duration_ms: ms,
    self_ms: ms.describe('Time in which no child ran.'),
    rollup: rollupSchema,
    children: count.describe('Number of direct children, shown or not.'),
  })
  .meta({ id: 'ConversationObservation' })

const trace = z
  .strictObject({
    trace_id: traceIdSchema.describe('The W3C trace id, as a UUID.'),
    start_time: instantSchema.describe('Start of its first observation.'),
    end_time: instantSchema.describe('End of its last observation.'),
    duration_ms: ms,
    rollup: rollupSchema.describe('Sums over its own observations, in any part of the tree.'),
    observations: z
      .array(observation)
      .describe('The requested number of observations nearest the top, parents before children.'),
    explorer_url: z.string().describe('Path of the explorer, which pages through the whole trace.'),
    critical_path_url: z.string().describe('Path of the critical path of the trace.'),
  })
  .meta({ id: 'ConversationTrace' })

const task = z
  .strictObject({
    task_id: z.string().describe('The task; empty for traces without a task.'),
    task: taskSchema.nullable().describe('The task’s record, with the sums of all its traces.'),
    rollup: rollupSchema.describe('Sums over its traces on this page.'),
    traces: z.array(trace).describe('Its traces on this page, by start.'),
  })
  .meta({ id: 'ConversationTask' })

/** The trace tree of a conversation in replies. */
export const traceTreeSchema = z
  .strictObject({
    conversation: conversationSchema.describe('The conversation, with its sums.'),
    tasks: z.array(task).describe('Tasks, by the start of their first trace on this page.'),
    total: count.describe('Number of traces of the conversation.'),
    total_is_exact: z
      .literal(false)
      .optional()
      .describe('`false`: the number is larger than `total`.'),
    truncated: z.boolean().describe('Whether a trace has more observations than were read.'),
    next_cursor: z.string().nullable().describe('Cursor of the next page; null on the last one.'),
    served_by: z.enum(['clickhouse', 'postgres']).describe('The store that answered.'),
    fallback_reason: z
      .string()
      .nullable()
      .describe('Why the preferred store did not answer; null when it did.'),
  })
  .meta({ id: 'ConversationTraceTree' })
type ShownTask = z.infer<typeof task>
type ShownTrace = z.infer<typeof trace>
type ShownObservation = z.infer<typeof observation>
