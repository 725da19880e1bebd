import { z } from 'zod'

/** The parts of a reply of the explorer that are printed; another version of the API may have more. */

const count = z.number()
const text = z.string()

const rollup = z.object({
  observations: count,
  calls: count,
  errors: count,
  tokens: z.object({ total: count.nullable() }),
  cost_usd: text,
})

/** A node of the tree. */
const nodeReply = z.object({
  node_id: text,
  parent_id: text.nullable(),
  depth: count,
  type: text,
  name: text,
  status: text.nullable(),
  marks: z.array(text),
  offset_ms: count,
  duration_ms: count,
  rollup,
  children: z.object({ total: count, shown: count, next_cursor: text.nullable() }),
  details: z
    .object({
      model: text.nullable(),
      error_type: text.nullable(),
      error_message: text.nullable(),
    })
    .nullable(),
})
export type NodeReply = z.output<typeof nodeReply>

/** A page of the explorer. */
export const traceReply = z.object({
  trace_id: text,
  summary: z.object({
    task_id: text.nullable(),
    start_time: text.nullable(),
    duration_ms: count,
    depth_max: count,
    rollup,
  }),
  parent_id: text.nullable(),
  total: count,
  nodes: z.array(nodeReply),
  next_cursor: text.nullable(),
})
export type TraceReply = z.output<typeof traceReply>
