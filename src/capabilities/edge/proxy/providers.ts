import type { Endpoint } from './formats.ts'

/**
 * A model provider with the wire formats that it speaks. To add one, add a constant of this type
 * and list it in `providers`.
 */
export type Provider<Name extends string = string> = {
  /** The value of X-Provider. */
  readonly name: Name
  /**
   * The provider's own base URL, to whose path the paths of formats are appended. Undefined for a
   * provider that exists only where the configuration gives its URL.
   */
  readonly base_url: string | undefined
  /** Formats below the base URL. */
  readonly formats: readonly Endpoint[]
  /**
   * Formats of Google's own API, whose paths begin with a version: they are appended to the base
   * URL without its `/openai` and its version.
   */
  readonly google_formats?: readonly Endpoint[]
}

/** OpenAI, which defines the common format. It has no `rerank`; servers at its base URL may. */
const openai = {
  name: 'openai',
  base_url: 'https://api.openai.com/v1',
  formats: [
    'chat.completions',
    'completions',
    'responses',
    'responses.retrieve',
    'responses.compact',
    'responses.count_tokens',
    'embeddings',
    'models',
    'images',
    'audio',
    'rerank',
    'moderations',
    'files',
    'batches',
    'vector_stores',
    'conversations',
  ],
} as const satisfies Provider

/**
 * Anthropic by its own API, and by its OpenAI-compatible one, which has no legacy completions; its
 * own 404 passes through.
 */
const anthropic = {
  name: 'anthropic',
  base_url: 'https://api.anthropic.com/v1',
  formats: [
    'chat.completions',
    'completions',
    'messages',
    'messages.count_tokens',
    'models',
    'files',
    'batches',
    'agents',
    'sessions',
  ],
} as const satisfies Provider

/** Gemini by its own API, and by its OpenAI-compatible one. */
const gemini = {
  name: 'gemini',
  base_url: 'https://generativelanguage.googleapis.com/v1beta/openai',
  formats: [
    'chat.completions',
    'completions',
    'embeddings',
    'models',
    'images',
    'files',
    'batches',
  ],
  google_formats: [
    'generate_content',
    'generate_content.count_tokens',
    'interactions',
    'interactions.retrieve',
    'generate_content.models',
    'generate_content.files',
    'generate_content.batches',
  ],
} as const satisfies Provider

/**
 * The scripted provider of `onboarding`, for testing an installation. It exists only where the
 * configuration gives its URL.
 */
const scripted = {
  name: 'scripted',
  base_url: undefined,
  formats: ['chat.completions', 'completions'],
} as const satisfies Provider

/** The providers, in the order in which errors list them. */
export const providers = [openai, anthropic, gemini, scripted] as const

export type ProviderName = (typeof providers)[number]['name']

/** Where a provider reads its key; `none`: it needs no key. */
export const keyPlaces = [
  'bearer',
  'x-api-key',
  'x-goog-api-key',
  'api-key',
  'query',
  'none',
] as const
export type KeyPlace = (typeof keyPlaces)[number]
