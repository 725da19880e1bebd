import { z } from 'zod'
import { shownDollars } from '../../kernel/dollars.ts'
import { dollarsSchema } from '../../model/named-schemas.ts'
import type { CallSums } from '../storage/index.ts'

const count = z.int().nonnegative()

/** Tokens in disjoint buckets: their sum is `total`. */
const tokensSchema = z
  .strictObject({
    input_uncached: count.describe('Input tokens that the provider had not cached.'),
    cache_read: count.describe('Input tokens read from the provider’s cache.'),
    cache_write: count.describe('Input tokens written to the provider’s cache.'),
    output_visible: count.describe('Output tokens without reasoning.'),
    reasoning: count.describe('Output tokens spent on reasoning.'),
    total: count.describe('Sum of the five buckets.'),
    estimated_calls: count.describe(
      'Calls whose tokens were estimated, because the provider reported none.',
    ),
  })
  .meta({ id: 'TokenTotals', description: 'Tokens in disjoint buckets.' })

/** Sums of the model calls of a task or trace. */
export const callSumFields = {
  calls: count.describe('Model calls.'),
  merged_calls: count.describe(
    'Further records of these calls, by another instrument; they are not counted.',
  ),
  errors: count.describe('Model calls that failed.'),
  cancelled: count.describe('Model calls that the client cancelled.'),
  tokens: tokensSchema,
  cost_usd: dollarsSchema,
  unpriced_calls: count.describe('Calls without a known price; `cost_usd` leaves them out.'),
  partially_priced_calls: count.describe(
    'Calls in `cost_usd` with parts that have no rate of their own; see `price_partial` of the call.',
  ),
  models: z.array(z.string()).describe('Models that answered, sorted.'),
  providers: z.array(z.string()).describe('Providers that were called, sorted.'),
}

const sums = z.object(callSumFields)

/** Shapes the sums of calls for a reply. */
export function callSumsFrom(stored: CallSums): z.input<typeof sums> {
  return {
    calls: stored.calls,
    merged_calls: stored.merged_calls,
    errors: stored.errors,
    cancelled: stored.cancelled,
    tokens: {
      input_uncached: stored.input_uncached_tokens,
      cache_read: stored.cache_read_tokens,
      cache_write: stored.cache_write_tokens,
      output_visible: stored.output_visible_tokens,
      reasoning: stored.reasoning_tokens,
      total: stored.total_tokens,
      estimated_calls: stored.estimated_calls,
    },
    cost_usd: shownDollars(stored.cost_usd),
    unpriced_calls: stored.unpriced_calls,
    partially_priced_calls: stored.partially_priced_calls,
    models: stored.models,
    providers: stored.providers,
  }
}
