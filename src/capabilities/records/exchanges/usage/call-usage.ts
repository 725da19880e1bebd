import { createRequire } from 'node:module'
import {
  itemsOf,
  type JsonObject,
  jsonText,
  objectFrom,
  textFrom,
} from '../../../../kernel/json-values.ts'
import { type ExchangeFacts, hasEnvelopeOnly } from '../../../../model/exchange.ts'
import type { Observation } from '../../../../model/observation.ts'
import type { PricedUsage } from '../../pricing/index.ts'
import {
  readWireUsage,
  reportedCost,
  serviceTierFrom,
  type TokenBuckets,
} from '../../usage/index.ts'
import type { AnswerChoice } from '../answer/answer.ts'
import type { ReadAnswer } from '../answer/read-answer.ts'
import { isRetrieval } from '../mapping/exchange-facts.ts'
import type { ReadRequest } from '../mapping/read-request.ts'
import type { countTokens as countExactly } from './tokenizer.ts'

/** A call's tokens and their source. */
export type CallUsage = {
  /** Undefined when nothing was used, or usage is unknown. */
  usage: PricedUsage | undefined
  usage_source: Observation['usage_source']
  usage_semantics: Observation['usage_semantics']
  /** The service tier of the call, as `serviceTierFrom` has it. */
  service_tier: string
  /** The cost that the provider states, in dollars. */
  reported_usd: string | undefined
  /** Inconsistency in the provider's counts; '' for consistent counts. */
  inconsistency: string
}

/**
 * Returns the provider's counts, or else an estimate from the recorded content, also for counts that
 * can't be believed. A call that cost nothing (refused by us, answered with an error, or never
 * connected) has no usage.
 */
export function callUsage(call: {
  facts: ExchangeFacts
  request: ReadRequest
  answer: ReadAnswer
  outcome: Observation['outcome']
  countTokens: TokenCounter
}): CallUsage {
  const { facts, request, answer } = call
  const model = answer.model || request.model
  const read = answer.usage && readWireUsage(answer.usage, { provider: facts.provider, model })
  const conditions = {
    service_tier: serviceTierFrom(answer.service_tier, request.parsed?.['service_tier']),
    reported_usd: answer.usage && reportedCost(answer.usage),
    inconsistency: read?.inconsistency ?? '',
  }
  if (read?.usage !== undefined) {
    const { usage_semantics } = read.usage
    const usage = { ...read.usage, steps: read.steps }
    return { ...conditions, usage, usage_source: 'provider', usage_semantics }
  }
  const isCount = facts.endpoint.endsWith('.count_tokens')
  const isEnvelope = hasEnvelopeOnly(facts.endpoint)
  const isUnknown = isCount || isEnvelope || isRetrieval(facts) || isRunning(answer)
  if (isUnknown || costsNothing(call) || facts.content_state === 'dropped') {
    return { ...conditions, usage: undefined, usage_source: 'none', usage_semantics: '' }
  }
  const asked =
    request.asked ?? (facts.endpoint === 'embeddings' ? request.parsed?.['input'] : undefined)
  const seen = {
    request: asked === undefined ? request.parsed : undefined,
    requestText: asked === undefined ? request.text : textsIn(asked),
    choices: answer.choices,
  }
  const usage = { buckets: estimateUsage(seen, call.countTokens), is_estimated: true }
  return { ...conditions, usage, usage_source: 'estimated', usage_semantics: '' }
}

/** Whether the provider still works on the answer: a later exchange has its usage. */
function isRunning({ choices }: ReadAnswer): boolean {
  return choices.some(({ finish_reason }) => running.has(finish_reason))
}

const running: ReadonlySet<string> = new Set(['queued', 'in_progress'])

function costsNothing({
  facts,
  answer,
  outcome,
}: {
  facts: ExchangeFacts
  answer: ReadAnswer
  outcome: Observation['outcome']
}): boolean {
  if (outcome === 'refused') return true
  if (answer.choices.length > 0) return false
  return outcome === 'provider_error' || outcome === 'upstream_cut' || facts.status_code === 502
}

/** Tokens of the frame of each message and of the start of the answer, by OpenAI's cookbook. */
const messageFrameTokens = 3

/** Tokens of an image in low detail, by OpenAI's pricing. */
const image_tokens = 85

/** Fields whose texts are not content: names, ids, and sealed values. */
const notContent =
  /^(?:type|role|id|call_id|tool_use_id|signature|encrypted_content|data|thoughtSignature)$/
const depth_max = 32

/** Returns all texts of messages of any shape, each on a line. */
function textsIn(value: unknown, depth = 0): string {
  if (typeof value === 'string') return `${value}\n`
  if (typeof value !== 'object' || value === null || depth > depth_max) return ''
  const fields = Object.entries(value).filter(([name]) => !notContent.test(name))
  return fields.map(([, field]) => textsIn(field, depth + 1)).join('')
}

/** Recorded content of a call without reported usage. */
type SeenContent = {
  /** Parsed request; undefined when it is cut or not JSON, and `requestText` is counted. */
  request: JsonObject | undefined
  requestText: string
  /** Choices, as far as the answer was received. */
  choices: readonly AnswerChoice[]
}

/** Estimates usage from recorded content. Caches are unknown, so all input counts as uncached. */
export function estimateUsage(seen: SeenContent, count: TokenCounter): TokenBuckets {
  const { request } = seen
  const output = { visible: '', reasoning: '' }
  for (const { message } of seen.choices) addOutput(output, message)
  return {
    input_uncached_tokens: request ? inputTokens(request, count) : count(seen.requestText),
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    output_visible_tokens: count(output.visible),
    reasoning_tokens: count(output.reasoning),
  }
}

function inputTokens(request: JsonObject, count: TokenCounter): number {
  const { messages, prompt, tools } = request
  const counted = { text: '', extra: 0 }
  for (const item of itemsOf(messages)) {
    const message = objectFrom(item)
    if (message === undefined) continue
    counted.extra += messageFrameTokens
    counted.text += `${textFrom(message['role'])}\n`
    addContent(counted, message['content'])
    counted.text += callText(message)
  }
  if (counted.extra > 0) counted.extra += messageFrameTokens
  addContent(counted, prompt)
  if (tools !== undefined) counted.text += jsonText(tools)
  return count(counted.text) + counted.extra
}

/** Adds content: a text, or an array of texts or of parts (text, images, audio, ...). */
function addContent(counted: { text: string; extra: number }, content: unknown): void {
  if (typeof content === 'string') counted.text += content
  for (const item of itemsOf(content)) {
    const part = objectFrom(item)
    if (typeof item === 'string') counted.text += item
    // A prompt may be given as token ids.
    else if (typeof item === 'number') counted.extra++
    else if (part?.['type'] === 'image_url') counted.extra += image_tokens
    else counted.text += textFrom(part?.['text'])
  }
}

function addOutput(
  output: { visible: string; reasoning: string },
  message: JsonObject | string,
): void {
  if (typeof message === 'string') {
    output.visible += message
    return
  }
  const counted = { text: '', extra: 0 }
  addContent(counted, message['content'])
  output.visible += counted.text + textFrom(message['refusal']) + callText(message)
  output.reasoning += textFrom(message['reasoning_content']) || textFrom(message['reasoning'])
}

function callText(message: JsonObject): string {
  let text = ''
  for (const item of itemsOf(message['tool_calls'])) {
    const called = objectFrom(objectFrom(item)?.['function'])
    text += textFrom(called?.['name']) + textFrom(called?.['arguments'])
  }
  return text
}

/** Counts the tokens of a text, approximately as a current model would. */
export type TokenCounter = (text: string) => number

/** Characters that are counted with the tokenizer; beyond, four characters count as one token. */
const maxExactChars = 4_096
/** Longest piece for the tokenizer: byte pair merging is quadratic in a run without a break. */
const piece_chars = 512
const charsPerToken = 4

/**
 * Counts with OpenAI's `o200k_base`. The tokenizer is loaded on first use (about 80 MB and a
 * quarter of a second), because most installations never need it. A count takes well below a
 * millisecond for prose, and tens of milliseconds for adversarial text.
 */
export const countTokens: TokenCounter = (text) => {
  if (text === '') return 0
  const { countTokens: count } = tokenizer()
  const exactEnd = Math.min(text.length, maxExactChars)
  let tokens = 0
  for (let from = 0; from < exactEnd; from += piece_chars) {
    tokens += count(text.slice(from, Math.min(from + piece_chars, exactEnd)), plainText)
  }
  return tokens + Math.ceil((text.length - exactEnd) / charsPerToken)
}

/** Counts special tokens in content (`<|endoftext|>`) as plain text. */
const plainText = { disallowedSpecial: new Set<string>() }

type Tokenizer = { countTokens: typeof countExactly }
let loaded: Tokenizer | undefined

function tokenizer(): Tokenizer {
  loaded ??= createRequire(import.meta.url)('./tokenizer.ts') as Tokenizer
  return loaded
}
