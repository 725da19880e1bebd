import { itemsOf, type JsonObject, objectFrom, textFrom } from '../../../kernel/json-values.ts'
import { CountReader } from './count-reader.ts'
import { explainUsage } from './explain-usage.ts'
import {
  type ExplainedUsage,
  hasHiddenTokens,
  type ReportedUsage,
  type UsageDialect,
} from './reported-usage.ts'
import { mergeSteps, type UsageStep } from './usage-steps.ts'

/** A provider's usage object, read. */
export type WireUsage = {
  /** Undefined without counts, or with counts that can't be believed. */
  usage: ExplainedUsage | undefined
  /** The usage of each model, when more than one model worked on the answer. */
  steps: readonly UsageStep[]
  /** Faults of the counts; '' for consistent counts. */
  inconsistency: string
}

/** The call whose usage is read. */
type WireCall = { provider: string; model: string }

/**
 * Reads a provider's usage object, whose format follows from its fields.
 * - `prompt_tokens` (OpenAI's chat, embeddings and all compatible endpoints): the prompt includes
 *   cached tokens, the completion includes reasoning, unless the total says otherwise.
 * - `input_tokens` with `…_details` (OpenAI's Responses): as above. Without (Anthropic's Messages):
 *   excludes cached tokens, and `iterations` lists steps that the totals leave out.
 * - `promptTokenCount` (Gemini) includes cached tokens, and excludes thoughts and the prompt of tools.
 * - `total_input_tokens` (Gemini's Interactions): as Gemini.
 * - `inputTokens` (Amazon's Converse) excludes cached tokens.
 */
export function readWireUsage(usage: JsonObject, call: WireCall): WireUsage {
  const counts = new CountReader()
  const format = formats.find(({ isIn }) => isIn(usage)) ?? totalOnly
  const steps = format === messages ? readSteps(usage, counts) : []
  const reported = format.read(usage, counts)
  if (counts.isAbsurd) {
    return { usage: undefined, steps: [], inconsistency: `not believed: ${counts.text()}` }
  }
  const has_hidden_tokens = hasHiddenTokens(call.provider, call.model)
  const dialect = { has_hidden_tokens, ...format.dialect }
  const whole = withUnpriced(explainUsage(reported, dialect), usage)
  if (steps.length === 0 || whole === undefined) return outcome(whole, [], counts)
  const merged = mergeSteps(steps, whole)
  return outcome(merged.usage, merged.steps, counts)
}

/**
 * Adds words for what has a price that counts of tokens do not have: Anthropic's inference in one
 * country, and Mistral's seconds of audio.
 */
function withUnpriced(read: ExplainedUsage | undefined, usage: JsonObject) {
  const words: string[] = []
  if (textFrom(usage['inference_geo']).toLowerCase() === 'us') words.push('inference_geo')
  if (Number(usage['prompt_audio_seconds']) > 0) words.push('audio_seconds')
  return read && words.length > 0 ? { ...read, unclear: [...read.unclear, ...words] } : read
}

function outcome(
  usage: ExplainedUsage | undefined,
  steps: readonly UsageStep[],
  counts: CountReader,
): WireUsage {
  const faults = [counts.text(), usage?.inconsistency ?? ''].filter((fault) => fault !== '')
  return { usage, steps, inconsistency: faults.join('; ') }
}

/** A format of usage: the fields that identify it, and the location of its counts. */
type UsageFormat = {
  isIn(usage: JsonObject): boolean
  dialect: Omit<UsageDialect, 'has_hidden_tokens'> & { has_hidden_tokens?: boolean }
  read(usage: JsonObject, counts: CountReader): ReportedUsage
}

const isStated = (usage: JsonObject, ...fields: string[]): boolean =>
  fields.some((field) => usage[field] !== undefined && usage[field] !== null)

const generateContent: UsageFormat = {
  isIn: (usage) => isStated(usage, 'promptTokenCount', 'candidatesTokenCount', 'totalTokenCount'),
  dialect: { cached: 'inclusive', reasoning: 'exclusive', has_hidden_tokens: true },
  read: (usage, counts) => ({
    input: counts.first(usage, 'promptTokenCount'),
    output: counts.first(usage, 'candidatesTokenCount', 'responseTokenCount'),
    cache_read: counts.first(usage, 'cachedContentTokenCount'),
    reasoning: counts.first(usage, 'thoughtsTokenCount'),
    tool_use_prompt: counts.first(usage, 'toolUsePromptTokenCount'),
    total: counts.first(usage, 'totalTokenCount'),
    details: {
      ...ofInput(modalities(usage['promptTokensDetails'], counts)),
      ...ofCache(modalities(usage['cacheTokensDetails'], counts)),
      ...ofOutput(
        modalities(usage['candidatesTokensDetails'] ?? usage['responseTokensDetails'], counts),
      ),
    },
  }),
}

const interactions: UsageFormat = {
  isIn: (usage) => isStated(usage, 'total_input_tokens', 'total_output_tokens'),
  dialect: { cached: 'inclusive', reasoning: 'exclusive', has_hidden_tokens: true },
  read: (usage, counts) => ({
    input: counts.first(usage, 'total_input_tokens'),
    output: counts.first(usage, 'total_output_tokens'),
    cache_read: counts.first(usage, 'total_cached_tokens'),
    reasoning: counts.first(usage, 'total_thought_tokens', 'total_reasoning_tokens'),
    tool_use_prompt: counts.first(usage, 'total_tool_use_tokens'),
    total: counts.first(usage, 'total_tokens'),
    details: {
      ...ofInput(modalities(usage['input_tokens_by_modality'], counts)),
      ...ofCache(modalities(usage['cached_tokens_by_modality'], counts)),
      ...ofOutput(modalities(usage['output_tokens_by_modality'], counts)),
    },
  }),
}

const chat: UsageFormat = {
  isIn: (usage) => isStated(usage, 'prompt_tokens', 'completion_tokens', 'prompt_cache_hit_tokens'),
  dialect: { cached: 'inclusive', reasoning: 'inclusive' },
  read: (usage, counts) => {
    const input = objectFrom(usage['prompt_tokens_details']) ?? {}
    const output = objectFrom(usage['completion_tokens_details']) ?? {}
    const hit = counts.first(usage, 'prompt_cache_hit_tokens')
    const miss = counts.first(usage, 'prompt_cache_miss_tokens')
    return {
      input: counts.first(usage, 'prompt_tokens') ?? (hit ?? 0) + (miss ?? 0),
      output: counts.first(usage, 'completion_tokens'),
      cache_read:
        counts.first(input, 'cached_tokens') ??
        hit ??
        counts.first(usage, 'cached_tokens', 'cache_read_input_tokens'),
      cache_write:
        counts.first(input, 'cache_write_tokens', 'cache_creation_tokens') ??
        counts.first(usage, 'cache_creation_input_tokens'),
      reasoning:
        counts.first(output, 'reasoning_tokens') ?? counts.first(usage, 'reasoning_tokens'),
      total: counts.first(usage, 'total_tokens'),
      details: {
        ...writesByLife(objectFrom(input['cache_creation_token_details']) ?? usage, counts),
        ...openaiDetails(input, output, counts),
        ...searches(usage, counts),
      },
    }
  },
}

const responses: UsageFormat = {
  isIn: (usage) =>
    isStated(usage, 'input_tokens_details', 'input_token_details') &&
    isStated(usage, 'input_tokens', 'output_tokens'),
  dialect: { cached: 'inclusive', reasoning: 'inclusive' },
  read: (usage, counts) => {
    const input = objectFrom(usage['input_tokens_details'] ?? usage['input_token_details']) ?? {}
    const output = objectFrom(usage['output_tokens_details'] ?? usage['output_token_details']) ?? {}
    return {
      input: counts.first(usage, 'input_tokens'),
      output: counts.first(usage, 'output_tokens'),
      cache_read: counts.first(input, 'cached_tokens'),
      cache_write: counts.first(input, 'cache_write_tokens', 'cache_creation_tokens'),
      reasoning: counts.first(output, 'reasoning_tokens'),
      total: counts.first(usage, 'total_tokens'),
      details: openaiDetails(input, output, counts),
    }
  },
}

const messages: UsageFormat = {
  isIn: (usage) => isStated(usage, 'input_tokens', 'output_tokens'),
  dialect: { cached: 'exclusive', reasoning: 'inclusive' },
  read: (usage, counts) => ({
    input: counts.first(usage, 'input_tokens'),
    output: counts.first(usage, 'output_tokens'),
    cache_read: counts.first(usage, 'cache_read_input_tokens'),
    cache_write: counts.first(usage, 'cache_creation_input_tokens'),
    reasoning: counts.first(usage, 'output_tokens_details.thinking_tokens'),
    total: counts.first(usage, 'total_tokens'),
    details: { ...writesByLife(usage, counts), ...searches(usage, counts) },
  }),
}

const converse: UsageFormat = {
  isIn: (usage) => isStated(usage, 'inputTokens', 'outputTokens'),
  dialect: { cached: 'exclusive', reasoning: 'inclusive' },
  read: (usage, counts) => ({
    input: counts.first(usage, 'inputTokens'),
    output: counts.first(usage, 'outputTokens'),
    cache_read: counts.first(usage, 'cacheReadInputTokens'),
    cache_write: counts.first(usage, 'cacheWriteInputTokens'),
    total: counts.first(usage, 'totalTokens'),
    details: cacheDetails(usage['cacheDetails'], counts),
  }),
}

const formats = [generateContent, interactions, chat, responses, messages, converse]

const totalOnly: UsageFormat = {
  isIn: () => true,
  dialect: { cached: 'inclusive', reasoning: 'inclusive' },
  read: (usage, counts) => ({
    input: undefined,
    output: undefined,
    total: counts.first(usage, 'total_tokens', 'totalTokens'),
  }),
}

function readSteps(usage: JsonObject, counts: CountReader): UsageStep[] {
  const steps: UsageStep[] = []
  for (const item of itemsOf(usage['iterations'])) {
    const step = objectFrom(item)
    const read = step && explainUsage(messages.read(step, counts), stepDialect)
    if (step === undefined || read === undefined) continue
    const { buckets, details } = read
    steps.push({ model: textFrom(step['model']), buckets, details })
  }
  return steps
}

const stepDialect: UsageDialect = { ...messages.dialect, has_hidden_tokens: false }

type Details = NonNullable<ReportedUsage['details']>

function writesByLife(holder: JsonObject, counts: CountReader): Details {
  const lives = objectFrom(holder['cache_creation']) ?? holder
  return {
    cache_write_5m: counts.first(lives, 'ephemeral_5m_input_tokens'),
    cache_write_1h: counts.first(lives, 'ephemeral_1h_input_tokens'),
  }
}

function searches(usage: JsonObject, counts: CountReader): Details {
  return { web_searches: counts.first(usage, 'server_tool_use.web_search_requests') }
}

function cacheDetails(value: unknown, counts: CountReader): Details {
  const details: Details = {}
  for (const item of itemsOf(value)) {
    const write = objectFrom(item)
    const name = write?.['ttl'] === '1h' ? 'cache_write_1h' : 'cache_write_5m'
    const count = counts.first(write, 'inputTokens')
    if (count !== undefined) details[name] = (details[name] ?? 0) + count
  }
  return details
}

function openaiDetails(input: JsonObject, output: JsonObject, counts: CountReader): Details {
  const cached = objectFrom(input['cached_tokens_details'])
  return {
    input_audio: counts.first(input, 'audio_tokens'),
    input_image: counts.first(input, 'image_tokens'),
    input_video: counts.first(input, 'video_tokens'),
    cache_read_audio: counts.first(cached, 'audio_tokens'),
    cache_read_image: counts.first(cached, 'image_tokens'),
    output_audio: counts.first(output, 'audio_tokens'),
    output_image: counts.first(output, 'image_tokens'),
  }
}

type Modalities = { audio?: number; image?: number; video?: number }

/** Reads `[{ modality: 'AUDIO', tokenCount: 9 }]`, in which a modality may come twice. */
function modalities(value: unknown, counts: CountReader): Modalities {
  const sums: Modalities = {}
  for (const item of itemsOf(value)) {
    const entry = objectFrom(item)
    const name = textFrom(entry?.['modality']).toLowerCase()
    const count = counts.first(entry, 'tokenCount', 'tokens') ?? 0
    if (name === 'audio' || name === 'image' || name === 'video') {
      sums[name] = (sums[name] ?? 0) + count
    }
  }
  return sums
}

function ofInput({ audio, image, video }: Modalities): Details {
  return { input_audio: audio, input_image: image, input_video: video }
}

function ofCache({ audio, image }: Modalities): Details {
  return { cache_read_audio: audio, cache_read_image: image }
}

function ofOutput({ audio, image }: Modalities): Details {
  return { output_audio: audio, output_image: image }
}
