import { z } from 'zod'
import { traceIdPattern } from '../kernel/ids.ts'

/** A trace id in records and responses; see `traceIdPattern` of the kernel. */
export const traceIdSchema = z.string().regex(traceIdPattern).meta({ format: 'uuid' })

/** Types of observations. */
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

/** Sources of the token counts of a call. */
export const usageSources = ['provider', 'estimated', 'none'] as const

export const statuses = ['ok', 'error', 'cancelled'] as const

/** A tool call that a model requested. `arguments` is the text of the model. */
const toolCallSchema = z.object({
  id: z.string(),
  name: z.string(),
  arguments: z.string(),
})
export type ToolCall = z.infer<typeof toolCallSchema>

/** A result that a client sent for a tool call. `content` is cut to a size limit. */
const toolResultSchema = z.object({ tool_call_id: z.string(), content: z.string() })
export type ToolResult = z.infer<typeof toolResultSchema>

const tokens = z.int().nonnegative().nullable()

/**
 * One timed operation, as stored. Times are nanoseconds since 1970 (wall clock). Unknown strings
 * are empty. Unknown numbers are null, because 0 is a valid value.
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
  /** Ingest path: `proxy`, `otlp` or `api`. */
  source: z.enum(['proxy', 'otlp', 'api']),
  /** Version of the mapping contract that produced this row. */
  contract_version: z.string(),
  provider: z.string(),
  model_requested: z.string(),
  model: z.string(),
  endpoint: z.string(),
  task_id: z.string().max(256),
  task_name: z.string(),
  /** True when the client sent no X-Task-ID and the trace id is the task id. */
  task_implicit: z.boolean(),
  conversation_id: z.string(),
  conversation_external_id: z.string(),
  user_id: z.string(),
  environment: z.string(),
  release: z.string(),
  /** `service.name` of the reporting resource. */
  service_name: z.string(),
  agent_name: z.string(),
  /** Kind of an OpenTelemetry span; empty for other observations. */
  span_kind: z.enum(spanKinds),
  /** Importance, if the client set it. Errors are marked by `status`. */
  level: z.enum(levels),
  /** Content as JSON text of the provider. Empty when not captured; see content_state. */
  input: z.string(),
  output: z.string(),
  /** `none`: none was sent; `dropped`: not kept, by a limit or a capture policy. */
  content_state: z.enum(['full', 'truncated', 'none', 'dropped', 'expired']),
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
  /** Whether the provider's input count includes cached tokens. */
  usage_semantics: z.enum(['inclusive', 'exclusive', '']),
  /**
   * Parts of the buckets with prices of their own: cache writes by life, audio, images, the prompt
   * of a provider's tools.
   */
  usage_details: z.record(z.string(), z.int().nonnegative()),
  /** `standard`, `flex`, `priority`, `batch` or a provider's own word; empty when unknown. */
  service_tier: z.string(),
  /** Decimal USD with at most 9 digits after the point: the cost that counts. */
  cost_usd: z.string().nullable(),
  price_version: z.string(),
  /** Parts of the call that were priced without a rate of their own. */
  price_partial: z.array(z.string()),
  /** The provider's name of its answer; empty when unknown. */
  response_id: z.string(),
  /** Id of the row that counts the same call instead of this one; empty for a row that counts. */
  counted_with: z.string(),
  /** The cost from our price table, and the cost that the provider or client reported. */
  cost_computed_usd: z.string().nullable(),
  cost_reported_usd: z.string().nullable(),
  time_to_first_token_ms: z.number().nonnegative().nullable(),
  request_bytes: z.int().nonnegative(),
  response_bytes: z.int().nonnegative(),
  attributes: z.record(z.string(), z.string()),
  /** Labels of the application, not telemetry. */
  metadata: z.record(z.string(), z.string()),
  /** Source of each field, in terms of the mapping contract. Empty for proxied calls. */
  mapped_from: z.string(),
  /** Id of the queue message with the row. A redelivery has the same id. */
  message_id: z.string(),
})
export type Observation = z.infer<typeof observationSchema>

/** Returns whether an observation has no content: none was sent, kept or left. */
export function hasNoContent({ content_state }: Pick<Observation, 'content_state'>): boolean {
  return content_state !== 'full' && content_state !== 'truncated'
}

/** Returns whether an observation is a model call. An agent or a chain repeats the usage of its calls. */
export function isModelCall({ type }: Pick<Observation, 'type'>): boolean {
  return type === 'generation' || type === 'embedding'
}

/** Returns whether an observation counts as a model call: no other row counts the same one. */
export function isCountedCall(row: Pick<Observation, 'type' | 'counted_with'>): boolean {
  return isModelCall(row) && row.counted_with === ''
}

/** The same as a condition of SQL on the columns of observations, for both stores. */
export const countedCallSql = "(type IN ('generation', 'embedding') AND counted_with = '')"
