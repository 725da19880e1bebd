import { z } from 'zod'
import { outcomes, statuses, traceIdSchema } from '../../model/observation.ts'
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
  running: runningTotalsSchema.describe('Sums up to and including this entry.'),
}

const ofObservation = {
  observation_id: z.string().describe('The observation this was seen in.'),
  trace_id: traceIdSchema.describe('The trace of that observation.'),
}

/** Text of a tool call or result, cut to the timeline's length. */
const cutText = { is_cut: z.boolean().describe('The text is longer; the observation has it all.') }

const bucket = (what: string) => count.nullable().describe(`${what} null when nobody counted.`)

const modelCallSchema = z.strictObject({
  role: z.literal('model_call').describe('A call of a model.'),
  ...anyEntry,
  ...ofObservation,
  end_time: instantSchema.describe('When it was over.'),
  type: z.enum(['generation', 'embedding']).describe('What was asked of the model.'),
  name: z.string().describe('The name of the observation.'),
  status: z.enum(statuses).describe('How it went.'),
  outcome: z.enum(outcomes).or(z.literal('')).describe('How a proxied call ended; else empty.'),
  status_code: count.describe('The HTTP status the client got; 0 when it is not known.'),
  error: z
    .strictObject({
      type: z.string().describe('The kind of error.'),
      message: z.string().describe('What the provider, or the proxy, said.'),
    })
    .nullable()
    .describe('Set when the call failed or was cut.'),
  provider: z.string().describe('The provider that was called.'),
  model: z.string().describe('As answered, else as requested.'),
  streamed: z.boolean().describe('The answer came as a stream.'),
  finish_reason: z.string().describe('Why the model stopped, in its own word.'),
  latency_ms: ms.describe('From its start to its end.'),
  time_to_first_token_ms: ms.nullable().describe('null when nothing was streamed.'),
  tokens: z
    .strictObject({
      input_uncached: bucket('Input tokens that were not cached.'),
      cache_read: bucket('Input tokens read from the cache.'),
      cache_write: bucket('Input tokens written to the cache.'),
      output_visible: bucket('Output tokens without reasoning.'),
      reasoning: bucket('Output tokens spent on reasoning.'),
      total: count.describe('Sum of the buckets.'),
      source: z.enum(['provider', 'estimated', 'none']).describe('Who counted them.'),
    })
    .describe('Disjoint buckets; null where nobody counted.'),
  cost_usd: dollarsSchema.nullable().describe('null when the model has no known price.'),
})

const toolCallEntrySchema = z.strictObject({
  role: z.literal('tool_call').describe('A tool that a model asked for.'),
  ...anyEntry,
  ...ofObservation,
  tool_call_id: z.string().describe('As the model gave it; may be empty.'),
  tool_name: z.string().describe('The tool that was asked for.'),
  arguments: z.string().describe('As the model wrote them.'),
  ...cutText,
  orphan: z.boolean().describe('No later call brought a result.'),
  latency_ms: ms
    .nullable()
    .describe('From the end of the asking call to the start of the call that brought the result.'),
  result_observation_id: z.string().nullable().describe('The call that brought the result.'),
  result_trace_id: traceIdSchema.nullable().describe('The trace of that call.'),
})

const toolResultEntrySchema = z.strictObject({
  role: z.literal('tool_result').describe('A result that a client sent back.'),
  ...anyEntry,
  ...ofObservation,
  tool_call_id: z.string().describe('As the client sent it.'),
  tool_name: z.string().nullable().describe('null when the asking call is not in the task.'),
  content: z.string().describe('What the client sent to the model.'),
  ...cutText,
  orphan: z.boolean().describe('No earlier call of the task asked for it.'),
  latency_ms: ms.nullable().describe("The same as its tool call's."),
  call_observation_id: z.string().nullable().describe('The call that asked for it.'),
  call_trace_id: traceIdSchema.nullable().describe('The trace of that call.'),
})

const stateChangeSchema = z.strictObject({
  role: z.literal('state_change').describe('Something that happened to the task itself.'),
  ...anyEntry,
  event_id: z.uuid().describe('The event.'),
  change: z
    .enum(['created', 'completed', 'failed', 'late_activity'])
    .describe('What happened to the task.'),
  actor: z
    .strictObject({
      kind: z.string().describe('What kind of caller, or part of the service, did it.'),
      id: z.string().nullable().describe('Its id, where it has one.'),
    })
    .describe('Who did it.'),
  note: z.string().nullable().describe('What they said of it.'),
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
