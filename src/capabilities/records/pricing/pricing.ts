import { calcPrice, findProvider, type ModelPrice } from '@pydantic/genai-prices'
import { dollarsFrom } from '../../../kernel/dollars.ts'

/** Version of the price table, stored with each cost so that it can be recomputed. */
export const priceVersion = 'genai-prices 0.1.8'

/** Tokens of one call in disjoint buckets: their sum is the call's total. */
export type TokenBuckets = {
  input_uncached_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
  output_visible_tokens: number
  reasoning_tokens: number
}

/** The properties of a call that determine its price. */
export type PricedCall = {
  /** For a provider that the table lacks, a closed model is priced by its name alone. */
  provider: string
  /** Model that answered; when the table lacks it, `model_requested` is used. */
  model: string
  model_requested: string
  /** Start of the call, in milliseconds since 1970, because prices change. */
  at_ms: number
}

/**
 * `cost_usd`: the exact US dollars as decimal text with at most 9 digits after the point (half a
 * nano-dollar rounds up); null when the table has no price. `price_version`: the version of the
 * table, followed by ` by model` when the price follows from the model's name alone.
 */
export type Price = { cost_usd: string | null; price_version: string }

/** Prices a call, without network access. */
export type Pricing = (call: PricedCall, usage: TokenBuckets) => Price

/** Most look-ups kept in memory; when full, all are dropped. A look-up takes 25 µs. */
const lookups_max = 2_000
const day_ms = 86_400_000

/** Creates a pricing that caches the prices of each provider, model and day. */
export function createPricing(): Pricing {
  const known = new Map<string, ModelRates | null>()
  const findRates = (provider: string, model: string, at_ms: number): ModelRates | null => {
    if (model === '') return null
    const day = Math.floor(at_ms / day_ms)
    const key = `${day} ${provider} ${model}`
    const cached = known.get(key)
    if (cached !== undefined) return cached
    if (known.size >= lookups_max) known.clear()
    const rates = lookUp(provider, model, day * day_ms)
    known.set(key, rates)
    return rates
  }
  return ({ provider, model, model_requested, at_ms }, usage) => {
    const match =
      findRates(provider, model, at_ms) ??
      (model_requested === model ? null : findRates(provider, model_requested, at_ms))
    const cost_usd = match && dollars(match.rates, usage)
    const is_by_model = cost_usd !== null && match?.is_by_model === true
    return { cost_usd, price_version: is_by_model ? `${priceVersion} by model` : priceVersion }
  }
}

/** Rates of a model, and whether they follow from its name alone. */
type ModelRates = { rates: Rates; is_by_model: boolean }

function lookUp(provider: string, model: string, day_ms: number): ModelRates | null {
  const is_by_model = provider === '' || findProvider({ providerId: provider }) === undefined
  const sold = is_by_model ? sellerOf(model) : { provider, model: withoutPath(model) }
  const rates = sold && ratesOf(sold.provider, sold.model, day_ms)
  return rates ? { rates, is_by_model } : null
}

function withoutPath(model: string): string {
  return model.startsWith('models/') ? model.slice('models/'.length) : model
}

/** Nano-dollars per million tokens; above `start` tokens of input the rate of that step applies. */
type Rate = { base: bigint; steps: { start: number; rate: bigint }[] }
type Rates = { input: Rate; output: Rate | undefined; cache_read: Rate; cache_write: Rate }

function ratesOf(provider: string, model: string, day_ms: number): Rates | null {
  const prices = pricesOf(provider, model, new Date(day_ms))
  const input = prices && rateFrom(prices['input_mtok'])
  if (!prices || !input) return null
  return {
    input,
    output: rateFrom(prices['output_mtok']),
    cache_read: rateFrom(prices['cache_read_mtok']) ?? input,
    cache_write: rateFrom(prices['cache_write_mtok']) ?? input,
  }
}

function pricesOf(provider: string, model: string, timestamp: Date): ModelPrice | undefined {
  try {
    return calcPrice({ input_tokens: 0 }, model, { providerId: provider, timestamp })?.model_price
  } catch {
    return undefined
  }
}

function rateFrom(price: ModelPrice[string]): Rate | undefined {
  if (price === undefined) return undefined
  if (typeof price === 'number') return { base: nano(price), steps: [] }
  const steps = price.tiers.map((tier) => ({ start: tier.start, rate: nano(tier.price) }))
  return { base: nano(price.base), steps: steps.toSorted((a, b) => b.start - a.start) }
}

function nano(price: number): bigint {
  return BigInt(Math.round(price * 1e9))
}

const million = 1_000_000n

function dollars(rates: Rates, usage: TokenBuckets): string | null {
  const input = usage.input_uncached_tokens + usage.cache_read_tokens + usage.cache_write_tokens
  const output = usage.output_visible_tokens + usage.reasoning_tokens
  if (output > 0 && rates.output === undefined) return null
  const sum =
    rateAt(rates.input, input) * BigInt(usage.input_uncached_tokens) +
    rateAt(rates.cache_read, input) * BigInt(usage.cache_read_tokens) +
    rateAt(rates.cache_write, input) * BigInt(usage.cache_write_tokens) +
    (rates.output ? rateAt(rates.output, input) * BigInt(output) : 0n)
  return dollarsFrom((sum + million / 2n) / million)
}

function rateAt(rate: Rate, inputTokens: number): bigint {
  return rate.steps.find(({ start }) => inputTokens > start)?.rate ?? rate.base
}

/** The seller of a model, and the model's name in the seller's price list. */
type SoldModel = { provider: string; model: string }

/**
 * Names of closed models, which only their maker and licensed clouds sell, and names that only the
 * maker's own API has. Models with open weights are left out on purpose: hosts sell them at
 * different prices, and self-hosted ones cost nothing.
 */
const makers: readonly (readonly [provider: string, name: RegExp])[] = [
  ['openai', /^(?:gpt-(?!oss)|chatgpt-|o\d(?:-|$)|codex-|computer-use-|text-embedding-(?:3|ada))/],
  ['anthropic', /^claude-/],
  ['google', /^gemini-/],
  ['x-ai', /^grok-/],
  ['mistral', /^(?:mistral|magistral|ministral|codestral|devstral|pixtral)-(?:[a-z0-9]+-)?latest$/],
  ['deepseek', /^deepseek-(?:chat|reasoner)$/],
  ['cohere', /^command-[a-z-]+\d\d-20\d\d$/],
  ['perplexity', /^sonar(?:-|$)/],
  ['voyageai', /^voyage-/],
]

/** Ids of Amazon Bedrock: an optional region, a vendor, the vendor's model. */
const bedrockId =
  /^(?:[a-z]{2,6}(?:-gov)?\.)?(?:ai21|amazon|anthropic|cohere|deepseek|meta|mistral|openai|qwen|writer)\./

/**
 * Returns the seller of a model by its name alone: Bedrock's ids are Amazon's, a closed model has
 * its maker's list price. A path before the name, as in LiteLLM and OpenRouter, is ignored.
 * Undefined for names that several hosts may sell at different prices.
 */
export function sellerOf(model: string): SoldModel | undefined {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase()
  if (bedrockId.test(name)) return { provider: 'aws', model: name }
  const maker = makers.find(([, pattern]) => pattern.test(name))
  return maker && { provider: maker[0], model: name }
}
