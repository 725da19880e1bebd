import { z } from 'zod'
import { dollarsSchema, record } from '../../model/named-schemas.ts'
import { outcomes, statuses, traceIdSchema, usageSources } from '../../model/observation.ts'
import { instantSchema } from './task-record.ts'

/** What part an entry plays in a task. */
export const timelineRoles = [
  'model_call',
  'tool_call',
  'tool_result',
  'operation',
  'state_change',
] as const
export type TimelineRole = (typeof timelineRoles)[number]

const count = z.int().nonnegative()
const ms = z.number().nonnegative()

/** Sums over the model calls up to and including the entry, whatever the page or filter. */
export const runningTotalsSchema = record('RunningTotals', {
  calls: count.describe('Model calls.'),
  errors: count.describe('Model calls that failed.'),
  tool_calls: count.describe('Tool calls: asked for by a model, or seen to run.'),
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
      'Time before it in which no model call, no answered tool call and no operation but an ' +
        'enclosing one was under way; null when that was less than `gap_min_ms`.',
    ),
  running: runningTotalsSchema.describe('Sums up to and including this entry.'),
}

const ofObservation = {
  observation_id: z.string().describe('The observation this was seen in.'),
  trace_id: traceIdSchema.describe('The trace of that observation.'),
}

/** Text of a tool call or result, cut to the timeline's length. */
const cutText = { is_cut: z.boolean().describe('The text is longer; the observation has it all.') }

const errorSchema = z
  .strictObject({
    type: z.string().describe('The kind of error.'),
    message: z.string().describe('What was said of it.'),
  })
  .meta({ id: 'CallError' })
  .nullable()

const bucket = (what: string) => count.nullable().describe(`${what} null when nobody counted.`)

const modelCallSchema = record('ModelCallEntry', {
  role: z.literal('model_call').describe('A call of a model.'),
  ...anyEntry,
  ...ofObservation,
  end_time: instantSchema.describe('When it was over.'),
  type: z.enum(['generation', 'embedding']).describe('What was asked of the model.'),
  name: z.string().describe('The name of the observation.'),
  status: z.enum(statuses).describe('How it went.'),
  outcome: z.enum(outcomes).or(z.literal('')).describe('How a proxied call ended; else empty.'),
  status_code: count.describe('The HTTP status the client got; 0 when it is not known.'),
  error: errorSchema.describe('Set when the call failed or was cut.'),
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
      source: z.enum(usageSources).describe('Who counted them.'),
    })
    .meta({ id: 'CallTokens' })
    .describe('Disjoint buckets; null where nobody counted.'),
  cost_usd: dollarsSchema.nullable().describe('null when the model has no known price.'),
})

const toolCallEntrySchema = record('ToolCallEntry', {
  role: z.literal('tool_call').describe('A tool that a model asked for, or that was seen to run.'),
  ...anyEntry,
  ...ofObservation,
  tool_call_id: z.string().describe('As the model gave it; may be empty.'),
  tool_name: z.string().describe('The tool.'),
  arguments: z.string().describe('As the model wrote them.'),
  ...cutText,
  orphan: z.boolean().describe('No later call brought a result, and nothing shows that it ran.'),
  latency_ms: ms
    .nullable()
    .describe(
      'From the end of the asking call to the end of the tool, where its own observation tells ' +
        'that, else to the start of the call that brought the result.',
    ),
  result_observation_id: z
    .string()
    .nullable()
    .describe("The tool's own observation, else the call that brought the result."),
  result_trace_id: traceIdSchema.nullable().describe('The trace of that observation.'),
})

const toolResultEntrySchema = record('ToolResultEntry', {
  role: z
    .literal('tool_result')
    .describe('What came of a tool: it ended, or a client sent its result.'),
  ...anyEntry,
  ...ofObservation,
  tool_call_id: z.string().describe('As the tool or the client told it; may be empty.'),
  tool_name: z.string().nullable().describe('null when the asking call is not in the task.'),
  content: z.string().describe('What the tool gave, or the client sent to the model.'),
  ...cutText,
  orphan: z.boolean().describe('No earlier call of the task asked for it.'),
  latency_ms: ms.nullable().describe("The same as its tool call's."),
  execution_ms: ms
    .nullable()
    .describe('How long the tool ran, by its own observation; null when only a message told it.'),
  status: z
    .enum(statuses)
    .nullable()
    .describe('How the tool ended, by its own observation; null when only a message told it.'),
  error: errorSchema.describe('Set when the tool failed.'),
  call_observation_id: z.string().nullable().describe('The observation of its tool call.'),
  call_trace_id: traceIdSchema.nullable().describe('The trace of that observation.'),
})

const operationSchema = record('OperationEntry', {
  role: z
    .literal('operation')
    .describe('A step that calls no model and no tool; a plain span only when it failed.'),
  ...anyEntry,
  ...ofObservation,
  end_time: instantSchema.describe('When it was over.'),
  type: z
    .enum(['agent', 'chain', 'retriever', 'guardrail', 'evaluator', 'span'])
    .describe('What it is; agents, chains and spans enclose other entries.'),
  name: z.string().describe('The name of the observation.'),
  agent_name: z.string().describe('The agent it belongs to; may be empty.'),
  status: z.enum(statuses).describe('How it went.'),
  error: errorSchema.describe('Set when it failed.'),
  latency_ms: ms.describe('From its start to its end.'),
})

const stateChangeSchema = record('StateChangeEntry', {
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
    .meta({ id: 'EntryActor' })
    .describe('Who did it.'),
  note: z.string().nullable().describe('What they said of it.'),
})

/** One entry of a timeline. */
export const timelineEntrySchema = z
  .discriminatedUnion('role', [
    modelCallSchema,
    toolCallEntrySchema,
    toolResultEntrySchema,
    operationSchema,
    stateChangeSchema,
  ])
  .meta({ id: 'TimelineEntry' })
export type TimelineEntry = z.infer<typeof timelineEntrySchema>
