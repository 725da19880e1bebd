import { type JsonObject, objectFrom } from '../../../../kernel/json-values.ts'
import type { Observation } from '../../../../model/observation.ts'
import type { TokenBuckets } from '../../pricing/index.ts'

/** A provider's reported usage in disjoint buckets. */
export type ProviderUsage = TokenBuckets & {
  usage_semantics: Observation['usage_semantics']
  /** Description of inconsistent counts, which were clamped; '' for consistent counts. */
  inconsistency: string
}

/**
 * Reads a provider's usage object, whose format follows from its fields. Undefined without counts.
 * - `prompt_tokens` (OpenAI, Gemini's and Anthropic's compatible endpoints, Groq, DeepSeek)
 *   includes cached tokens, `completion_tokens` includes reasoning, unless `total_tokens` says
 *   that the reasoning comes on top (Gemini, xAI).
 * - `input_tokens` with `cache_*_input_tokens` (Anthropic) excludes cached tokens; with
 *   `input_tokens_details` (OpenAI's Responses) includes them.
 * - `promptTokenCount` (Gemini) includes cached tokens; thoughts come on top of the candidates.
 */
export function providerUsage(usage: JsonObject, provider: string): ProviderUsage | undefined {
  if (isCount(usage['promptTokenCount'])) return geminiUsage(usage)
  if (isCount(usage['prompt_tokens']) || isCount(usage['completion_tokens'])) {
    return compatibleUsage(usage, provider)
  }
  if (isCount(usage['input_tokens']) || isCount(usage['output_tokens'])) {
    return objectFrom(usage['input_tokens_details']) ? responsesUsage(usage) : anthropicUsage(usage)
  }
  return undefined
}

/** Limit of counts, above any context window; larger values are faulty and clamped. */
const tokens_max = 1_000_000_000

type Totals = {
  /** Includes the cached tokens. */
  input: number
  cache_read: number
  cache_write: number
  /** Includes the reasoning tokens. */
  output: number
  reasoning: number
}

function compatibleUsage(usage: JsonObject, provider: string): ProviderUsage {
  const faults = new Faults()
  const inputDetails = objectFrom(usage['prompt_tokens_details']) ?? {}
  const outputDetails = objectFrom(usage['completion_tokens_details']) ?? {}
  const hit = usage['prompt_cache_hit_tokens']
  const input = faults.count(
    usage['prompt_tokens'] ?? sum(hit, usage['prompt_cache_miss_tokens']),
    'prompt_tokens',
  )
  const visible = faults.count(usage['completion_tokens'], 'completion_tokens')
  const reasoning = faults.count(
    outputDetails['reasoning_tokens'] ?? usage['reasoning_tokens'],
    'reasoning_tokens',
  )
  const total = faults.count(usage['total_tokens'], 'total_tokens')
  const onTop = reasoningOnTop({ input, visible, reasoning, total, provider })
  return toDisjoint(
    {
      input,
      cache_read: faults.count(
        inputDetails['cached_tokens'] ??
          hit ??
          usage['cached_tokens'] ??
          usage['cache_read_input_tokens'],
        'cached_tokens',
      ),
      cache_write: faults.count(
        inputDetails['cache_write_tokens'] ??
          inputDetails['cache_creation_tokens'] ??
          usage['cache_creation_input_tokens'],
        'cache_write_tokens',
      ),
      output: visible + onTop,
      reasoning: Math.max(reasoning, onTop),
    },
    faults,
  )
}

/** Returns reasoning tokens missing from `completion_tokens`; Gemini has them only in the total. */
function reasoningOnTop(about: {
  input: number
  visible: number
  reasoning: number
  total: number
  provider: string
}): number {
  const { input, visible, reasoning, total } = about
  const missing = total - input - visible
  if (missing <= 0) return 0
  if (reasoning > 0) return missing === reasoning ? reasoning : 0
  return about.provider === 'gemini' ? missing : 0
}

function responsesUsage(usage: JsonObject): ProviderUsage {
  const faults = new Faults()
  const inputDetails = objectFrom(usage['input_tokens_details']) ?? {}
  const outputDetails = objectFrom(usage['output_tokens_details']) ?? {}
  return toDisjoint(
    {
      input: faults.count(usage['input_tokens'], 'input_tokens'),
      cache_read: faults.count(inputDetails['cached_tokens'], 'cached_tokens'),
      cache_write: faults.count(inputDetails['cache_write_tokens'], 'cache_write_tokens'),
      output: faults.count(usage['output_tokens'], 'output_tokens'),
      reasoning: faults.count(outputDetails['reasoning_tokens'], 'reasoning_tokens'),
    },
    faults,
  )
}

function anthropicUsage(usage: JsonObject): ProviderUsage {
  const faults = new Faults()
  const cacheRead = faults.count(usage['cache_read_input_tokens'], 'cache_read_input_tokens')
  const cacheWrite = faults.count(
    usage['cache_creation_input_tokens'],
    'cache_creation_input_tokens',
  )
  const uncached = faults.count(usage['input_tokens'], 'input_tokens')
  return {
    input_uncached_tokens: uncached,
    cache_read_tokens: cacheRead,
    cache_write_tokens: cacheWrite,
    output_visible_tokens: faults.count(usage['output_tokens'], 'output_tokens'),
    reasoning_tokens: 0,
    usage_semantics: 'exclusive',
    inconsistency: faults.text(),
  }
}

function geminiUsage(usage: JsonObject): ProviderUsage {
  const faults = new Faults()
  const prompt = faults.count(usage['promptTokenCount'], 'promptTokenCount')
  const toolUse = faults.count(usage['toolUsePromptTokenCount'], 'toolUsePromptTokenCount')
  const thoughts = faults.count(usage['thoughtsTokenCount'], 'thoughtsTokenCount')
  return toDisjoint(
    {
      input: prompt + toolUse,
      cache_read: faults.count(usage['cachedContentTokenCount'], 'cachedContentTokenCount'),
      cache_write: 0,
      output: faults.count(usage['candidatesTokenCount'], 'candidatesTokenCount') + thoughts,
      reasoning: thoughts,
    },
    faults,
  )
}

function toDisjoint(totals: Totals, faults: Faults): ProviderUsage {
  const cacheRead = faults.within(totals.cache_read, totals.input, 'cached_tokens')
  const cacheWrite = faults.within(
    totals.cache_write,
    totals.input - cacheRead,
    'cache_write_tokens',
  )
  const reasoning = faults.within(totals.reasoning, totals.output, 'reasoning_tokens')
  return {
    input_uncached_tokens: totals.input - cacheRead - cacheWrite,
    cache_read_tokens: cacheRead,
    cache_write_tokens: cacheWrite,
    output_visible_tokens: totals.output - reasoning,
    reasoning_tokens: reasoning,
    usage_semantics: 'inclusive',
    inconsistency: faults.text(),
  }
}

function isCount(value: unknown): boolean {
  return typeof value === 'number'
}

function sum(a: unknown, b: unknown): unknown {
  return typeof a === 'number' && typeof b === 'number' ? a + b : undefined
}

/** Reads counts and collects those that are invalid. */
class Faults {
  readonly #faults: string[] = []

  /** Reads a count: 0 when missing; values that are not whole numbers ≥ 0 are clamped. */
  count(value: unknown, field: string): number {
    if (value === undefined || value === null) return 0
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) {
      return this.within(value, tokens_max, field)
    }
    const readable = typeof value === 'number' || typeof value === 'string'
    this.#faults.push(`${field} is ${readable ? String(value).slice(0, 40) : 'not a number'}`)
    const clamped = readable ? Math.trunc(Number(value)) : 0
    return clamped > 0 ? Math.min(clamped, tokens_max) : 0
  }

  within(value: number, bound: number, field: string): number {
    if (value <= bound) return value
    this.#faults.push(`${field} is ${value}, expected at most ${bound}`)
    return bound
  }

  text(): string {
    return this.#faults.join('; ')
  }
}
