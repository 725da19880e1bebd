import type { Cost, PricedCall } from '../../src/capabilities/records/pricing/index.ts'

/** A pricing without prices: only reported costs remain. */
export function noPrice(call?: Pick<PricedCall, 'reported_usd'>): Cost {
  const reported = call?.reported_usd
  return {
    cost_usd: reported ?? null,
    price_version: reported === undefined ? '' : 'reported',
    price_partial: [],
    cost_computed_usd: null,
    cost_reported_usd: reported ?? null,
  }
}
