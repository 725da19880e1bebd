/** Service tiers with one word for the words of all providers; '' when none is stated. */
const words: Readonly<Record<string, string>> = {
  auto: 'standard',
  default: 'standard',
  on_demand: 'standard',
  standard: 'standard',
  standard_only: 'standard',
  flex: 'flex',
  on_demand_flex: 'flex',
  priority: 'priority',
  on_demand_priority: 'priority',
  batch: 'batch',
  batches: 'batch',
  scale: 'scale',
  provisioned_throughput: 'provisioned',
}

const tier_chars_max = 32

/**
 * Returns the service tier of a call from what the answer and the request say, in this order:
 * `standard`, `flex`, `priority`, `batch`, `scale`, `provisioned`, or the provider's own word in
 * lower case; '' when none says it. A request for `auto` says nothing about the answer.
 */
export function serviceTierFrom(answered: unknown, requested?: unknown): string {
  const tier = wordFrom(answered)
  if (tier !== '') return tier
  return requested === 'auto' ? '' : wordFrom(requested)
}

function wordFrom(value: unknown): string {
  if (typeof value !== 'string') return ''
  const word = value
    .trim()
    .toLowerCase()
    .replace(/^(?:service_tier|traffic_type)_/, '')
  if (word === '' || word.includes('unspecified')) return ''
  return words[word] ?? word.replace(/[^a-z0-9_.-]/g, '_').slice(0, tier_chars_max)
}
