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
