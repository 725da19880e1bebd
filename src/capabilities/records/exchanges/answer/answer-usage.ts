import { type JsonObject, objectFrom } from '../../../../kernel/json-values.ts'

/** Fields of a body or event that may hold an answer with its usage. */
const holders = ['message', 'response', 'interaction', 'x_groq'] as const

/**
 * Returns the usage object of a body or event: its own, or that of the answer in it, as events of
 * Anthropic (`message`), OpenAI's Responses and Cloud Code (`response`), Gemini's Interactions and
 * Groq have it.
 */
export function usageOf(body: JsonObject | undefined): JsonObject | undefined {
  if (body === undefined) return undefined
  const own = objectFrom(body['usage']) ?? objectFrom(body['usageMetadata'])
  if (own !== undefined) return own
  for (const name of holders) {
    const held = objectFrom(body[name])
    const usage = held && (objectFrom(held['usage']) ?? objectFrom(held['usageMetadata']))
    if (usage !== undefined) return usage
  }
  return undefined
}

/**
 * Returns the service tier that a body or event states, in the provider's word: beside the usage
 * (OpenAI), or in it (Anthropic, Gemini). Anthropic's fast mode counts as a tier, for its prices.
 */
export function tierIn(body: JsonObject | undefined, usage: JsonObject | undefined): unknown {
  const inUsage = usage?.['trafficType'] ?? usage?.['serviceTier'] ?? usage?.['service_tier']
  const held = objectFrom(body?.['response']) ?? objectFrom(body?.['interaction'])
  const stated = body?.['service_tier'] ?? held?.['service_tier'] ?? inUsage
  return usage?.['speed'] === 'fast' ? 'fast' : stated
}
