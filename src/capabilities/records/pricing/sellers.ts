/** The seller of a model, and the model's name in the seller's price list. */
type SoldModel = { provider: string; model: string }

/**
 * Names of closed models, which only their maker and licensed clouds sell, and names that only the
 * maker's own API has. Models with open weights are left out on purpose: hosts sell them at
 * different prices, and self-hosted ones cost nothing.
 */
const makers: readonly (readonly [provider: string, name: RegExp])[] = [
  ['openai', /^(?:gpt-(?!oss)|chatgpt-|o\d(?:-|$)|codex-|computer-use-|text-embedding-(?:3|ada))/],
  ['anthropic', /^claude-/],
  ['google', /^gemini-/],
  ['x-ai', /^grok-/],
  ['mistral', /^(?:mistral|magistral|ministral|codestral|devstral|pixtral)-(?:[a-z0-9]+-)?latest$/],
  ['deepseek', /^deepseek-(?:chat|reasoner)$/],
  ['cohere', /^command-[a-z-]+\d\d-20\d\d$/],
  ['perplexity', /^sonar(?:-|$)/],
  ['voyageai', /^voyage-/],
]

/** Ids of Amazon Bedrock: an optional region, a vendor, the vendor's model. */
const bedrockId =
  /^(?:[a-z]{2,6}(?:-gov)?\.)?(?:ai21|amazon|anthropic|cohere|deepseek|meta|mistral|openai|qwen|writer)\./

/**
 * Returns the seller of a model by its name alone: Bedrock's ids are Amazon's, a closed model has
 * its maker's list price. A path before the name, as in LiteLLM and OpenRouter, is ignored.
 * Undefined for names that several hosts may sell at different prices.
 */
export function sellerOf(model: string): SoldModel | undefined {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase()
  if (bedrockId.test(name)) return { provider: 'aws', model: name }
  const maker = makers.find(([, pattern]) => pattern.test(name))
  return maker && { provider: maker[0], model: name }
}
