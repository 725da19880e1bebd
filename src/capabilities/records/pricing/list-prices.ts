/**
 * Prices that the price table lacks, from the public price lists of the providers as of
 * `listsVersion`. The table has one rate for each kind of token; the lists also have rates for each
 * service tier. Sources: the pricing pages of OpenAI (Flex, Priority and Batch processing), Google's
 * Gemini API and Anthropic, and for OpenAI's and Google's tiers their copy in LiteLLM 1.110.2
 * (`model_prices_and_context_window_backup.json`), which was compared with the factors below.
 */
export const listsVersion = '2026-11-28'

/** A factor on the standard rates, as a fraction, so that prices stay exact. */
export type Factor = readonly [numerator: bigint, denominator: bigint]

const standard: Factor = [1n, 1n]

type TierFactors = readonly (readonly [model: RegExp, factor: Factor])[]

const half: TierFactors = [[/./, [1n, 2n]]]

/** For each provider of the price table and each tier, the factor of the first matching model. */
const tiers: Readonly<Record<string, Readonly<Record<string, TierFactors>>>> = {
  openai: {
    batch: half,
    flex: half,
    priority: [
      [/^gpt-(?:5\.[12346]|6)(?:-|$)/, [2n, 1n]],
      [/^gpt-5\.5(?!-pro)/, [5n, 2n]],
      [/^gpt-5-mini/, [9n, 5n]],
      [/^gpt-5(?:-20\d\d|-chat|-codex|$)/, [2n, 1n]],
      [/^gpt-4\.1-nano/, [2n, 1n]],
      [/^gpt-4\.1/, [7n, 4n]],
      [/^gpt-4o-2024-05-13/, [7n, 4n]],
      [/^gpt-4o-mini(?:-20\d\d|$)/, [5n, 3n]],
      [/^gpt-4o(?:-20\d\d|$)/, [17n, 10n]],
      [/^o3(?:-20\d\d|$)/, [7n, 4n]],
      [/^o4-mini(?:-20\d\d|$)/, [20n, 11n]],
    ],
  },
  google: {
    batch: [[/^gemini-/, [1n, 2n]]],
    flex: [[/^gemini-/, [1n, 2n]]],
    priority: [[/^gemini-/, [9n, 5n]]],
  },
  // Anthropic sells priority as committed capacity: it has no public price for each token.
  anthropic: { batch: half },
}

/**
 * Returns the factor of a service tier on the standard rates; undefined when no list has a price
 * for it. `provider` is an id of the price table.
 */
export function tierFactor(provider: string, model: string, tier: string): Factor | undefined {
  if (tier === '' || tier === 'standard') return standard
  const models = tiers[provider]?.[tier] ?? []
  return models.find(([pattern]) => pattern.test(model))?.[1]
}

/**
 * Returns whether the factor of a tier holds for tokens read from a cache. Google's lists of the
 * discounted tiers disagree about them: the Gemini API has the standard rate for some models.
 */
export function isTierOfCache(provider: string, tier: string): boolean {
  return provider !== 'google' || tier === '' || tier === 'standard' || tier === 'priority'
}

/** Dollars per million audio tokens that the table lacks, by model. OpenAI's list since 2024-12-17. */
const audioRates: readonly (readonly [model: RegExp, rates: AudioRates])[] = [
  [/^gpt-4o-mini-audio-preview/, { input_audio_mtok: 10, output_audio_mtok: 20 }],
  [/^gpt-4o-audio-preview/, { input_audio_mtok: 40, output_audio_mtok: 80 }],
]
type AudioRates = { input_audio_mtok: number; output_audio_mtok: number }

/** Returns the rates of audio that the table lacks for a model, as far as lists have them. */
export function listedAudioRates(provider: string, model: string): AudioRates | undefined {
  if (provider !== 'openai') return undefined
  return audioRates.find(([pattern]) => pattern.test(model))?.[1]
}

/** Gemini's models for whose audio Google's list has the price of text. */
const plainAudio = /^gemini-(?:2\.5-pro|3(?:\.1)?-pro|3\.5-flash(?!-lite))/

/** Returns true when audio of the input costs as much as text. */
export function isAudioAsText(provider: string, model: string): boolean {
  return provider === 'google' && plainAudio.test(model)
}

/**
 * Returns the multiple of the input rate that a cache write of an hour costs where the table has no
 * rate: 2 for Anthropic's models of all sellers (Anthropic's documentation of prompt caching).
 */
export function hourWriteFactor(model: string): bigint | undefined {
  return /claude/.test(model) ? 2n : undefined
}
