import { type JsonObject, objectFrom } from '../../../kernel/json-values.ts'
import type { Observation } from '../../../model/observation.ts'

/** Token counts of one call in disjoint buckets: their sum is the call's total. */
export type TokenBuckets = {
  input_uncached_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
  output_visible_tokens: number
  reasoning_tokens: number
}

/**
 * Parts of the buckets that have a price of their own, in tokens: cache writes by their life, audio,
 * images and video by bucket (`input_…` lies in `input_uncached_tokens`), the prompt that a tool of
 * the provider added, and `unsplit`, tokens of a call that stated nothing but its total. The only
 * count that is not tokens is `web_searches`.
 */
export type UsageDetailName =
  | 'cache_write_5m'
  | 'cache_write_1h'
  | 'input_audio'
  | 'input_image'
  | 'input_video'
  | 'cache_read_audio'
  | 'cache_read_image'
  | 'output_audio'
  | 'output_image'
  | 'tool_use_prompt'
  | 'unsplit'
  | 'web_searches'

/** Details of a call; those that are 0 or unknown are absent. */
export type UsageDetails = Partial<Record<UsageDetailName, number>>

/** Whether a count includes a part (`inclusive`) or excludes it. */
export type Semantics = 'inclusive' | 'exclusive'

type Count = number | undefined

/** Token counts as a provider or client states them; undefined where nothing is stated. */
export type ReportedUsage = {
  input: Count
  output: Count
  cache_read?: Count
  cache_write?: Count
  reasoning?: Count
  /** Tokens that a tool of the provider added to the prompt; never included in `input`. */
  tool_use_prompt?: Count
  /** All tokens of the call. */
  total?: Count
  /**
   * Stated details. Here `input_audio`, `input_image` and `input_video` count the whole input, with
   * the part that was read from a cache.
   */
  details?: Partial<Record<UsageDetailName, Count>>
}

/** How a format of usage relates its counts. */
export type UsageDialect = {
  /** Whether the input count includes the cached tokens. */
  cached: Semantics
  /** Whether the output count includes the reasoning. */
  reasoning: Semantics
  /**
   * True for Gemini, which states some tokens in nothing but the total: thoughts, and with stated
   * thoughts the prompt of its tools.
   */
  has_hidden_tokens: boolean
}

/** Usage whose buckets explain the stated total. */
export type ExplainedUsage = {
  buckets: TokenBuckets
  details: UsageDetails
  /** Whether counts of the input, and of the output, are known. */
  has_input: boolean
  has_output: boolean
  usage_semantics: Observation['usage_semantics']
  /** True when the counts contradict the dialect, so that cached tokens were read as excluded. */
  is_implied: boolean
  /** Words for `price_partial`: parts whose counts are not certain. */
  unclear: readonly string[]
  /** Description of contradictions between the counts; '' for consistent counts. */
  inconsistency: string
}

/** Largest believable count of tokens; no context window comes near it. */
export const tokens_max = 2 ** 40

/** Returns true for Gemini's models under the names that providers and clients give them. */
export function hasHiddenTokens(provider: string, model: string): boolean {
  if (/gemini/i.test(model)) return true
  return googleProvider.test(provider) && !otherMakers.test(model)
}

const googleProvider = /^(?:gemini|google|gcp|vertex)/i

/** Models of other makers, which Google's cloud sells too. */
const otherMakers = /claude|llama|mistral|codestral|deepseek|qwen|gpt-oss|grok|kimi/i

/** Largest cost of one call in dollars: the limit of its column, less one. */
const dollars_max = 999_999_998

/**
 * Returns an amount as decimal text with at most 9 digits after the point, rounded half up, or
 * undefined for anything but a number from 0 to the largest cost of a call.
 */
export function dollarText(amount: unknown): string | undefined {
  if (typeof amount !== 'number' || !(amount >= 0) || amount > dollars_max) return undefined
  return amount.toFixed(9).replace(/\.?0+$/, '')
}

const ticksPerDollar = 1e10

/**
 * Returns the cost in dollars that a provider's usage states: OpenRouter's `cost` (with a key of the
 * client also the fee of the provider behind it), Perplexity's `cost.total_cost`, xAI's
 * `cost_in_usd_ticks`. Undefined when it states none.
 */
export function reportedCost(usage: JsonObject): string | undefined {
  const { cost, cost_in_usd_ticks, is_byok, cost_details } = usage
  if (typeof cost_in_usd_ticks === 'number') return dollarText(cost_in_usd_ticks / ticksPerDollar)
  const own = typeof cost === 'number' ? cost : objectFrom(cost)?.['total_cost']
  const upstream = objectFrom(cost_details)?.['upstream_inference_cost']
  if (is_byok !== true || typeof upstream !== 'number') return dollarText(own)
  return dollarText((typeof own === 'number' ? own : 0) + upstream)
}

/** Service tiers with one word for the words of all providers; '' when none is stated. */
const words: Readonly<Record<string, string>> = {
  auto: 'standard',
  default: 'standard',
  on_demand: 'standard',
  standard: 'standard',
  standard_only: 'standard',
  flex: 'flex',
  on_demand_flex: 'flex',
  priority: 'priority',
  on_demand_priority: 'priority',
  batch: 'batch',
  batches: 'batch',
  scale: 'scale',
  provisioned_throughput: 'provisioned',
}

const tier_chars_max = 32

/**
 * Returns the service tier of a call from what the answer and the request say, in this order:
 * `standard`, `flex`, `priority`, `batch`, `scale`, `provisioned`, or the provider's own word in
 * lower case; '' when none says it. A request for `auto` says nothing about the answer.
 */
export function serviceTierFrom(answered: unknown, requested?: unknown): string {
  const tier = wordFrom(answered)
  if (tier !== '') return tier
  return requested === 'auto' ? '' : wordFrom(requested)
}

function wordFrom(value: unknown): string {
  if (typeof value !== 'string') return ''
  const word = value
    .trim()
    .toLowerCase()
    .replace(/^(?:service_tier|traffic_type)_/, '')
  if (word === '' || word.includes('unspecified')) return ''
  return words[word] ?? word.replace(/[^a-z0-9_.-]/g, '_').slice(0, tier_chars_max)
}
