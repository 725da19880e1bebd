import { calcPrice, findProvider, type ModelPrice } from '@pydantic/genai-prices'
import { BoundedCache } from '../../../kernel/bounded-cache.ts'
import { hourWriteFactor, isAudioAsText, listedAudioRates, listsVersion } from './list-prices.ts'

/** Versions of the price table and of our lists, stored with each cost so that it can be recomputed. */
export const priceVersion = `genai-prices 0.1.8, lists ${listsVersion}`

/** Nano-dollars per million tokens; above `start` tokens of input the rate of that step applies. */
export type Rate = { base: bigint; steps: { start: number; rate: bigint }[] }

/** Rates of a model; kinds of tokens without a rate of their own are undefined. */
export type Rates = {
  input: Rate
  output: Rate | undefined
  reasoning: Rate | undefined
  cache_read: Rate
  cache_write: Rate
  cache_write_1h: Rate | undefined
  input_audio: Rate | undefined
  cache_read_audio: Rate | undefined
  output_audio: Rate | undefined
  input_image: Rate | undefined
  cache_read_image: Rate | undefined
  output_image: Rate | undefined
  input_video: Rate | undefined
  /** Nano-dollars per million searches. */
  web_searches: Rate | undefined
  /** Whether each request has a fee, which depends on conditions that no usage states. */
  has_request_fee: boolean
}

/** Rates of a model, with the names of its seller and of itself in the table. */
export type ModelRates = {
  rates: Rates
  provider: string
  model: string
  /** Whether the rates follow from the model's name alone. */
  is_by_model: boolean
}

/** Finds the rates of a model at a time; null for a model that the table lacks. */
export type FindRates = (provider: string, model: string, at_ms: number) => ModelRates | null

/** Most look-ups kept in memory. A look-up takes 25 µs. */
const lookups_max = 2_000
const day_ms = 86_400_000

/** Creates a look-up that remembers the rates of each provider, model and day. */
export function createRates(): FindRates {
  const known = new BoundedCache<string, ModelRates | null>(lookups_max)
  return (provider, model, at_ms) => {
    if (model === '') return null
    const day = Math.floor(at_ms / day_ms)
    const key = `${day} ${provider} ${model}`
    const cached = known.get(key)
    if (cached !== undefined) return cached
    const rates = lookUp(provider, model, day * day_ms)
    known.set(key, rates)
    return rates
  }
}

function lookUp(provider: string, model: string, day_ms: number): ModelRates | null {
  const seller = provider === '' ? undefined : findProvider({ providerId: provider })
  const sold = seller ? { provider, model: withoutPath(model) } : sellerOf(model)
  const prices = sold && pricesOf(sold.provider, sold.model, new Date(day_ms))
  if (prices === undefined) return null
  const id = seller?.id ?? sold?.provider ?? ''
  const name = (sold?.model ?? model).toLowerCase()
  const rates = ratesFrom({ ...listedAudioRates(id, name), ...prices }, id, name)
  return rates && { rates, provider: id, model: name, is_by_model: seller === undefined }
}

function withoutPath(model: string): string {
  return model.startsWith('models/') ? model.slice('models/'.length) : model
}

function pricesOf(provider: string, model: string, timestamp: Date): ModelPrice | undefined {
  try {
    return calcPrice({ input_tokens: 0 }, model, { providerId: provider, timestamp })?.model_price
  } catch {
    return undefined
  }
}

function ratesFrom(prices: ModelPrice, provider: string, model: string): Rates | null {
  const input = rateFrom(prices['input_mtok'])
  if (input === undefined) return null
  const asText = isAudioAsText(provider, model) ? input : undefined
  const searches = rateFrom(prices['web_searches_kcount'])
  return {
    input,
    output: rateFrom(prices['output_mtok']),
    reasoning: rateFrom(prices['output_reasoning_mtok']),
    cache_read: rateFrom(prices['cache_read_mtok']) ?? input,
    cache_write: rateFrom(prices['cache_write_mtok']) ?? input,
    cache_write_1h: rateFrom(prices['cache_write_1h_mtok']) ?? hourWrite(input, model),
    input_audio: rateFrom(prices['input_audio_mtok']) ?? asText,
    cache_read_audio:
      rateFrom(prices['cache_audio_read_mtok']) ?? (asText && rateFrom(prices['cache_read_mtok'])),
    output_audio: rateFrom(prices['output_audio_mtok']),
    input_image: rateFrom(prices['input_image_mtok']),
    cache_read_image: rateFrom(prices['cache_image_read_mtok']),
    output_image: rateFrom(prices['output_image_mtok']),
    input_video: rateFrom(prices['input_video_mtok']),
    has_request_fee: prices['requests_kcount'] !== undefined,
    web_searches: searches && multiplied(searches, 1_000n),
  }
}

function hourWrite(input: Rate, model: string): Rate | undefined {
  const factor = hourWriteFactor(model)
  return factor === undefined ? undefined : multiplied(input, factor)
}

function multiplied({ base, steps }: Rate, factor: bigint): Rate {
  return {
    base: base * factor,
    steps: steps.map(({ start, rate }) => ({ start, rate: rate * factor })),
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
