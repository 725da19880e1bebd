/**
 * A model provider as the proxy sees it: an endpoint that speaks the common chat-completion
 * format. Adding one is a file of this type and a line in the registry.
 */
export type Provider<Name extends string = string> = {
  /** The value of X-Provider. */
  readonly name: Name
  /**
   * The provider's own base URL; the paths below are appended to its path. Undefined: it is known
   * only where the configuration gives it one.
   */
  readonly base_url: string | undefined
  readonly paths: Readonly<Record<'chat.completions' | 'completions', string>>
  /**
   * Whether `usage.prompt_tokens` of this endpoint includes the tokens that were read from or
   * written to a cache.
   */
  readonly usage_semantics: 'inclusive' | 'exclusive'
}

/** OpenAI, whose format is the common one. Its prompt count includes cached tokens. */
const openai = {
  name: 'openai',
  base_url: 'https://api.openai.com/v1',
  paths: { 'chat.completions': '/chat/completions', completions: '/completions' },
  usage_semantics: 'inclusive',
} as const satisfies Provider

/**
 * Anthropic by its OpenAI-compatible endpoint, which counts as the common format does and tells no
 * cache counts (its native API would leave cached tokens out of the input). It has no legacy
 * completions; the provider's own 404 passes through.
 */
const anthropic = {
  name: 'anthropic',
  base_url: 'https://api.anthropic.com/v1',
  paths: { 'chat.completions': '/chat/completions', completions: '/completions' },
  usage_semantics: 'inclusive',
} as const satisfies Provider

/** Gemini by its OpenAI-compatible endpoint. Its prompt count includes cached tokens. */
const gemini = {
  name: 'gemini',
  base_url: 'https://generativelanguage.googleapis.com/v1beta/openai',
  paths: { 'chat.completions': '/chat/completions', completions: '/completions' },
  usage_semantics: 'inclusive',
} as const satisfies Provider

/**
 * The scripted provider of `onboarding`, for a test of an installation. It is known only where the
 * configuration says where it is.
 */
const scripted = {
  name: 'scripted',
  base_url: undefined,
  paths: { 'chat.completions': '/chat/completions', completions: '/completions' },
  usage_semantics: 'inclusive',
} as const satisfies Provider

/** The providers; the first is the one that serves a call without X-Provider. */
export const providers = [openai, anthropic, gemini, scripted] as const

export type ProviderName = (typeof providers)[number]['name']
