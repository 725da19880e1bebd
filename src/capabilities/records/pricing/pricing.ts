import { dollarsFrom } from '../../../kernel/dollars.ts'
import type { TokenBuckets, UsageDetails, UsageStep } from '../usage/index.ts'
import { type ComputedCost, type Cost, type CostSource, chooseCost } from './choose-cost.ts'
import { priceCall } from './price-call.ts'
import { createRates, type FindRates, type ModelRates, priceVersion } from './rates.ts'

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
