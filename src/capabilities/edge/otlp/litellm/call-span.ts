import {
  itemsOf,
  type JsonObject,
  jsonText,
  objectFrom,
  textFrom,
} from '../../../../kernel/json-values.ts'
import type { OtlpRequest, OtlpSpan, OtlpValue } from '../contract.ts'
import { emptySpan } from '../decode/items.ts'
import { itemId, sessionTraceId } from '../sessions/session-ids.ts'
import type { LiteLlmCall } from './decode-calls.ts'

/**
 * Returns the calls as spans, for the mapping of OTLP. Calls with one `trace_id` of LiteLLM, which
 * is the session if the caller names one, are one trace of the project.
 */
export function spansOfCalls(
  request: OtlpRequest<LiteLlmCall>,
  project_id: string,
): OtlpRequest<OtlpSpan> {
  const groups = request.groups.map(({ resource, scope, items }) => ({
    resource,
    scope,
    items: items.map((call) => spanOf(call, project_id)),
  }))
  return { ...request, groups }
}

function spanOf({ call_id, payload }: LiteLlmCall, project_id: string): OtlpSpan {
  const span = emptySpan()
  const session = textFrom(payload['trace_id']) || call_id
  span.trace_id = sessionTraceId({ project_id, client: 'litellm', session, prompt: '' })
  span.span_id = itemId([span.trace_id, call_id], span.attributes)
  span.name = `${kindOf(payload)} ${textFrom(payload['model'])}`.trimEnd()
  span.start_time = instantOf(payload['startTime'])
  span.end_time = instantOf(payload['endTime'])
  const given = { ...attributesOf(payload), ...usageOf(payload), 'litellm.call_id': call_id }
  if (payload['status'] === 'failure') {
    span.status_code = 2
    span.status_message = textFrom(payload['error_str'])
  }
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined || value === '') continue
    span.attributes.keys.push(key)
    span.attributes.values.push(value)
  }
  return span
}

type Attributes = Record<string, OtlpValue | undefined>

function attributesOf(payload: JsonObject): Attributes {
  const response = objectFrom(payload['response'])
  const metadata = objectFrom(payload['metadata'])
  const error = objectFrom(payload['error_information'])
  const isFailed = payload['status'] === 'failure'
  const choices = itemsOf(response?.['choices']).map(objectFrom)
  const messages = choices.map((choice) => choice?.['message']).filter(Boolean)
  const cost = payload['response_cost']
  return {
    'gen_ai.operation.name': kindOf(payload),
    'gen_ai.provider.name': textFrom(payload['custom_llm_provider']),
    'gen_ai.request.model': textFrom(payload['model']),
    'gen_ai.response.model': isFailed ? undefined : textFrom(response?.['model']),
    'gen_ai.response.id': isFailed ? undefined : textFrom(payload['id']),
    'gen_ai.response.finish_reasons': textFrom(choices[0]?.['finish_reason']),
    'gen_ai.input.messages': contentOf(payload['messages']),
    'gen_ai.output.messages': messages.length === 0 ? undefined : jsonText(messages),
    'gen_ai.usage.cost': typeof cost === 'number' && cost > 0 ? cost : undefined,
    'user.id': textFrom(payload['end_user']) || userOf(payload),
    'http.response.status_code': codeOf(error?.['error_code']),
    'error.type': textFrom(error?.['error_class']),
    'gen_ai.response.time_to_first_chunk': firstChunkSeconds(payload),
    'litellm.call_type': textFrom(payload['call_type']),
    'litellm.model_group': textFrom(payload['model_group']),
    'litellm.cache_hit': payload['cache_hit'] === true ? true : undefined,
    'litellm.key_alias': textFrom(metadata?.['user_api_key_alias']),
    'litellm.team_alias': textFrom(metadata?.['user_api_key_team_alias']),
  }
}

function kindOf(payload: JsonObject): string {
  const type = textFrom(payload['call_type'])
  if (type.includes('embedding')) return 'embeddings'
  return type.includes('rerank') ? 'rerank' : 'chat'
}

function contentOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? value : jsonText(value)
}

/** The user that the caller gave to the provider. */
function userOf(payload: JsonObject): string {
  return textFrom(objectFrom(payload['model_parameters'])?.['user'])
}

function codeOf(value: unknown): number | undefined {
  return /^[1-5]\d\d$/.test(String(value)) ? Number(value) : undefined
}

/** LiteLLM's usage has the form of chat completions: the parts are inside the totals. */
function usageOf(payload: JsonObject): Attributes {
  if (payload['status'] === 'failure') return {}
  const response = objectFrom(payload['response'])
  const usage = objectFrom(response?.['usage']) ?? payload
  const input = objectFrom(usage['prompt_tokens_details'])
  const output = objectFrom(usage['completion_tokens_details'])
  return {
    'gen_ai.usage.input_tokens': countOf(usage['prompt_tokens']),
    'gen_ai.usage.output_tokens': countOf(usage['completion_tokens']),
    'gen_ai.usage.cache_read.input_tokens': countOf(input?.['cached_tokens']),
    'gen_ai.usage.cache_write.input_tokens': countOf(input?.['cache_creation_tokens']),
    'gen_ai.usage.reasoning.output_tokens': countOf(output?.['reasoning_tokens']),
  }
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

function firstChunkSeconds(payload: JsonObject): number | undefined {
  const { startTime: start, completionStartTime: first, stream } = payload
  if (stream !== true || typeof start !== 'number' || typeof first !== 'number') return undefined
  return first >= start ? first - start : undefined
}

const seconds_max = 1e11

/** Converts seconds since 1970 to nanoseconds; 0 for anything else. */
function instantOf(value: unknown): bigint {
  if (typeof value !== 'number' || !(value > 0 && value < seconds_max)) return 0n
  return BigInt(Math.round(value * 1e6)) * 1_000n
}
