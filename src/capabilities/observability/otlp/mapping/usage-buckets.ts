import type { Observation } from '../../../../model/observation.ts'
import type { MappedBuckets } from './mapper-contract.ts'

/** What a span reports of tokens; undefined is not reported. */
export type ReportedUsage = {
  input: number | undefined
  output: number | undefined
  cache_read: number | undefined
  cache_write: number | undefined
  reasoning: number | undefined
}

export type DisjointUsage = {
  buckets: MappedBuckets
  /** Whether anything was reported of what went in, and of what came out. */
  has_input: boolean
  has_output: boolean
  usage_semantics: Observation['usage_semantics']
  /** The counts themselves told other semantics than the contract's. */
  is_implied: boolean
}

/**
 * Brings reported counts to disjoint buckets. `inclusive`: the input count holds the cached tokens,
 * so they are taken out of it; `exclusive`: they come on top. Counts that can not be inclusive,
 * because more was cached than went in, are exclusive whatever was said. Reasoning is a part of the
 * output count unless it exceeds it (Gemini's thoughts come on top). Undefined: nothing reported.
 */
export function disjointUsage(
  usage: ReportedUsage,
  semantics: Observation['usage_semantics'],
): DisjointUsage | undefined {
  const { input, output } = usage
  const cacheRead = usage.cache_read ?? 0
  const cacheWrite = usage.cache_write ?? 0
  const reasoning = usage.reasoning ?? 0
  const isNothing = input === undefined && output === undefined
  if (isNothing && cacheRead + cacheWrite + reasoning === 0) return undefined
  const reported = input ?? 0
  const cached = cacheRead + cacheWrite
  const cannotHold = cached > reported
  const isInclusive = semantics !== 'exclusive' && !cannotHold
  const written = output ?? 0
  return {
    buckets: {
      input_uncached_tokens: isInclusive ? reported - cached : reported,
      cache_read_tokens: cacheRead,
      cache_write_tokens: cacheWrite,
      output_visible_tokens: reasoning > written ? written : written - reasoning,
      reasoning_tokens: reasoning,
    },
    has_input: input !== undefined || cached > 0,
    has_output: output !== undefined || reasoning > 0,
    usage_semantics: isInclusive ? 'inclusive' : 'exclusive',
    is_implied: cannotHold && semantics !== 'exclusive',
  }
}
