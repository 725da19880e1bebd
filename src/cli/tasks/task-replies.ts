import { z } from 'zod'

/** The parts of replies about tasks that are printed; another version of the API may have more. */

const count = z.number()
const text = z.string()

const verdict = z.object({
  summary: text,
  worst_severity: text.nullable(),
  recovered: count,
  root_cause: z.object({ finding_id: text, type: text, step: count.nullable() }).nullable(),
  wasted_tokens: count,
  wasted_cost_usd: text,
  detected_at: text,
})

/** A task. */
export const taskReply = z.object({
  task_id: text,
  name: text,
  user_id: text.nullable(),
  state: text,
  stalled: z.boolean(),
  started_at: text,
  last_activity_at: text,
  duration_ms: count,
  calls: count,
  errors: count,
  tokens: z.object({ total: count }),
  cost_usd: text,
  unpriced_calls: count,
  models: z.array(text),
  environment: text.nullable(),
  release: text.nullable(),
  cluster_name: text.nullable(),
  end_note: text.nullable(),
  verdict: verdict.nullable(),
})
export type TaskReply = z.output<typeof taskReply>

/** A page of tasks. */
export const taskList = z.object({
  tasks: z.array(taskReply),
  total: count,
  next_cursor: text.nullable(),
})

const place = z.object({ trace_id: text, observation_id: text })

/** A finding of a task. */
export const findingReply = z.object({
  finding_id: text,
  kind: text,
  type: text,
  severity: text,
  state: text,
  summary: text,
  start_step: count.nullable(),
  end_step: count.nullable(),
  period: count.nullable(),
  repeats: count.nullable(),
  places: z.array(place),
  wasted_tokens: count,
  wasted_cost_usd: text,
  confidence: count,
  evidence: z.record(text, z.unknown()),
})
export type FindingReply = z.output<typeof findingReply>

/** The findings of a task. */
export const findingList = z.object({
  findings: z.array(findingReply),
  is_current: z.boolean(),
  not_checked: z.array(z.object({ detector: text, reason: text })),
})

const error = z.object({ type: text, message: text }).nullable()
const placed = { ...place.shape, time: text }

const modelCall = z.object({
  role: z.literal('model_call'),
  ...placed,
  type: text,
  status: text,
  error,
  model: text,
  finish_reason: text,
  counted_with: text,
  latency_ms: count,
  tokens: z.object({ total: count }),
  cost_usd: text.nullable(),
})

const toolCall = z.object({
  role: z.literal('tool_call'),
  ...placed,
  tool_call_id: text,
  tool_name: text,
  arguments: text,
  is_cut: z.boolean(),
  orphan: z.boolean(),
})

const toolResult = z.object({
  role: z.literal('tool_result'),
  ...placed,
  tool_call_id: text,
  tool_name: text.nullable(),
  content: text,
  is_cut: z.boolean(),
  latency_ms: count.nullable(),
  error,
  call_observation_id: text.nullable(),
  call_trace_id: text.nullable(),
})

const operation = z.object({
  role: z.literal('operation'),
  ...placed,
  type: text,
  name: text,
  status: text,
  error,
  latency_ms: count,
})

const stateChange = z.object({
  role: z.literal('state_change'),
  time: text,
  change: text,
  actor: z.object({ kind: text }),
  note: text.nullable(),
})

/** An entry of a timeline. */
export const entryReply = z.discriminatedUnion('role', [
  modelCall,
  toolCall,
  toolResult,
  operation,
  stateChange,
])
export type EntryReply = z.output<typeof entryReply>
export type ModelCallReply = z.output<typeof modelCall>
export type ToolCallReply = z.output<typeof toolCall>
export type ToolResultReply = z.output<typeof toolResult>

/** A page of a timeline. Entries of roles that this version does not know are left out. */
export const timelineReply = z.looseObject({
  entries: z.array(z.unknown()),
  total: count,
  next_cursor: text.nullable(),
})
