import { z } from 'zod'
import type { Mark, RollUp, TraceTree } from '../tree/contract.ts'
import { addTo, emptyRollUp } from '../tree/roll-up.ts'
import { isoAt, msFrom } from '../tree/times.ts'
import { rollupSchema, shownRollup } from './node-reply.ts'

const count = z.int().nonnegative()

const instant = z.iso.datetime({ offset: false })

/** The summary of a whole tree: of a trace, or of a task. */
export const summarySchema = z
  .strictObject({
    task_id: z.string().nullable(),
    task_name: z.string().nullable(),
    start_time: instant.nullable().describe('Earliest start; null without observations.'),
    end_time: instant.nullable(),
    duration_ms: z.number().nonnegative(),
    depth_max: count.describe('Depth of the deepest node; roots have 0.'),
    traces: count.describe('Traces with an observation in the tree.'),
    roots: count,
    marks: z
      .record(z.string(), count)
      .describe('Number of nodes with each mark; other marks are omitted.'),
    rollup: rollupSchema,
  })
  .meta({ id: 'ExploredTrace', description: 'Summary of the whole tree.' })

/** Summarises a tree. */
export function summariseTrace({
  nodes,
  roots,
  origin_ns,
}: TraceTree): z.infer<typeof summarySchema> {
  const marks: Partial<Record<Mark, number>> = {}
  const rollup: RollUp = emptyRollUp()
  const traces = new Set<string>()
  let [start, end, depth_max] = [nodes[0]?.start ?? 0, nodes[0]?.end ?? 0, 0]
  for (const node of nodes) {
    start = Math.min(start, node.start)
    end = Math.max(end, node.end)
    depth_max = Math.max(depth_max, node.depth)
    traces.add(node.trace_id)
    for (const mark of node.marks) marks[mark] = (marks[mark] ?? 0) + 1
  }
  for (const root of roots) addTo(rollup, root.rollup)
  const task = nodes.find(({ row }) => row !== null && row.task_id !== '')?.row
  return {
    task_id: task?.task_id ?? null,
    task_name: nodes.find(({ row }) => row?.task_name)?.row?.task_name ?? null,
    start_time: nodes.length === 0 ? null : isoAt(origin_ns, start),
    end_time: nodes.length === 0 ? null : isoAt(origin_ns, end),
    duration_ms: msFrom(end - start),
    depth_max,
    traces: traces.size,
    roots: roots.length,
    marks,
    rollup: shownRollup(rollup),
  }
}
