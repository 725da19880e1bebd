import { z } from 'zod'
import { traceIdPattern } from '../kernel/ids.ts'

/** A trace id in records and answers; see `traceIdPattern` of the kernel. */
export const traceIdSchema = z.string().regex(traceIdPattern).meta({ format: 'uuid' })

/** What kind of operation an observation is. */
export const observationTypes = [
  'generation',
  'tool',
  'agent',
  'chain',
  'retriever',
  'embedding',
  'guardrail',
  'evaluator',
  'span',
] as const

/** How a proxied call ended. */
export const outcomes = [
  'complete',
  'provider_error',
  'client_gone',
  'upstream_cut',
  'timeout',
  'refused',
] as const
export type Outcome = (typeof outcomes)[number]

export const spanKinds = ['', 'internal', 'server', 'client', 'producer', 'consumer'] as const
export const levels = ['', 'debug', 'default', 'warning', 'error'] as const

/** Who counted the tokens of a call. */
export const usageSources = ['provider', 'estimated', 'none'] as const

export const statuses = ['ok', 'error', 'cancelled'] as const

/** One call of a tool that a model asked for. `arguments` is the text the model wrote. */
export const toolCallSchema = z.object({
  id: z.string(),
  name: z.string(),
  arguments: z.string(),
})
export type ToolCall = z.infer<typeof toolCallSchema>

/** One result that a client sent back for a tool call; `content` is cut to a stated size. */
export const toolResultSchema = z.object({ tool_call_id: z.string(), content: z.string() })
export type ToolResult = z.infer<typeof toolResultSchema>

const tokens = z.int().nonnegative().nullable()

/**
 * One timed operation, as stored. Times are nanoseconds since 1970 (wall clock). Strings that are
 * not known are empty; numbers that are not known are null, because 0 would be a claim.
 */
export const observationSchema = z.object({
  project_id: z.uuid(),
  trace_id: traceIdSchema,
  observation_id: z.string().min(1).max(64),
  parent_observation_id: z.string().max(64),
  type: z.enum(observationTypes),
  name: z.string(),
  start_time: z.bigint(),
  end_time: z.bigint(),
  status: z.enum(statuses),
  status_code: z.int().nonnegative(),
  outcome: z.enum(outcomes).or(z.literal('')),
  error_type: z.string(),
  error_message: z.string(),
  /** The path in: `proxy`, `otlp` or `api`. */
  source: z.enum(['proxy', 'otlp', 'api']),
  /** Version of the mapping that made this row of what came in. */
  contract_version: z.string(),
  provider: z.string(),
  model_requested: z.string(),
  model: z.string(),
  endpoint: z.string(),
  task_id: z.string().max(256),
  task_name: z.string(),
  /** True when no X-Task-ID came and the trace stands for the task. */
  task_implicit: z.boolean(),
  conversation_id: z.string(),
  conversation_external_id: z.string(),
  user_id: z.string(),
  environment: z.string(),
  release: z.string(),
  /** `service.name` of the resource that reported it. */
  service_name: z.string(),
  agent_name: z.string(),
  /** The kind of an OpenTelemetry span; empty for what is none. */
  span_kind: z.enum(spanKinds),
  /** How much it matters, where the client said so; an error is told by `status`. */
  level: z.enum(levels),
  /** Content as the provider's JSON text; empty when it was not captured (see content_state). */
  input: z.string(),
  output: z.string(),
  content_state: z.enum(['full', 'truncated', 'dropped', 'expired']),
  tool_calls: z.array(toolCallSchema),
  tool_results: z.array(toolResultSchema),
  streamed: z.boolean(),
  finish_reason: z.string(),
  /** Disjoint buckets: their sum is the call's total. */
  input_uncached_tokens: tokens,
  cache_read_tokens: tokens,
  cache_write_tokens: tokens,
  output_visible_tokens: tokens,
  reasoning_tokens: tokens,
  usage_source: z.enum(usageSources),
  /** Whether the provider's input count included cached tokens. */
  usage_semantics: z.enum(['inclusive', 'exclusive', '']),
  /** Decimal USD with at most 9 digits after the point. */
  cost_usd: z.string().nullable(),
  price_version: z.string(),
  time_to_first_token_ms: z.number().nonnegative().nullable(),
  request_bytes: z.int().nonnegative(),
  response_bytes: z.int().nonnegative(),
  attributes: z.record(z.string(), z.string()),
  /** What the client's user attached: labels of their own, no telemetry. */
  metadata: z.record(z.string(), z.string()),
  /** Which source gave each field, in the words of the mapping's contract; empty for proxied calls. */
  mapped_from: z.string(),
  /** The queue message that brought the row; a redelivery brings the same. */
  message_id: z.string(),
})
export type Observation = z.infer<typeof observationSchema>
