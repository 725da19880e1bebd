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

const counts = [
  ...tokenBuckets,
  'observations',
  'calls',
  'errors',
  'cancelled',
  'total_tokens',
  'unpriced_calls',
] as const

/** Adds sums to others; written out, since it is done for each node of a tree. */
export function addTo(to: RollUp, from: RollUp): void {
  to.observations += from.observations
  to.calls += from.calls
  to.errors += from.errors
  to.cancelled += from.cancelled
  to.input_uncached_tokens += from.input_uncached_tokens
  to.cache_read_tokens += from.cache_read_tokens
  to.cache_write_tokens += from.cache_write_tokens
  to.output_visible_tokens += from.output_visible_tokens
  to.reasoning_tokens += from.reasoning_tokens
  to.total_tokens += from.total_tokens
  to.unpriced_calls += from.unpriced_calls
  if (from.nano_dollars !== 0n) to.nano_dollars += from.nano_dollars
}

/** Takes sums out of others that they are part of. */
export function takeFrom(whole: RollUp, part: RollUp): void {
  for (const name of counts) whole[name] -= part[name]
  whole.nano_dollars -= part.nano_dollars
}
