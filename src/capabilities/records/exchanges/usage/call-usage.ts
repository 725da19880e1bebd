import type { ExchangeFacts } from '../../../../model/exchange.ts'
import type { Observation } from '../../../../model/observation.ts'
import type { TokenBuckets } from '../../pricing/index.ts'
import type { ReadAnswer } from '../answer/read-answer.ts'
import type { ReadRequest } from '../mapping/read-request.ts'
import { estimatedUsage } from './estimate-usage.ts'
import type { TokenCounter } from './token-count.ts'
import { providerUsage } from './usage.ts'

/** A call's tokens and where they come from. */
export type CallUsage = {
  /** Undefined when nothing was used, or nothing can be said. */
  buckets: TokenBuckets | undefined
  usage_source: Observation['usage_source']
  usage_semantics: Observation['usage_semantics']
  /** What did not add up in the provider's counts; '' when all did. */
  inconsistency: string
}

/**
 * The provider's counts when they came; else an estimate of what was seen, unless the call never
 * got as far as costing something: refused by us, answered with an error, or never connected.
 */
export function callUsage(about: {
  facts: ExchangeFacts
  request: ReadRequest
  answer: ReadAnswer
  outcome: Observation['outcome']
  countTokens: TokenCounter
}): CallUsage {
  const { facts, request, answer } = about
  const reported = answer.usage && providerUsage(answer.usage, facts.provider)
  if (reported !== undefined) {
    const { usage_semantics, inconsistency, ...buckets } = reported
    return { buckets, usage_source: 'provider', usage_semantics, inconsistency }
  }
  if (costsNothing(about) || facts.content_state === 'dropped') return noUsage
  const seen = { request: request.parsed, requestText: request.text, choices: answer.choices }
  return {
    buckets: estimatedUsage(seen, about.countTokens),
    usage_source: 'estimated',
    usage_semantics: '',
    inconsistency: '',
  }
}

const noUsage: CallUsage = {
  buckets: undefined,
  usage_source: 'none',
  usage_semantics: '',
  inconsistency: '',
}

function costsNothing(about: {
  facts: ExchangeFacts
  answer: ReadAnswer
  outcome: Observation['outcome']
}): boolean {
  const { facts, answer, outcome } = about
  if (outcome === 'refused') return true
  if (answer.choices.length > 0) return false
  return outcome === 'provider_error' || outcome === 'upstream_cut' || facts.status_code === 502
}
