import { type RollUp, tokenBuckets } from './contract.ts'

/** Sums of nothing. */
export function emptyRollUp(): RollUp {
  return {
    observations: 0,
    calls: 0,
    errors: 0,
    cancelled: 0,
    input_uncached_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    output_visible_tokens: 0,
    reasoning_tokens: 0,
    total_tokens: 0,
    nano_dollars: 0n,
    unpriced_calls: 0,
  }
}

/** Adds sums to others. */
export function addTo(to: RollUp, from: RollUp): void {
  for (const bucket of tokenBuckets) to[bucket] += from[bucket]
  to.observations += from.observations
  to.calls += from.calls
  to.errors += from.errors
  to.cancelled += from.cancelled
  to.total_tokens += from.total_tokens
  to.nano_dollars += from.nano_dollars
  to.unpriced_calls += from.unpriced_calls
}
