import { z } from 'zod'
import { observationTypes, statuses, traceIdSchema } from '../../model/observation.ts'
import { instantSchema, taskSchema } from '../tasks/index.ts'
import { marks, rollupSchema } from '../traces/index.ts'
import { conversationSchema } from './conversation-record.ts'

const count = z.int().nonnegative()
const ms = z.number().nonnegative()

const observation = z
  .strictObject({
    node_id: z.string().describe('The observation; of a synthetic root `orphans:<trace_id>`.'),
    parent_id: z.string().nullable().describe('What it stands below; null for a root.'),
    parent_trace_id: traceIdSchema
      .nullable()
      .describe('The trace of that parent, when it is another one: the two were linked again.'),
    missing_parent_id: z.string().nullable().describe('The parent that an orphan names.'),
    depth: count.describe('From the top of its trace; 0 there.'),
    type: z.enum([...observationTypes, 'synthetic']),
    name: z.string(),
    status: z.enum(statuses).nullable().describe('null for a synthetic root.'),
    marks: z
      .array(z.enum(marks).meta({ id: 'TraceMark' }))
      .describe('What is not as it should be with it.'),
    start_time: instantSchema.describe('Corrected where clocks differ.'),
    duration_ms: ms,
    self_ms: ms.describe('In which none of its children ran.'),
    rollup: rollupSchema,
    children: count.describe('Right below it, whether they are shown or not.'),
  })
  .meta({ id: 'ConversationObservation' })

const trace = z
  .strictObject({
    trace_id: traceIdSchema.describe('The W3C trace id, as a UUID.'),
    start_time: instantSchema.describe('Of its first observation.'),
    end_time: instantSchema.describe('Of its last one.'),
    duration_ms: ms,
    rollup: rollupSchema.describe('Sums over its own observations, wherever they stand.'),
    observations: z
      .array(observation)
      .describe('Parents before their children; those near the top, as many as were asked for.'),
    explorer_url: z.string().describe('The path that pages through all of it.'),
    critical_path_url: z.string().describe('The path that tells what it waited for.'),
  })
  .meta({ id: 'ConversationTrace' })

const task = z
  .strictObject({
    task_id: z.string().describe('Empty for traces of no task.'),
    task: taskSchema.nullable().describe('Its record, with the sums of all its traces.'),
    rollup: rollupSchema.describe('Sums over its traces on this page.'),
    traces: z.array(trace).describe('By their start.'),
  })
  .meta({ id: 'ConversationTask' })

/** What the trace tree of a conversation looks like. */
export const traceTreeSchema = z
  .strictObject({
    conversation: conversationSchema.describe('With the sums of all of it.'),
    tasks: z.array(task).describe('By the start of the first of their traces on this page.'),
    total: count.describe('Traces of the conversation.'),
    total_is_exact: z.literal(false).optional().describe('`false`: there are more than `total`.'),
    truncated: z.boolean().describe('A trace has more observations than are looked at.'),
    next_cursor: z.string().nullable().describe('For further traces; null on the last page.'),
    served_by: z.enum(['clickhouse', 'postgres']).describe('The store that answered.'),
    fallback_reason: z
      .string()
      .nullable()
      .describe('Why another store answered than the one that is asked first; null when it did.'),
  })
  .meta({ id: 'ConversationTraceTree' })
export type ShownTask = z.infer<typeof task>
export type ShownTrace = z.infer<typeof trace>
export type ShownObservation = z.infer<typeof observation>
