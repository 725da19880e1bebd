import type { TokenBuckets, UsageDetailName, UsageDetails } from './reported-usage.ts'

type Stated = Partial<Record<UsageDetailName, number | undefined>>

/**
 * Fits stated details into the buckets. Audio, images and video of the input are split into the part
 * that was read from a cache and the rest. `unclear` names what this split had to guess.
 */
export function explainDetails(
  stated: Stated,
  { buckets, tool_use_prompt }: { buckets: TokenBuckets; tool_use_prompt: number },
): { details: UsageDetails; unclear: string[] } {
  const details: UsageDetails = {}
  const unclear: string[] = []
  addWrites(details, stated, buckets.cache_write_tokens)
  const input = { uncached: buckets.input_uncached_tokens, cached: buckets.cache_read_tokens }
  for (const kind of ['audio', 'image', 'video'] as const) {
    addOfInput(kind, { details, stated, left: input, unclear })
  }
  const output = buckets.output_visible_tokens + buckets.reasoning_tokens
  const output_audio = Math.min(stated.output_audio ?? 0, output)
  put(details, 'output_audio', output_audio)
  put(details, 'output_image', Math.min(stated.output_image ?? 0, output - output_audio))
  put(details, 'tool_use_prompt', tool_use_prompt)
  put(details, 'web_searches', stated.web_searches ?? 0)
  return { details, unclear }
}

function put(details: UsageDetails, name: UsageDetailName, count: number): void {
  if (count > 0) details[name] = count
}

/** Adds cache writes by life; writes of unknown life live for 5 minutes, the providers' default. */
function addWrites(details: UsageDetails, stated: Stated, written: number): void {
  const { cache_write_5m, cache_write_1h } = stated
  if (cache_write_5m === undefined && cache_write_1h === undefined) return
  const hour = Math.min(cache_write_1h ?? 0, written)
  put(details, 'cache_write_1h', hour)
  put(details, 'cache_write_5m', written - hour)
}

type InputPlaces = {
  details: UsageDetails
  stated: Stated
  /** Input tokens that no other detail took yet. */
  left: { uncached: number; cached: number }
  unclear: string[]
}

function addOfInput(
  kind: 'audio' | 'image' | 'video',
  { details, stated, left, unclear }: InputPlaces,
): void {
  const all = stated[`input_${kind}`] ?? 0
  if (all === 0) return
  const statedCached = kind === 'video' ? undefined : stated[`cache_read_${kind}`]
  const surelyCached = Math.max(0, all - left.uncached)
  const cached = Math.min(Math.max(statedCached ?? 0, surelyCached), all, left.cached)
  const uncached = Math.min(all - cached, left.uncached)
  const isGuess = statedCached === undefined && left.cached > 0 && left.uncached > 0
  if (isGuess && kind !== 'video') unclear.push(kind)
  put(details, `input_${kind}`, uncached)
  if (kind !== 'video') put(details, `cache_read_${kind}`, cached)
  left.uncached -= uncached
  left.cached -= cached
}
