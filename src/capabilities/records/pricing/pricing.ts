import { dollarsFrom } from '../../../kernel/dollars.ts'
import type { TokenBuckets, UsageDetails, UsageStep } from '../usage/index.ts'
import { type ComputedCost, type Cost, type CostSource, chooseCost } from './choose-cost.ts'
import { type Factor, isTierOfCache, tierFactor } from './list-prices.ts'
import {
  createRates,
  type FindRates,
  type ModelRates,
  priceVersion,
  type Rate,
  type Rates,
} from './rates.ts'

/** The properties of a call that determine its cost. */
export type PricedCall = {
  /** For a provider that the table lacks, a closed model is priced by its name alone. */
  provider: string
  /** Model that answered; when the table lacks it, `model_requested` is used. */
  model: string
  model_requested: string
  /** Start of the call, in milliseconds since 1970, because prices change. */
  at_ms: number
  /** As `serviceTierFrom` returns it; '' or absent for the standard tier. */
  service_tier?: string
  /** Cost that the provider or client states, as decimal text. */
  reported_usd?: string | undefined
}

/** Usage of a call, as far as it is priced. */
export type PricedUsage = {
  buckets: TokenBuckets
  details?: UsageDetails
  /** Words of parts with uncertain counts, as in `ExplainedUsage`. */
  unclear?: readonly string[]
  /** True for counts that were estimated: then a reported cost is better than ours. */
  is_estimated?: boolean
  /** The usage of each model, when more than one model worked on the answer. */
  steps?: readonly UsageStep[]
}

/**
 * Determines the cost of a call, without network access. Without usage only the reported cost
 * remains.
 */
export type Pricing = (call: PricedCall, usage: PricedUsage | undefined) => Cost

/** Largest cost of one call in billionths of a dollar, from its column `Decimal(18, 9)`. */
const nano_max = 10n ** 18n - 1n

/** Creates a pricing that caches rates. `source` says which cost counts when there are two. */
export function createPricing(source: CostSource = 'complete'): Pricing {
  const findRates = createRates()
  return (call, usage) => {
    const computed = usage && computeCost(findRates, call, usage)
    return chooseCost(source, computed, call.reported_usd)
  }
}

function computeCost(findRates: FindRates, call: PricedCall, usage: PricedUsage): ComputedCost {
  const { provider, at_ms } = call
  const own = findOwnRates(findRates, call)
  const conditions = conditionsOf(call, usage)
  const partial: string[] = []
  let micro = 0n
  for (const part of partsOf(usage)) {
    const match = part.model === '' ? own : findRates(provider, part.model, at_ms)
    const price = match && priceCall(match, part, conditions)
    if (price !== null) {
      micro += price.micro
      partial.push(...price.partial)
    } else if (part.model === '') return unpriced
    else partial.push('model')
  }
  const nano = (micro + million / 2n) / million
  if (nano > nano_max) return unpriced
  const price_version = own?.is_by_model === true ? versionByModel : priceVersion
  const words = partial.length > 1 ? [...new Set(partial)].sort() : partial
  const is_exact = words.length === 0 && usage.is_estimated !== true
  return { cost_usd: dollarsFrom(nano), price_version, partial: words, is_exact }
}

const versionByModel = `${priceVersion} by model`

function findOwnRates(findRates: FindRates, call: PricedCall): ModelRates | null {
  const { provider, model, model_requested, at_ms } = call
  const answered = findRates(provider, model, at_ms)
  if (answered !== null || model_requested === model) return answered
  return findRates(provider, model_requested, at_ms)
}

function partsOf(usage: PricedUsage): readonly UsageStep[] {
  const { steps = [], buckets, details = {} } = usage
  return steps.length > 0 ? steps : [{ model: '', buckets, details }]
}

function conditionsOf({ service_tier = '' }: PricedCall, { unclear = [] }: PricedUsage) {
  return { service_tier, unclear }
}

const million = 1_000_000n

const unpriced: ComputedCost = {
  cost_usd: null,
  price_version: priceVersion,
  partial: [],
  is_exact: false,
}

type PartPrice = {
  /** Billionths of a dollar, times a million. */
  micro: bigint
  /** Words for parts without a rate of their own, which were priced as their bucket is. */
  partial: readonly string[]
}

type Priced = { buckets: TokenBuckets; details: UsageDetails }

type Conditions = { service_tier: string; unclear: readonly string[] }

/**
 * Prices usage with the rates of one model. A part without a rate of its own costs what other tokens
 * of its bucket cost, and is named in `partial`. Null when the model has no rate for the output, or
 * when a count may be input or output, whose prices differ.
 */
function priceCall(
  { rates, provider, model }: ModelRates,
  { buckets, details }: Priced,
  { service_tier, unclear }: Conditions,
): PartPrice | null {
  const output_tokens = buckets.output_visible_tokens + buckets.reasoning_tokens
  if (rates.output === undefined && output_tokens > 0) return null
  if (unclear.includes('unsplit') && rates.output !== undefined) return null
  const partial = unclear.filter((word) => isPriced(word, rates))
  if (rates.has_request_fee) partial.push('request_fee')
  const sum = addTerms(listTerms(rates, buckets, details), buckets, partial)
  const factor = tierFactor(provider, model, service_tier)
  const isUnsureCache = buckets.cache_read_tokens > 0 && !isTierOfCache(provider, service_tier)
  if (factor === undefined || isUnsureCache) partial.push('service_tier')
  const micro = factor === undefined ? sum : multiply(sum, factor)
  return addSearches({ micro, partial }, rates, details)
}

/** Returns the price of the terms, and names those without a rate in `partial`. */
function addTerms(terms: readonly Term[], buckets: TokenBuckets, partial: string[]): bigint {
  const input =
    buckets.input_uncached_tokens + buckets.cache_read_tokens + buckets.cache_write_tokens
  let sum = 0n
  for (const { tokens, rate, other, word } of terms) {
    if (tokens <= 0) continue
    if (rate === undefined && word !== undefined) partial.push(word)
    sum += rateAt(rate ?? other, input) * BigInt(tokens)
  }
  return sum
}

/** Unclear counts of audio and images matter only where these have rates of their own. */
function isPriced(word: string, rates: Rates): boolean {
  if (word === 'audio') return rates.input_audio !== rates.input
  if (word === 'image') return rates.input_image !== undefined
  return word !== 'unsplit'
}

/** Tokens at one rate. Without the rate they cost the `other` one, and `word` names them. */
type Term = { tokens: number; rate: Rate | undefined; other: Rate; word?: string }

function listTerms(rates: Rates, buckets: TokenBuckets, details: UsageDetails): Term[] {
  if (isEmpty(details)) return plainTerms(rates, buckets)
  return [
    ...inputTerms(rates, buckets, details),
    ...cacheTerms(rates, buckets, details),
    ...(rates.output ? outputTerms(rates, rates.output, buckets, details) : []),
  ]
}

function isEmpty(details: UsageDetails): boolean {
  for (const _ in details) return false
  return true
}

/** The terms of a call without details, as nearly all are. */
function plainTerms(rates: Rates, buckets: TokenBuckets): Term[] {
  const { input, cache_read, cache_write, output = input } = rates
  const reasoning = rates.reasoning ?? output
  return [
    { tokens: buckets.input_uncached_tokens, rate: input, other: input },
    { tokens: buckets.cache_read_tokens, rate: cache_read, other: cache_read },
    { tokens: buckets.cache_write_tokens, rate: cache_write, other: cache_write },
    { tokens: buckets.output_visible_tokens, rate: output, other: output },
    { tokens: buckets.reasoning_tokens, rate: reasoning, other: reasoning },
  ]
}

function inputTerms(rates: Rates, buckets: TokenBuckets, details: UsageDetails): Term[] {
  const { input_audio = 0, input_image = 0, input_video = 0 } = details
  const text = buckets.input_uncached_tokens - input_audio - input_image - input_video
  return [
    { tokens: text, rate: rates.input, other: rates.input },
    { tokens: input_audio, rate: rates.input_audio, other: rates.input, word: 'audio' },
    // The lists of all providers have the price of text for images and video without their own.
    { tokens: input_image, rate: rates.input_image, other: rates.input },
    { tokens: input_video, rate: rates.input_video, other: rates.input },
  ]
}

function cacheTerms(rates: Rates, buckets: TokenBuckets, details: UsageDetails): Term[] {
  const { cache_read_audio = 0, cache_read_image = 0, cache_write_1h = 0 } = details
  const text = buckets.cache_read_tokens - cache_read_audio - cache_read_image
  const { cache_read, cache_write, input_image } = rates
  const ofImage = input_image === undefined ? cache_read : rates.cache_read_image
  const write = buckets.cache_write_tokens - cache_write_1h
  return [
    { tokens: text, rate: cache_read, other: cache_read },
    { tokens: cache_read_audio, rate: rates.cache_read_audio, other: cache_read, word: 'audio' },
    { tokens: cache_read_image, rate: ofImage, other: cache_read, word: 'image' },
    { tokens: write, rate: cache_write, other: cache_write },
    {
      tokens: cache_write_1h,
      rate: rates.cache_write_1h,
      other: cache_write,
      word: 'cache_write_1h',
    },
  ]
}

function outputTerms(
  rates: Rates,
  output: Rate,
  buckets: TokenBuckets,
  details: UsageDetails,
): Term[] {
  const { output_audio = 0, output_image = 0 } = details
  const written = buckets.output_visible_tokens - output_audio - output_image
  // Audio or images beyond the visible output lie in what the provider counts as reasoning.
  const text = Math.max(0, written)
  const reasoning = buckets.reasoning_tokens + Math.min(0, written)
  return [
    { tokens: text, rate: output, other: output },
    { tokens: reasoning, rate: rates.reasoning ?? output, other: output },
    { tokens: output_audio, rate: rates.output_audio, other: output, word: 'audio' },
    { tokens: output_image, rate: rates.output_image ?? output, other: output },
  ]
}

function rateAt(rate: Rate, inputTokens: number): bigint {
  return rate.steps.find(({ start }) => inputTokens > start)?.rate ?? rate.base
}

/** Rates divide without a rest where a list has them, so that the result is exact. */
function multiply(sum: bigint, [numerator, denominator]: Factor): bigint {
  return denominator === 1n && numerator === 1n ? sum : (sum * numerator) / denominator
}

/** Adds searches, whose price does not depend on the service tier. */
function addSearches(
  price: PartPrice,
  rates: Rates,
  { web_searches = 0 }: UsageDetails,
): PartPrice {
  if (web_searches === 0) return price
  if (rates.web_searches === undefined) {
    return { ...price, partial: [...price.partial, 'web_searches'] }
  }
  return { ...price, micro: price.micro + rateAt(rates.web_searches, 0) * BigInt(web_searches) }
}
