import { itemsOf, type JsonObject, objectFrom, textFrom } from '../../../../kernel/json-values.ts'
import type { ExchangeFacts } from '../../../../model/exchange.ts'
import type { Answer, AnswerChoice } from './answer.ts'
import { answerJson } from './answer-json.ts'
import { tierIn, usageOf } from './answer-usage.ts'
import {
  type Growing,
  growingAt,
  mergeDelta,
  mergeFunction,
  mergeToolCalls,
  noToolCalls,
  setField,
  type ToolCalls,
  toolCallsInOrder,
} from './merge-delta.ts'
import { createSseParser, type SseEvent } from './sse.ts'

/** Reads an event stream and assembles the answer, as far as the stream goes. */
export function readStreamedAnswer(body: Uint8Array, endpoint: ExchangeFacts['endpoint']): Answer {
  const reading: Reading = {
    assembly: endpoint === 'completions' ? assembleCompletion() : assembleChat(),
    model: '',
    id: '',
    usage: undefined,
    service_tier: undefined,
    error: undefined,
    done: false,
    unreadable: 0,
  }
  const parser = createSseParser((event) => readEvent(reading, event))
  parser.push(body)
  parser.end()
  const { assembly, unreadable, ...answer } = reading
  return { ...answer, choices: assembly.choices(), dropped: unreadable + assembly.dropped() }
}

type Reading = {
  assembly: ChoiceAssembly
  model: string
  id: string
  usage: Growing | undefined
  service_tier: unknown
  error: unknown
  done: boolean
  unreadable: number
}

function readEvent(reading: Reading, { event, data }: SseEvent): void {
  if (data === '[DONE]') {
    reading.done = true
    return
  }
  const chunk = objectFrom(answerJson(data))
  if (event === 'error') reading.error = chunk ?? data
  if (chunk === undefined) reading.unreadable++
  else readChunk(reading, chunk)
}

function readChunk(reading: Reading, chunk: JsonObject): void {
  const { choices, error } = chunk
  const model = modelIn(chunk)
  if (model !== '') reading.model = model
  if (reading.id === '') reading.id = textFrom(chunk['id']) || textFrom(chunk['responseId'])
  if (error !== undefined && error !== null) reading.error = chunk
  addUsage(reading, chunk)
  for (const item of itemsOf(choices)) {
    const choice = objectFrom(item)
    if (choice === undefined) continue
    const { index } = choice
    reading.assembly.add(Number.isSafeInteger(index) ? Number(index) : 0, choice)
    if (choice['usage'] !== undefined) addUsage(reading, choice)
    if (textFrom(choice['finish_reason']) === 'error' && choice['error'] !== undefined) {
      reading.error = choice
    }
  }
}

function modelIn(chunk: JsonObject): string {
  const held = objectFrom(chunk['message']) ?? objectFrom(chunk['response'])
  return textFrom(chunk['model']) || textFrom(chunk['modelVersion']) || textFrom(held?.['model'])
}

/**
 * Adds the usage of a chunk. Providers send usage in the last chunk, in every chunk (a running
 * total), in a choice, or below `x_groq`; Anthropic's own format spreads it over two events. The
 * last value of each field counts.
 */
function addUsage(reading: Reading, holder: JsonObject): void {
  const usage = usageOf(holder)
  reading.service_tier = tierIn(holder, usage) ?? reading.service_tier
  if (usage === undefined) return
  reading.usage ??= {}
  for (const key in usage) setField(reading.usage, key, usage[key])
}

/** Assembles the choices of a stream, one chunk's choice at a time. */
type ChoiceAssembly = {
  add(index: number, choice: JsonObject): void
  choices(): AnswerChoice[]
  /** Number of pieces dropped because of a limit. */
  dropped(): number
}

/** Most choices, which is OpenAI's own limit of `n`. */
export const choices_max = 128

type ChatChoice = { message: Growing; toolCalls: ToolCalls; finish_reason: string }

/** Assembles `chat.completion.chunk` choices: deltas become messages. */
function assembleChat(): ChoiceAssembly {
  const byIndex = new Map<number, ChatChoice>()
  let dropped = 0
  return {
    add(index, choice) {
      let known = byIndex.get(index)
      if (known === undefined) {
        if (byIndex.size >= choices_max) {
          dropped++
          return
        }
        known = { message: { role: 'assistant' }, toolCalls: noToolCalls(), finish_reason: '' }
        byIndex.set(index, known)
      }
      addChoice(known, choice)
    },
    choices: () =>
      [...byIndex]
        .toSorted(([a], [b]) => a - b)
        .map(([index, choice]) => ({
          index,
          finish_reason: choice.finish_reason,
          message: wholeMessage(choice),
        })),
    dropped: () => {
      let sum = dropped
      for (const { toolCalls } of byIndex.values()) sum += toolCalls.dropped
      return sum
    },
  }
}

function addChoice(known: ChatChoice, choice: JsonObject): void {
  const { delta, message, finish_reason } = choice
  if (typeof finish_reason === 'string') known.finish_reason = finish_reason
  const piece = objectFrom(delta)
  const whole = objectFrom(message)
  if (piece !== undefined) addDelta(known, piece)
  else if (whole !== undefined) known.message = { ...whole }
}

function addDelta(known: ChatChoice, delta: JsonObject): void {
  if (delta['tool_calls'] === undefined && delta['function_call'] === undefined) {
    mergeDelta(known.message, delta)
    return
  }
  const { tool_calls, function_call, ...rest } = delta
  mergeDelta(known.message, rest)
  if (tool_calls !== undefined) mergeToolCalls(known.toolCalls, tool_calls)
  const oldCall = objectFrom(function_call)
  if (oldCall !== undefined) mergeFunction(growingAt(known.message, 'function_call'), oldCall)
}

function wholeMessage(choice: ChatChoice): JsonObject {
  if (choice.toolCalls.calls.length === 0) return choice.message
  return { ...choice.message, tool_calls: toolCallsInOrder(choice.toolCalls) }
}

/** Assembles `text_completion` chunks: each choice's text is joined. */
function assembleCompletion(): ChoiceAssembly {
  const byIndex = new Map<number, { text: string; finish_reason: string }>()
  let dropped = 0
  return {
    add(index, choice) {
      const known = byIndex.get(index)
      const text = (known?.text ?? '') + textFrom(choice['text'])
      const finishReason = textFrom(choice['finish_reason']) || (known?.finish_reason ?? '')
      if (known === undefined && byIndex.size >= choices_max) dropped++
      else byIndex.set(index, { text, finish_reason: finishReason })
    },
    choices: () =>
      [...byIndex]
        .toSorted(([a], [b]) => a - b)
        .map(([index, { text, finish_reason }]) => ({ index, finish_reason, message: text })),
    dropped: () => dropped,
  }
}
