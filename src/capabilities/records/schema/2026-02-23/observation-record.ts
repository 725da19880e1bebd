import { z } from 'zod'
import { expected } from '../../../../model/list-query.ts'
import { record } from '../../../../model/named-schemas.ts'
import {
  observationTypes,
  outcomes,
  spanKinds,
  statuses,
  usageSources,
} from '../../../../model/observation.ts'
import {
  content,
  count,
  dollars,
  instant,
  labels,
  level,
  longText,
  observationId,
  optional,
  ownerFields,
  shortText,
  traceId,
  w3cFields,
} from './fields.ts'

const detailFields = {
  cache_write_5m: optional(count),
  cache_write_1h: optional(count),
  input_audio: optional(count),
  input_image: optional(count),
  input_video: optional(count),
  cache_read_audio: optional(count),
  cache_read_image: optional(count),
  output_audio: optional(count),
  output_image: optional(count),
  web_searches: optional(count),
}

/** Token counts: either the five disjoint buckets, or totals that include their parts. */
const usageFields = {
  input_uncached_tokens: optional(count).describe(
    'Input tokens neither read from nor written to a cache.',
  ),
  output_visible_tokens: optional(count).describe('Output tokens without reasoning.'),
  cache_read_tokens: optional(count),
  cache_write_tokens: optional(count),
  reasoning_tokens: optional(count),
  input_tokens: optional(count).describe(
    'All input tokens, cached ones included; instead of input_uncached_tokens.',
  ),
  output_tokens: optional(count).describe(
    'All output tokens, reasoning included; instead of output_visible_tokens.',
  ),
  total_tokens: optional(count).describe(
    'All tokens of the call, to complete counts that do not state a side. Alone it counts as input.',
  ),
  usage_details: optional(record('IngestUsageDetails', detailFields)).describe(
    'Parts of the counts with prices of their own. Those of the input include cached tokens.',
  ),
  service_tier: optional(shortText(64)).describe(
    'Service tier that the provider used: `standard`, `flex`, `priority`, `batch` or its own word.',
  ),
  usage_source: optional(z.enum(usageSources)).describe(
    'Source of the counts. Default: `provider` with counts, else `none`.',
  ),
}

const fields = z.strictObject({
  trace_id: traceId,
  observation_id: observationId,
  parent_observation_id: optional(shortText(64)),
  type: optional(z.enum(observationTypes)).describe('Type of the observation. Default: `span`.'),
  name: optional(shortText(1024)),
  start_time: instant,
  end_time: optional(instant).describe('End of the observation. Default: `start_time`.'),
  status: optional(z.enum(statuses)).describe(
    'Status. Default: `error` with an error_type, an error_message or a status_code ≥ 400, else `ok`.',
  ),
  status_code: optional(z.int().min(0).max(999)),
  outcome: optional(z.enum(['', ...outcomes])),
  error_type: optional(shortText()),
  error_message: optional(longText),
  provider: optional(shortText()),
  model_requested: optional(shortText()),
  model: optional(shortText()),
  endpoint: optional(shortText()),
  ...ownerFields,
  service_name: optional(shortText()),
  agent_name: optional(shortText()),
  span_kind: optional(z.enum(spanKinds)),
  level: optional(level),
  input: content,
  output: content,
  content_state: optional(z.enum(['full', 'truncated', 'dropped'])),
  tool_calls: optional(
    z
      .array(record('IngestToolCall', { id: z.string(), name: z.string(), arguments: content }))
      .max(1000),
  ),
  tool_results: optional(
    z.array(record('IngestToolResult', { tool_call_id: z.string(), content })).max(1000),
  ),
  streamed: optional(z.boolean()),
  finish_reason: optional(shortText()),
  ...usageFields,
  cost_usd: optional(dollars).describe(
    'Cost in US dollars. Default: computed from model and usage.',
  ),
  time_to_first_token_ms: optional(z.number().nonnegative()),
  request_bytes: optional(count),
  response_bytes: optional(count),
  attributes: optional(labels),
  metadata: optional(labels),
  ...w3cFields,
})

/** One timed operation, as a client reports it. */
export const observationRecord = fields.superRefine((record, context) => {
  const fault = faultBetween(record)
  if (fault === undefined) return
  context.addIssue({ code: 'custom', path: [fault.field], message: fault.detail })
})
export type ObservationRecord = z.output<typeof fields>

/** Returns the first fault between fields. */
function faultBetween(record: ObservationRecord): { field: string; detail: string } | undefined {
  if (record.end_time != null && record.end_time < record.start_time) {
    return { field: 'end_time', detail: 'is before start_time' }
  }
  return (
    totalFault(record, {
      total: 'input_tokens',
      bucket: 'input_uncached_tokens',
      parts: (record.cache_read_tokens ?? 0) + (record.cache_write_tokens ?? 0),
    }) ??
    totalFault(record, {
      total: 'output_tokens',
      bucket: 'output_visible_tokens',
      parts: record.reasoning_tokens ?? 0,
    })
  )
}

type TotalRule = {
  total: 'input_tokens' | 'output_tokens'
  bucket: 'input_uncached_tokens' | 'output_visible_tokens'
  parts: number
}

function totalFault(record: ObservationRecord, { total, bucket, parts }: TotalRule) {
  const tokens = record[total]
  if (tokens == null) return undefined
  if (record[bucket] != null) {
    return { field: total, detail: `is set together with ${bucket}, expected one of the two` }
  }
  if (tokens >= parts) return undefined
  const wanted = `at least the ${parts} tokens of its parts`
  return { field: total, detail: expected(wanted)({ input: tokens }) }
}
