import { z } from 'zod'
import { outcomes, statuses } from '../../model/observation.ts'
import { dollarsSchema, instantSchema } from './task-record.ts'

/** What part an entry plays in a task. */
export const timelineRoles = ['model_call', 'tool_call', 'tool_result', 'state_change'] as const
export type TimelineRole = (typeof timelineRoles)[number]

const count = z.int().nonnegative()
const ms = z.number().nonnegative()

/** Sums over the model calls up to and including the entry, whatever the page or filter. */
export const runningTotalsSchema = z.strictObject({
  calls: count.describe('Model calls.'),
  errors: count.describe('Model calls that failed.'),
  tool_calls: count.describe('Tool calls that models asked for.'),
  total_tokens: count.describe('Tokens of all buckets.'),
  cost_usd: dollarsSchema,
  elapsed_ms: ms.describe('Since the first entry of the task.'),
})
export type RunningTotals = z.infer<typeof runningTotalsSchema>

const anyEntry = {
  time: instantSchema.describe('When it began; nanoseconds where known.'),
  since_previous_ms: ms.describe('Since the entry before, whatever its role; 0 on the first.'),
  gap_ms: ms
    .nullable()
    .describe(
      'Time before it in which neither a model call nor an answered tool call was under way; ' +
        'null when that was less than `gap_min_ms`.',
    ),
  running: runningTotalsSchema,
}

const ofObservation = {
  observation_id: z.string().describe('The observation this was seen in.'),
  trace_id: z.uuid(),
}

/** Text of a tool call or result, cut to the timeline's length. */
const cutText = { is_cut: z.boolean().describe('The text is longer; the observation has it all.') }

const bucket = count.nullable()

export const modelCallSchema = z.strictObject({
  role: z.literal('model_call'),
  ...anyEntry,
  ...ofObservation,
  end_time: instantSchema,
  type: z.enum(['generation', 'embedding']),
  name: z.string(),
  status: z.enum(statuses),
  outcome: z.enum(outcomes).or(z.literal('')).describe('How a proxied call ended; else empty.'),
  status_code: count.describe('The HTTP status the client got; 0 when it is not known.'),
  error: z
    .strictObject({ type: z.string(), message: z.string() })
    .nullable()
    .describe('Set when the call failed or was cut.'),
  provider: z.string(),
  model: z.string().describe('As answered, else as requested.'),
  streamed: z.boolean(),
  finish_reason: z.string(),
  latency_ms: ms,
  time_to_first_token_ms: ms.nullable(),
  tokens: z
    .strictObject({
      input_uncached: bucket,
      cache_read: bucket,
      cache_write: bucket,
      output_visible: bucket,
      reasoning: bucket,
      total: count,
      source: z.enum(['provider', 'estimated', 'none']),
    })
    .describe('Disjoint buckets; null where nobody counted.'),
  cost_usd: dollarsSchema.nullable().describe('null when the model has no known price.'),
})

export const toolCallEntrySchema = z.strictObject({
  role: z.literal('tool_call'),
  ...anyEntry,
  ...ofObservation,
  tool_call_id: z.string(),
  tool_name: z.string(),
  arguments: z.string().describe('As the model wrote them.'),
  ...cutText,
  orphan: z.boolean().describe('No later call brought a result.'),
  latency_ms: ms
    .nullable()
    .describe('From the end of the asking call to the start of the call that brought the result.'),
  result_observation_id: z.string().nullable().describe('The call that brought the result.'),
  result_trace_id: z.uuid().nullable(),
})

export const toolResultEntrySchema = z.strictObject({
  role: z.literal('tool_result'),
  ...anyEntry,
  ...ofObservation,
  tool_call_id: z.string(),
  tool_name: z.string().nullable().describe('null when the asking call is not in the task.'),
  content: z.string(),
  ...cutText,
  orphan: z.boolean().describe('No earlier call of the task asked for it.'),
  latency_ms: ms.nullable().describe("The same as its tool call's."),
  call_observation_id: z.string().nullable().describe('The call that asked for it.'),
  call_trace_id: z.uuid().nullable(),
})

export const stateChangeSchema = z.strictObject({
  role: z.literal('state_change'),
  ...anyEntry,
  event_id: z.uuid(),
  change: z.enum(['created', 'completed', 'failed', 'late_activity']),
  actor: z.strictObject({ kind: z.string(), id: z.string().nullable() }),
  note: z.string().nullable(),
})

/** One entry of a timeline. */
export const timelineEntrySchema = z
  .discriminatedUnion('role', [
    modelCallSchema,
    toolCallEntrySchema,
    toolResultEntrySchema,
    stateChangeSchema,
  ])
  .meta({ title: 'TimelineEntry' })
export type TimelineEntry = z.infer<typeof timelineEntrySchema>
