import { z } from 'zod'
import type { Mark, RollUp, TraceTree } from '../tree/contract.ts'
import { isoAt, msFrom } from '../tree/shown-times.ts'
import { addTo, emptyRollUp } from '../tree/sums.ts'
import { rollupSchema } from './node-schema.ts'
import { shownRollup } from './shown-node.ts'

const count = z.int().nonnegative()
const instant = z.iso.datetime({ offset: false }).nullable()

/** What a page says of the whole trace. */
export const summarySchema = z
  .strictObject({
    task_id: z.string().nullable(),
    task_name: z.string().nullable(),
    start_time: instant.describe('null when it has no observation.'),
    end_time: instant,
    duration_ms: z.number().nonnegative(),
    depth_max: count.describe('Of its deepest node; roots have 0.'),
    roots: count,
    marks: z
      .record(z.string(), count)
      .describe('How many nodes have each mark; marks that none has are left out.'),
    rollup: rollupSchema,
  })
  .meta({ id: 'ExploredTrace', description: 'The whole trace, whatever the page shows.' })

/** Sums up a trace. */
export function summaryOf({ nodes, roots, origin_ns }: TraceTree): z.infer<typeof summarySchema> {
  const found: Partial<Record<Mark, number>> = {}
  const rollup: RollUp = emptyRollUp()
  let [start, end, depth_max] = [nodes[0]?.start ?? 0, nodes[0]?.end ?? 0, 0]
  for (const node of nodes) {
    start = Math.min(start, node.start)
    end = Math.max(end, node.end)
    depth_max = Math.max(depth_max, node.depth)
    for (const mark of node.marks) found[mark] = (found[mark] ?? 0) + 1
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
    roots: roots.length,
    marks: found,
    rollup: shownRollup(rollup),
  }
}
