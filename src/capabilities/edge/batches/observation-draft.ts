import type { ObservationDraft } from '../../../model/ingest-records.ts'
import type { Observation, ToolCall, ToolResult } from '../../../model/observation.ts'
import type { ObservationRecord, TraceRecord } from '../../records/schema/index.ts'
import {
  type ExplainedUsage,
  explainUsage,
  noTokens,
  type ReportedUsage,
  serviceTierFrom,
  type TokenBuckets,
} from '../../records/usage/index.ts'
import { conversationOf, type DraftContext, orEmpty, textOf, toPairs } from './draft-context.ts'

/** Version of this mapping, stored in each of its rows. */
const contract_version = 'canonical-2026-02-23'

/** Maps a valid record to a draft. Ownership fields are inherited from its trace's record. */
export function observationDraft(
  record: ObservationRecord,
  context: DraftContext,
): ObservationDraft {
  const { start_time } = record
  return {
    project_id: context.project_id,
    trace_id: record.trace_id,
    observation_id: record.observation_id,
    parent_observation_id: orEmpty(record.parent_observation_id),
    type: record.type ?? 'span',
    name: orEmpty(record.name),
    start_time,
    end_time: record.end_time ?? start_time,
    status: statusOf(record),
    status_code: record.status_code ?? 0,
    outcome: orEmpty(record.outcome),
    error_type: orEmpty(record.error_type),
    error_message: orEmpty(record.error_message),
    source: 'api',
    contract_version,
    provider: orEmpty(record.provider),
    model_requested: orEmpty(record.model_requested),
    model: orEmpty(record.model),
    endpoint: orEmpty(record.endpoint),
    ...ownerColumns(record, context.traces.get(record.trace_id), context),
    service_name: orEmpty(record.service_name),
    agent_name: orEmpty(record.agent_name),
    span_kind: orEmpty(record.span_kind),
    level: orEmpty(record.level),
    input: textOf(record.input),
    output: textOf(record.output),
    content_state: record.content_state ?? 'full',
    tool_calls: toolCallsOf(record),
    tool_results: toolResultsOf(record),
    streamed: record.streamed ?? false,
    response_id: String(record.attributes?.['gen_ai.response.id'] ?? '').slice(0, 256),
    counted_with: '',
    finish_reason: orEmpty(record.finish_reason),
    ...usageColumns(record, context),
    time_to_first_token_ms: record.time_to_first_token_ms ?? null,
    request_bytes: record.request_bytes ?? 0,
    response_bytes: record.response_bytes ?? 0,
    attributes: toPairs(record.attributes),
    metadata: toPairs(record.metadata),
    mapped_from: '',
  }
}

function statusOf(record: ObservationRecord): ObservationDraft['status'] {
  return record.status ?? (hasError(record) ? 'error' : 'ok')
}

function hasError({ error_type, error_message, status_code }: ObservationRecord): boolean {
  return Boolean(error_type || error_message) || (status_code ?? 0) >= 400
}

function ownerColumns(
  record: ObservationRecord,
  trace: TraceRecord | undefined,
  context: DraftContext,
) {
  // A task's name belongs to its id, so it is never taken from another task.
  const ownTask = record.task_id || undefined
  const task_id = ownTask ?? (trace?.task_id || undefined)
  const named = record.conversation_id || trace?.conversation_id || ''
  const { conversation_id, external_id } = conversationOf(context, named)
  return {
    task_id: task_id ?? record.trace_id,
    task_name: record.task_name || (ownTask === undefined ? trace?.task_name : '') || '',
    task_implicit: task_id === undefined,
    conversation_id,
    conversation_external_id: external_id ?? '',
    user_id: record.user_id || trace?.user_id || '',
    environment: record.environment || trace?.environment || '',
    release: record.release || trace?.release || '',
  }
}

const noCalls: ToolCall[] = []
const noResults: ToolResult[] = []

function toolCallsOf({ tool_calls }: ObservationRecord): ToolCall[] {
  if (tool_calls == null || tool_calls.length === 0) return noCalls
  return tool_calls.map((call) => ({
    id: call.id,
    name: call.name,
    arguments: textOf(call.arguments),
  }))
}

function toolResultsOf({ tool_results }: ObservationRecord): ToolResult[] {
  if (tool_results == null || tool_results.length === 0) return noResults
  return tool_results.map((result) => ({
    tool_call_id: result.tool_call_id,
    content: textOf(result.content),
  }))
}

/** Returns the token and cost columns of a record whose counts are consistent. */
function usageColumns(record: ObservationRecord, { pricing }: DraftContext) {
  const usage = explainUsage(reportedUsage(record), {
    cached: record.input_tokens == null ? 'exclusive' : 'inclusive',
    reasoning: record.output_tokens == null ? 'exclusive' : 'inclusive',
    has_hidden_tokens: false,
  })
  const service_tier = serviceTierFrom(record.service_tier)
  const reported_usd = record.cost_usd == null ? undefined : decimalOf(record.cost_usd)
  const hasModel = Boolean(record.model || record.model_requested)
  const call = { ...pricedCall(record), service_tier, reported_usd }
  const cost = pricing(call, hasModel ? usage : undefined)
  return {
    ...bucketColumns(record, usage),
    usage_details: usage?.details ?? {},
    service_tier,
    ...cost,
    ...(reported_usd !== undefined && ownCost(reported_usd)),
  }
}

/**
 * A cost in a record is a field of the client's own record, so it counts. The setting for costs that
 * providers report does not apply.
 */
function ownCost(cost_usd: string) {
  return { cost_usd, price_version: '', price_partial: [] }
}

function reportedUsage(record: ObservationRecord): ReportedUsage {
  const known = (count: number | null | undefined) => count ?? undefined
  return {
    input: known(record.input_tokens) ?? known(record.input_uncached_tokens),
    output: known(record.output_tokens) ?? known(record.output_visible_tokens),
    cache_read: known(record.cache_read_tokens),
    cache_write: known(record.cache_write_tokens),
    reasoning: known(record.reasoning_tokens),
    total: known(record.total_tokens),
    details: detailsOf(record),
  }
}

function detailsOf({ usage_details }: ObservationRecord): NonNullable<ReportedUsage['details']> {
  const stated = Object.entries(usage_details ?? {}).filter(([, count]) => count != null)
  return Object.fromEntries(stated)
}

/** Returns the buckets; those that the record does not state and no tokens are in are null. */
function bucketColumns(
  record: ObservationRecord,
  usage: ExplainedUsage | undefined,
): Pick<Observation, keyof TokenBuckets | 'usage_source' | 'usage_semantics'> {
  const buckets = usage?.buckets ?? noTokens
  const column = (name: keyof TokenBuckets, isStated: boolean) =>
    isStated || buckets[name] > 0 ? buckets[name] : null
  const { input_tokens, input_uncached_tokens, output_tokens, output_visible_tokens } = record
  return {
    input_uncached_tokens: column(
      'input_uncached_tokens',
      input_tokens != null || input_uncached_tokens != null,
    ),
    cache_read_tokens: column('cache_read_tokens', record.cache_read_tokens != null),
    cache_write_tokens: column('cache_write_tokens', record.cache_write_tokens != null),
    output_visible_tokens: column(
      'output_visible_tokens',
      output_tokens != null || output_visible_tokens != null,
    ),
    reasoning_tokens: column('reasoning_tokens', record.reasoning_tokens != null),
    usage_source: usage === undefined ? 'none' : (record.usage_source ?? 'provider'),
    usage_semantics: semanticsOf(record, usage),
  }
}

function semanticsOf(
  record: ObservationRecord,
  usage: ExplainedUsage | undefined,
): Observation['usage_semantics'] {
  if (usage === undefined) return ''
  return record.input_tokens == null ? 'exclusive' : 'inclusive'
}

function pricedCall(record: ObservationRecord) {
  return {
    provider: record.provider ?? '',
    model: record.model ?? '',
    model_requested: record.model_requested ?? '',
    at_ms: Number(record.start_time / 1_000_000n),
  }
}

/** toFixed rounds half a nano-dollar up, as our own prices do. */
function decimalOf(given: string | number): string {
  return typeof given === 'string' ? given : given.toFixed(9)
}
