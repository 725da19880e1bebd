import { z } from 'zod'
import { shownDollars } from '../kernel/dollars.ts'
import { dollarsSchema } from './named-schemas.ts'
import type { Observation } from './observation.ts'

/** Fields of replies that explain the cost of a model call. */
export const callCostFields = {
  price_version: z
    .string()
    .describe(
      'Origin of `cost_usd`: the versions of the prices, or `reported`; empty without a price.',
    ),
  price_partial: z
    .array(z.string())
    .describe('Parts of the call that were priced without a rate of their own; empty when exact.'),
  cost_computed_usd: dollarsSchema
    .nullable()
    .describe(
      'The cost by our prices; null without one, or if a reported cost replaced a partial one.',
    ),
  cost_reported_usd: dollarsSchema
    .nullable()
    .describe('The cost that the provider or client reported; null without one.'),
  service_tier: z
    .string()
    .describe('`standard`, `flex`, `priority`, `batch` or a word of the provider; may be empty.'),
  usage_details: z
    .record(z.string(), z.int().nonnegative())
    .describe(
      'Parts of the tokens with prices of their own, such as `cache_write_1h` and `input_audio`.',
    ),
}

type CallCost = Pick<Observation, keyof typeof callCostFields>

/** Shapes the cost of an observation for replies. */
export function shownCallCost(row: CallCost): CallCost {
  return {
    price_version: row.price_version,
    price_partial: row.price_partial,
    cost_computed_usd: dollarsOrNull(row.cost_computed_usd),
    cost_reported_usd: dollarsOrNull(row.cost_reported_usd),
    service_tier: row.service_tier,
    usage_details: row.usage_details,
  }
}

function dollarsOrNull(decimal: string | null): string | null {
  return decimal === null ? null : shownDollars(decimal)
}
