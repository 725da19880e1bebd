import { z } from 'zod'
import { decodeCursor, encodeCursor } from '../../kernel/pages.ts'
import { problem } from '../../kernel/problem.ts'
import { callCostFields } from '../../model/call-cost.ts'
import { dollarsSchema, record } from '../../model/named-schemas.ts'
import { outcomes, statuses, traceIdSchema, usageSources } from '../../model/observation.ts'
import { markFields } from '../detection/index.ts'
import { instantSchema } from './task.ts'

/** Kinds of timeline entries. */
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

/** Sums up to and including an entry, independent of the page and its filters. */
export const runningTotalsSchema = record('RunningTotals', {
  calls: count.describe('Model calls.'),
  errors: count.describe('Model calls that failed.'),
  tool_calls: count.describe('Tool calls: requested by a model, or observed to run.'),
  total_tokens: count.describe('Tokens of all buckets.'),
  cost_usd: dollarsSchema,
  elapsed_ms: ms.describe('Time since the first entry of the task.'),
})
export type RunningTotals = z.infer<typeof runningTotalsSchema>

const anyEntry = {
  time: instantSchema.describe('Start of the entry; with nanoseconds where known.'),
  since_previous_ms: ms.describe('Time since the previous entry of any role; 0 on the first.'),
  gap_ms: ms
    .nullable()
    .describe(
      'Idle time before the entry: no model call, answered tool call or operation ran, other than ' +
        'operations that enclose others. null when it was shorter than `gap_min_ms`.',
    ),
  running: runningTotalsSchema.describe('Sums up to and including this entry.'),
}

const ofObservation = {
  observation_id: z.string().describe('The observation that the entry comes from.'),
  trace_id: traceIdSchema.describe('The trace of that observation.'),
}

const cutText = {
  is_cut: z.boolean().describe('The text was cut; the observation has the whole text.'),
}

/** The error of a call; null without one. */
export const callErrorSchema = z
  .strictObject({
    type: z.string().describe('The kind of error.'),
    message: z.string().describe('The error message.'),
  })
  .meta({ id: 'CallError' })
  .nullable()

const bucket = (tokens: string) => count.nullable().describe(`${tokens} null when unknown.`)

/** How a proxied call ended; empty for other calls. */
export const callOutcomeSchema = z.enum(outcomes).or(z.literal('')).meta({ id: 'CallOutcome' })

/** Tokens of a call. */
export const callTokensSchema = z
  .strictObject({
    input_uncached: bucket('Input tokens that were not cached.'),
    cache_read: bucket('Input tokens read from the cache.'),
    cache_write: bucket('Input tokens written to the cache.'),
    output_visible: bucket('Output tokens without reasoning.'),
    reasoning: bucket('Output tokens spent on reasoning.'),
    total: count.describe('Sum of the buckets.'),
    source: z.enum(usageSources).describe('Where the counts come from.'),
  })
  .meta({ id: 'CallTokens' })

const modelCallSchema = record('ModelCallEntry', {
  role: z.literal('model_call').describe('A model call.'),
  ...anyEntry,
  ...ofObservation,
  ...markFields,
  end_time: instantSchema.describe('End of the call.'),
  type: z.enum(['generation', 'embedding']).describe('Kind of model call.'),
  name: z.string().describe('The name of the observation.'),
  status: z.enum(statuses).describe('Status of the call.'),
  outcome: callOutcomeSchema.describe('How a proxied call ended; empty for other calls.'),
  status_code: count.describe('HTTP status that the client got; 0 when unknown.'),
  counted_with: z
    .string()
    .describe(
      'Id of the record that counts the same call instead of this one; empty if it counts.',
    ),
  error: callErrorSchema.describe('Set when the call failed or was cut off.'),
  provider: z.string().describe('The provider that was called.'),
  model: z.string().describe('The model that answered, else the requested one.'),
  streamed: z.boolean().describe('Whether the answer was streamed.'),
  finish_reason: z.string().describe('The finish reason that the provider gave.'),
  latency_ms: ms.describe('Time from start to end.'),
  time_to_first_token_ms: ms.nullable().describe('null when the answer was not streamed.'),
  tokens: callTokensSchema.describe('Disjoint buckets; null where unknown.'),
  cost_usd: dollarsSchema.nullable().describe('null when the model has no known price.'),
  ...callCostFields,
})

/** Where a tool call was read from. */
export const toolSourceSchema = z
  .enum(['call', 'text'])
  .meta({ id: 'ToolSource' })
  .describe(
    '`call`: a tool call of the model’s API, or an observation of the tool; `text`: an action that ' +
      'the agent wrote into its answer, such as ReAct’s `Action:`, a code block or a tag.',
  )

const toolCallEntrySchema = record('ToolCallEntry', {
  role: z.literal('tool_call').describe('A tool call: requested by a model, or observed to run.'),
  ...anyEntry,
  ...ofObservation,
  ...markFields,
  tool_call_id: z.string().describe('The id that the model gave; may be empty.'),
  tool_name: z.string().describe('The tool.'),
  arguments: z.string().describe('The arguments as the model wrote them.'),
  ...cutText,
  read_from: toolSourceSchema,
  orphan: z
    .boolean()
    .describe(
      '`true`: no later call brought a result, and no observation shows that the tool ran.',
    ),
  latency_ms: ms
    .nullable()
    .describe(
      'Time from the end of the requesting call to the end of the tool: the end of its own ' +
        'observation, else the start of the call that brought the result.',
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
    .describe('A tool result: the tool ended, or a client sent its result.'),
  ...anyEntry,
  ...ofObservation,
  ...markFields,
  tool_call_id: z.string().describe('The id that the tool or the client gave; may be empty.'),
  tool_name: z.string().nullable().describe('null when the requesting call is not in the task.'),
  content: z.string().describe('Output of the tool, as recorded or as sent to the model.'),
  ...cutText,
  orphan: z.boolean().describe('`true`: no earlier call of the task requested it.'),
  latency_ms: ms.nullable().describe('Latency of its tool call.'),
  execution_ms: ms.nullable().describe('Duration of the tool’s own observation; null without one.'),
  status: z
    .enum(statuses)
    .nullable()
    .describe('Status of the tool’s own observation; null without one.'),
  error: callErrorSchema.describe('Set when the tool failed.'),
  call_observation_id: z.string().nullable().describe('The observation of its tool call.'),
  call_trace_id: traceIdSchema.nullable().describe('The trace of that observation.'),
})

const operationSchema = record('OperationEntry', {
  role: z
    .literal('operation')
    .describe('A step that calls no model and no tool; plain spans only when they failed.'),
  ...anyEntry,
  ...ofObservation,
  end_time: instantSchema.describe('End of the operation.'),
  type: z
    .enum(['agent', 'chain', 'retriever', 'guardrail', 'evaluator', 'span'])
    .describe('Kind of operation; agents, chains and spans enclose other entries.'),
  name: z.string().describe('The name of the observation.'),
  agent_name: z.string().describe('The agent it belongs to; may be empty.'),
  status: z.enum(statuses).describe('Status of the operation.'),
  error: callErrorSchema.describe('Set when it failed.'),
  latency_ms: ms.describe('Time from start to end.'),
})

const stateChangeSchema = record('StateChangeEntry', {
  role: z.literal('state_change').describe('A state change of the task itself.'),
  ...anyEntry,
  event_id: z.uuid().describe('Id of the event.'),
  change: z
    .enum(['created', 'completed', 'failed', 'late_activity'])
    .describe('Kind of state change.'),
  actor: z
    .strictObject({
      kind: z.string().describe('Kind of caller, or part of the service.'),
      id: z.string().nullable().describe('Id of the caller; null for a part of the service.'),
    })
    .meta({ id: 'EntryActor' })
    .describe('Who made the change.'),
  note: z.string().nullable().describe('Note that came with the change.'),
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
export type MarkedEntry = z.infer<typeof timelineEntrySchema>

type Unmarked<Entry> = Entry extends unknown ? Omit<Entry, keyof typeof markFields> : never

/** An entry before its step and findings are added. */
export type TimelineEntry = Unmarked<MarkedEntry>

/** Position of an entry in the timeline: entries are ordered by these fields, first to last. */
export type TimelinePosition = {
  /** Nanoseconds since 1970. */
  time: bigint
  /** Order at one instant: 0 the task's creation, 1 its calls, 2 its end. */
  phase: number
  /** Start of the entry's observation; 0 for a state change. */
  start: bigint
  /** Id of the observation or event. */
  id: string
  /**
   * Order within an observation: results it brought (< 0), the call (0), tools it requested (> 0).
   */
  slot: number
}

/** Compares two positions for sorting: negative when `a` comes first. */
export function comparePositions(a: TimelinePosition, b: TimelinePosition): number {
  return (
    order(a.time, b.time) ||
    a.phase - b.phase ||
    order(a.start, b.start) ||
    order(a.id, b.id) ||
    a.slot - b.slot
  )
}

/** The end of a page: the position of its last entry, and what the next page continues. */
export type PageEnd = {
  position: TimelinePosition
  /** Tool calls of a timeline, or steps of a list of tool calls, up to the position. */
  count: number
  /** The numbers of threads, by a call of each; empty for a timeline. */
  threads: string
}

/** Returns the cursor after an entry of a list, such as `timeline of task-1`. */
export function cursorAfter(list: string, { position, count, threads }: PageEnd): string {
  const { time, phase, start, id, slot } = position
  return encodeCursor(list, [time.toString(), phase, start.toString(), id, slot, count, threads])
}

/** Reads a cursor. Throws `invalid_cursor` for one of another list. */
export function pageEndIn(list: string, cursor: string): PageEnd {
  const [time, phase, start, id, slot, count, threads] = decodeCursor(list, cursor, 7)
  if (
    isInstant(time) &&
    isInstant(start) &&
    typeof phase === 'number' &&
    typeof slot === 'number' &&
    typeof id === 'string' &&
    typeof count === 'number' &&
    typeof threads === 'string'
  ) {
    const position = { time: BigInt(time), phase, start: BigInt(start), id, slot }
    return { position, count, threads }
  }
  throw problem('invalid_cursor', {
    detail: `cursor: got "${cursor.slice(0, 80)}", expected the next_cursor of an earlier page`,
  })
}

/** Returns the position before all entries at or after an instant. */
export function positionBefore(time: bigint): TimelinePosition {
  return { time, phase: -1, start: 0n, id: '', slot: 0 }
}

function isInstant(value: unknown): value is string {
  return typeof value === 'string' && /^\d{1,20}$/.test(value)
}

/** Compares two values for sorting: negative when `a` comes first. */
export function order<T extends bigint | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0
}
