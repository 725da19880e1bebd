/**
 * A model provider: an endpoint that speaks the common chat-completion format. To add one, add a
 * constant of this type and list it in `providers`.
 */
export type Provider<Name extends string = string> = {
  /** The value of X-Provider. */
  readonly name: Name
  /**
   * The provider's own base URL, to whose path the paths below are appended. Undefined for a
   * provider that exists only where the configuration gives its URL.
   */
  readonly base_url: string | undefined
  readonly paths: Readonly<Record<'chat.completions' | 'completions', string>>
  /**
   * Whether `usage.prompt_tokens` of this endpoint includes tokens read from or written to a cache.
   */
  readonly usage_semantics: 'inclusive' | 'exclusive'
}

/** OpenAI, which defines the common format. Its prompt count includes cached tokens. */
const openai = {
  name: 'openai',
  base_url: 'https://api.openai.com/v1',
  paths: { 'chat.completions': '/chat/completions', completions: '/completions' },
  usage_semantics: 'inclusive',
} as const satisfies Provider

/**
 * Anthropic by its OpenAI-compatible endpoint, which counts as the common format does and reports
 * no cache counts (its native API excludes cached tokens from the input). It has no legacy
 * completions; its own 404 passes through.
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
 * The scripted provider of `onboarding`, for testing an installation. It exists only where the
 * configuration gives its URL.
 */
const scripted = {
  name: 'scripted',
  base_url: undefined,
  paths: { 'chat.completions': '/chat/completions', completions: '/completions' },
  usage_semantics: 'inclusive',
} as const satisfies Provider

/** The providers; the first serves calls without X-Provider. */
export const providers = [openai, anthropic, gemini, scripted] as const

export type ProviderName = (typeof providers)[number]['name']
