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

/** Adds sums to others. */
export function addTo(to: RollUp, from: RollUp): void {
  for (const name of counts) to[name] += from[name]
  to.nano_dollars += from.nano_dollars
}

/** Takes sums out of others that they are part of. */
export function takeFrom(whole: RollUp, part: RollUp): void {
  for (const name of counts) whole[name] -= part[name]
  whole.nano_dollars -= part.nano_dollars
}
