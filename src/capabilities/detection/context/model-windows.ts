/**
 * Context windows in tokens by the beginning of a model's name, as the vendors' model pages state
 * them (OpenAI, Anthropic, Google, Mistral, DeepSeek, Meta, xAI; read in 2026). The longest
 * beginning counts. A model that is not here has no window that is known.
 */
const windows: Readonly<Record<string, number>> = {
  'gpt-3.5-turbo': 16_385,
  'gpt-4': 8_192,
  'gpt-4-32k': 32_768,
  'gpt-4-turbo': 128_000,
  'gpt-4-1106': 128_000,
  'gpt-4-0125': 128_000,
  'gpt-4o': 128_000,
  'chatgpt-4o': 128_000,
  'gpt-4.1': 1_047_576,
  'gpt-5': 400_000,
  'gpt-5-chat': 128_000,
  o1: 200_000,
  'o1-mini': 128_000,
  'o1-preview': 128_000,
  o3: 200_000,
  'o4-mini': 200_000,
  'claude-2': 100_000,
  'claude-2.1': 200_000,
  'claude-3': 200_000,
  'gemini-1.5-flash': 1_048_576,
  'gemini-1.5-pro': 2_097_152,
  'gemini-2': 1_048_576,
  'mistral-large': 131_072,
  'mistral-small': 131_072,
  'deepseek-chat': 131_072,
  'deepseek-reasoner': 131_072,
  'llama-3': 8_192,
  'llama-3.1': 131_072,
  'llama-3.2': 131_072,
  'llama-3.3': 131_072,
  'grok-3': 131_072,
  'grok-4': 262_144,
}

const names = Object.keys(windows).sort((one, other) => other.length - one.length)

/** Tells the window of a model in tokens; undefined when it is not known. */
export type WindowOf = (model: string) => number | undefined

/**
 * Windows by the beginning of a model's name: what the project set, before what the table says. A
 * vendor in front of the name ("openai/gpt-4o") is passed over.
 */
export function windowsWith(own: Readonly<Record<string, number>>): WindowOf {
  const set = Object.keys(own).sort((one, other) => other.length - one.length)
  const known = new Map<string, number | undefined>()
  return (model) => {
    if (known.has(model)) return known.get(model)
    const low = model.toLowerCase()
    const bare = low.slice(low.lastIndexOf('/') + 1)
    const chosen = set.find((name) => [low, bare].some((is) => is.startsWith(name.toLowerCase())))
    const listed = names.find((name) => bare.startsWith(name))
    const window = chosen === undefined ? windows[listed ?? ''] : own[chosen]
    known.set(model, window)
    return window
  }
}
