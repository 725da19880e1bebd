import {
  itemsOf,
  type JsonObject,
  objectFrom,
  parsedJson,
  textFrom,
} from '../../../../kernel/json-values.ts'
import type { ExchangeFacts } from '../../../../model/exchange.ts'
import type { Answer } from './answer.ts'
import { assembleChat, type ChoiceAssembly } from './assemble-chat.ts'
import { assembleCompletion } from './assemble-completion.ts'
import { type Growing, setField } from './merge-delta.ts'
import { createSseParser, type SseEvent } from './sse.ts'

/** Reads a whole event stream and puts the answer together, as far as the stream went. */
export function streamedAnswer(body: Uint8Array, endpoint: ExchangeFacts['endpoint']): Answer {
  const reading: Reading = {
    assembly: endpoint === 'completions' ? assembleCompletion() : assembleChat(),
    model: '',
    usage: undefined,
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
  usage: Growing | undefined
  error: unknown
  done: boolean
  unreadable: number
}

function readEvent(reading: Reading, { event, data }: SseEvent): void {
  if (data === '[DONE]') {
    reading.done = true
    return
  }
  const chunk = objectFrom(parsedJson(data))
  if (event === 'error') reading.error = chunk ?? data
  if (chunk === undefined) reading.unreadable++
  else readChunk(reading, chunk)
}

function readChunk(reading: Reading, chunk: JsonObject): void {
  const { choices, model, error } = chunk
  if (typeof model === 'string' && model !== '') reading.model = model
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

/**
 * Providers send usage in the last chunk, in every chunk (a running total), in a choice, or below
 * `x_groq`; Anthropic's own format spreads it over two events. What came last counts, per field.
 */
function addUsage(reading: Reading, holder: JsonObject): void {
  const usage =
    objectFrom(holder['usage']) ??
    objectFrom(holder['usageMetadata']) ??
    objectFrom(objectFrom(holder['x_groq'])?.['usage']) ??
    objectFrom(objectFrom(holder['message'])?.['usage'])
  if (usage === undefined) return
  reading.usage ??= {}
  for (const key in usage) setField(reading.usage, key, usage[key])
}
