import type { Observation } from '../../../../model/observation.ts'

/** Token counts of one call in disjoint buckets. */
export type MappedBuckets = {
  input_uncached_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
  output_visible_tokens: number
  reasoning_tokens: number
}

/** Token counts of a span; undefined when not reported. */
type ReportedUsage = {
  input: number | undefined
  output: number | undefined
  cache_read: number | undefined
  cache_write: number | undefined
  reasoning: number | undefined
  /** All tokens of the call. */
  total?: number | undefined
}

type Semantics = Observation['usage_semantics']

export type DisjointUsage = {
  buckets: MappedBuckets
  /** Whether input counts, and whether output counts, were reported. */
  has_input: boolean
  has_output: boolean
  usage_semantics: Observation['usage_semantics']
  /** True when the counts contradict the contract's semantics, so the other ones were used. */
  is_implied: boolean
}

/**
 * Converts reported counts to disjoint buckets. With `inclusive` semantics the input count includes
 * the cached tokens, which are subtracted; with `exclusive` it does not. Counts that cannot be
 * inclusive (more tokens cached than input, or a total that has the cached tokens on top) are read
 * as exclusive. The output count includes reasoning unless its semantics are `exclusive` or it is
 * the smaller one (Gemini's thoughts come on top). Returns undefined when nothing was reported.
 */
export function disjointUsage(
  usage: ReportedUsage,
  semantics: Semantics,
  outputSemantics: Semantics = 'inclusive',
): DisjointUsage | undefined {
  const { input, output, cache_read = 0, cache_write = 0, reasoning = 0 } = usage
  const cached = cache_read + cache_write
  const isNothing = input === undefined && output === undefined
  if (isNothing && cached + reasoning === 0) return undefined
  const cannotHold = cached > (input ?? 0) || isOnTop(usage, cached)
  const isInclusive = semantics !== 'exclusive' && !cannotHold
  return {
    buckets: {
      input_uncached_tokens: isInclusive ? (input ?? 0) - cached : (input ?? 0),
      cache_read_tokens: cache_read,
      cache_write_tokens: cache_write,
      output_visible_tokens: visibleOf(output ?? 0, reasoning, outputSemantics),
      reasoning_tokens: reasoning,
    },
    has_input: input !== undefined || cached > 0,
    has_output: output !== undefined || reasoning > 0,
    usage_semantics: isInclusive ? 'inclusive' : 'exclusive',
    is_implied: cannotHold && semantics !== 'exclusive',
  }
}

function visibleOf(written: number, reasoning: number, semantics: Semantics): number {
  return semantics === 'exclusive' || reasoning > written ? written : written - reasoning
}

/** Returns true when the total matches the counts only with the cached tokens added. */
function isOnTop({ input, output, reasoning, total }: ReportedUsage, cached: number): boolean {
  if (total === undefined || cached === 0) return false
  const counted = (input ?? 0) + (output ?? 0)
  return total === counted + cached && total !== counted + (reasoning ?? 0)
}
