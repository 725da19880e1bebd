import type { Observation } from '../../../model/observation.ts'

/**
 * The columns of a cost. `cost_usd`: the exact US dollars that count, as decimal text with at most 9
 * digits after the point (half a nano-dollar rounds up); null without a price. `price_version`: the
 * version of the prices, followed by ` by model` when the price follows from the model's name alone,
 * or `reported`. `price_partial`: words for the parts of the call that were priced without a rate of
 * their own; empty for an exact cost. `cost_computed_usd` and `cost_reported_usd`: ours, if it is
 * exact or counts, and the reported one.
 */
export type Cost = Pick<
  Observation,
  'cost_usd' | 'price_version' | 'price_partial' | 'cost_computed_usd' | 'cost_reported_usd'
>

/** A cost that we computed; null without a price. */
export type ComputedCost = {
  cost_usd: string | null
  price_version: string
  partial: string[]
  /** True for the price of stated counts with a rate for every part. */
  is_exact: boolean
}

/**
 * Which cost of a call counts when it has two. `complete`: ours if its counts are stated and every
 * part has a rate, else the reported one. `computed`: ours whenever there is one. `reported`: the reported
 * one whenever there is one.
 */
export const costSources = ['complete', 'computed', 'reported'] as const
export type CostSource = (typeof costSources)[number]

/** Returns the columns of a cost: the one that counts, and both beside it. */
export function chooseCost(
  source: CostSource,
  computed: ComputedCost | undefined,
  reported: string | undefined,
): Cost {
  const ours = computed?.cost_usd ?? null
  const partial = computed?.partial ?? []
  const isComplete = computed?.is_exact === true
  const cost_reported_usd = reported ?? null
  const isOurs = reported === undefined || (source === 'computed' ? ours !== null : isComplete)
  if (reported !== undefined && (source === 'reported' || !isOurs)) {
    const cost_computed_usd = isComplete ? ours : null
    return {
      cost_usd: reported,
      price_version: 'reported',
      price_partial: [],
      cost_computed_usd,
      cost_reported_usd,
    }
  }
  const price_version = computed?.price_version ?? ''
  return {
    cost_usd: ours,
    price_version,
    price_partial: partial,
    cost_computed_usd: ours,
    cost_reported_usd,
  }
}
