import type { Text } from '../../../../model/ingest-records.ts'
import type { Observation } from '../../../../model/observation.ts'
import type { Cost } from '../../../records/pricing/index.ts'
import {
  type ExplainedUsage,
  explainUsage,
  hasHiddenTokens,
  noTokens,
  type ReportedUsage,
  serviceTierFrom,
} from '../../../records/usage/index.ts'
import type { OtlpSpan } from '../contract.ts'
import type { FieldName } from './contracts/contract-shape.ts'
import { wasPresent } from './mapped-from.ts'
import type { MapperTools } from './read-span.ts'
import { numberIn, type SpanState, textIn } from './span-state.ts'

type Fields = Readonly<Record<FieldName, number>>

/** The usage of a span, and the faults of its counts ('' for good counts). */
export type SpanUsage = {
  usage: ExplainedUsage | undefined
  usage_source: Observation['usage_source']
  inconsistency: string
}

/**
 * Reads the usage of the current span. Counts that can't be believed (negative, above 2^40, no
 * number) are estimated from the content, if there is any.
 */
export function usageOfSpan(tools: MapperTools, input: Text, output: Text): SpanUsage {
  const { state, compiled } = tools
  const f: Fields = compiled.field
  const unusable = usageFields.find((name) => isUnusable(tools, f[name]))
  if (unusable !== undefined) {
    const inconsistency = `not believed: ${unusable}`
    if (input.length + output.length === 0) {
      return { usage: undefined, usage_source: 'none', inconsistency }
    }
    return { usage: estimate(input, output), usage_source: 'estimated', inconsistency }
  }
  const usage = readUsage(state, f)
  if (usage === undefined) return noUsage
  return { usage, usage_source: 'provider', inconsistency: usage.inconsistency }
}

const noUsage: SpanUsage = { usage: undefined, usage_source: 'none', inconsistency: '' }

const usageFields = ['input_tokens', 'output_tokens'] as const

/** Returns true if sources of a field are present, and none of them has a usable value. */
function isUnusable({ state, compiled }: MapperTools, field: number): boolean {
  if (state.values[field] !== undefined) return false
  const { sources } = compiled.fields[field] ?? { sources: [] }
  return sources.some(({ hit }) => wasPresent(state.words, compiled.fields.length, hit))
}

const bytesPerToken = 4

function estimate(input: Text, output: Text): ExplainedUsage {
  return {
    buckets: {
      ...noTokens,
      input_uncached_tokens: Math.ceil(input.length / bytesPerToken),
      output_visible_tokens: Math.ceil(output.length / bytesPerToken),
    },
    details: {},
    has_input: true,
    has_output: true,
    usage_semantics: '',
    is_implied: false,
    unclear: [],
    inconsistency: '',
  }
}

function readUsage(state: SpanState, f: Fields): ExplainedUsage | undefined {
  const details = {
    input_audio: numberIn(state, f.input_audio_tokens),
    input_image: numberIn(state, f.input_image_tokens),
    cache_read_audio: numberIn(state, f.cache_read_audio_tokens),
    output_audio: numberIn(state, f.output_audio_tokens),
    cache_write_5m: numberIn(state, f.cache_write_5m_tokens),
    cache_write_1h: numberIn(state, f.cache_write_1h_tokens),
  }
  const isBeside = textIn(state, f.details_semantics) === 'exclusive'
  const ofInput = isBeside ? (details.input_audio ?? 0) + (details.input_image ?? 0) : 0
  const ofOutput = isBeside ? (details.output_audio ?? 0) : 0
  const total = numberIn(state, f.total_tokens)
  const reported: ReportedUsage = {
    input: plus(numberIn(state, f.input_tokens), ofInput),
    output: plus(numberIn(state, f.output_tokens), ofOutput),
    cache_read: numberIn(state, f.cache_read_tokens),
    cache_write: numberIn(state, f.cache_write_tokens),
    reasoning: numberIn(state, f.reasoning_tokens),
    total,
    details,
  }
  const provider = textIn(state, f.provider)
  return explainUsage(reported, {
    cached: textIn(state, f.usage_semantics) === 'exclusive' ? 'exclusive' : 'inclusive',
    reasoning: textIn(state, f.output_semantics) === 'exclusive' ? 'exclusive' : 'inclusive',
    has_hidden_tokens: total !== undefined && hasHiddenTokens(provider, modelOf(state, f)),
  })
}

function plus(count: number | undefined, more: number): number | undefined {
  return count === undefined ? undefined : count + more
}

function modelOf(state: SpanState, f: Fields): string {
  return textIn(state, f.model) || textIn(state, f.model_requested)
}

/** The service tier that the current span states. */
export function tierOfSpan({ state, compiled }: MapperTools): string {
  return serviceTierFrom(textIn(state, compiled.field.service_tier))
}

/**
 * Returns the cost of the current span: computed for model calls only, because agents and chains
 * repeat their usage.
 */
export function costOfSpan(tools: MapperTools, { type, read, start_time, span }: PricedSpan): Cost {
  const { usage, usage_source } = read
  const { state, compiled, options } = tools
  const f: Fields = compiled.field
  const isCall = type === 'generation' || type === 'embedding'
  const call = {
    provider: textIn(state, f.provider),
    model: modelOf(state, f),
    model_requested: textIn(state, f.model_requested),
    at_ms: Number(start_time / 1_000_000n),
    service_tier: tierOfSpan(tools),
    reported_usd: textIn(state, f.cost_usd) || undefined,
  }
  const is_estimated = usage_source === 'estimated'
  const priced = isCall && usage !== undefined ? { ...usage, is_estimated } : undefined
  const cost = options.pricing(call, priced)
  if (isCall && isCacheHit(span)) return { ...cost, ...unpaid }
  return cost.cost_usd === null ? { ...cost, price_version: '' } : cost
}

/** LiteLLM answers equal calls from a cache of its own, with the tokens of the first one. */
const cacheHitKey = 'litellm.cache_hit'

/** The cost of an answer that was not paid. The computed cost stays: it is what the cache saved. */
const unpaid = {
  cost_usd: '0',
  cost_reported_usd: '0',
  price_version: 'reported',
  price_partial: [],
}

function isCacheHit({ attributes: { keys, values } }: OtlpSpan): boolean {
  const at = keys.indexOf(cacheHitKey)
  const value = at === -1 ? false : values[at]
  return value === true || value === 'true' || value === 'True'
}

type PricedSpan = {
  type: Observation['type']
  read: SpanUsage
  start_time: bigint
  span: OtlpSpan
}

/** Returns the columns of a span's usage. */
export function usageColumns({ usage, usage_source }: SpanUsage) {
  const input = usage?.has_input ? usage.buckets : undefined
  const output = usage?.has_output ? usage.buckets : undefined
  return {
    input_uncached_tokens: input?.input_uncached_tokens ?? null,
    cache_read_tokens: input?.cache_read_tokens ?? null,
    cache_write_tokens: input?.cache_write_tokens ?? null,
    output_visible_tokens: output?.output_visible_tokens ?? null,
    reasoning_tokens: output?.reasoning_tokens ?? null,
    usage_source,
    usage_semantics: usage?.usage_semantics ?? '',
    usage_details: usage?.details ?? noDetails,
  }
}

const noDetails: Readonly<Record<string, number>> = {}
