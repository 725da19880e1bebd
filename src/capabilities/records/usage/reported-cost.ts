import { type JsonObject, objectFrom } from '../../../kernel/json-values.ts'

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
