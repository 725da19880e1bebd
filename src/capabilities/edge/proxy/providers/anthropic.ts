import type { Provider } from './contract.ts'

/**
 * Anthropic by its OpenAI-compatible endpoint, which counts as the common format does and tells no
 * cache counts (its native API would leave cached tokens out of the input). It has no legacy
 * completions; the provider's own 404 passes through.
 */
export const anthropic = {
  name: 'anthropic',
  base_url: 'https://api.anthropic.com/v1',
  paths: { 'chat.completions': '/chat/completions', completions: '/completions' },
  usage_semantics: 'inclusive',
} as const satisfies Provider
