import {
  brotliDecompressSync,
  constants,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  zstdDecompressSync,
} from 'node:zlib'
import {
  itemsOf,
  type JsonObject,
  jsonText,
  objectFrom,
  textFrom,
} from '../../../../kernel/json-values.ts'
import type { ExchangeFacts } from '../../../../model/exchange.ts'
import type { ToolCall } from '../../../../model/observation.ts'
import { type FormatAnswer, formatOf, type WireFormat } from '../formats/index.ts'
import { maxFallbackTextChars } from '../mapping/read-request.ts'
import type { Answer, AnswerChoice } from './answer.ts'
import { answerJson } from './answer-json.ts'
import { tierIn, usageOf } from './answer-usage.ts'
import { bodyText, cutText } from './body-text.ts'
import { readCutAnswer } from './cut-answer.ts'
import { createSseParser } from './sse.ts'
import { choices_max, readStreamedAnswer } from './streamed-answer.ts'

/** An answer read from the wire. */
export type ReadAnswer = Answer & {
  /** True when it was streamed as events. */
  isStream: boolean
  /** Decoded body of an unknown shape, from which output and errors are taken. */
  unknownText: string
  /** Why the body could not be read; '' when it could. */
  fault: string
}

/** Reads a provider's answer, complete or broken. Never throws. */
export function readAnswer(
  body: Uint8Array,
  facts: ExchangeFacts,
  response_bytes_max: number,
): ReadAnswer {
  const { bytes, fault } = decodeBody(body, facts.response_encoding, response_bytes_max)
  if (bytes.length === 0) return { ...noAnswer, fault }
  const format = formatOf(facts.endpoint)
  if (format !== undefined) {
    const read = readFormatted(format, bytes, facts)
    return { ...read, fault: fault || read.fault }
  }
  if (isEventStream(bytes, facts)) {
    const answer = readStreamedAnswer(bytes, facts.endpoint)
    const known = answer.choices.length > 0 || answer.error !== undefined
    return { ...answer, isStream: true, unknownText: known ? '' : unknownTextOf(bytes), fault }
  }
  const text = bodyText(bytes)
  const answer = readWholeAnswer(text)
  if (answer === undefined) {
    return { ...unreadAnswer(text, facts), ...(fault !== '' && { fault }) }
  }
  const known = answer.choices.length > 0 || answer.error !== undefined
  const unknownText = known ? '' : cutText(text, maxFallbackTextChars)
  return { ...answer, isStream: false, unknownText, fault }
}

/** Reads an answer of a format of its own into the shape of a chat. */
function readFormatted(format: WireFormat, bytes: Uint8Array, facts: ExchangeFacts): ReadAnswer {
  if (isEventStream(bytes, facts)) {
    const reader = format.openStream()
    let unreadable = 0
    const parser = createSseParser(({ event, data }) => {
      if (data === '[DONE]') return
      const parsed = objectFrom(answerJson(data))
      if (parsed === undefined) unreadable++
      else reader.add(event, parsed)
    })
    parser.push(bytes)
    parser.end()
    const answer = toAnswer(reader.answer(), unreadable)
    const isKnown = answer.choices.length > 0 || answer.error !== undefined
    return {
      ...answer,
      isStream: true,
      unknownText: isKnown ? '' : unknownTextOf(bytes),
      fault: '',
    }
  }
  const text = bodyText(bytes)
  const body = answerJson(text)
  if (body !== undefined) {
    const answer = toAnswer(format.readWhole(body), 0)
    const isGood = facts.status_code < 300 && !chatFormats.has(facts.endpoint)
    const isKnown = isGood || answer.choices.length > 0 || answer.error !== undefined
    const unknownText = isKnown ? '' : cutText(text, maxFallbackTextChars)
    return { ...answer, isStream: false, unknownText, fault: '' }
  }
  return unreadAnswer(text, facts)
}

/** Returns what is known of an answer that is not JSON; one that was cut may have usage. */
function unreadAnswer(text: string, facts: ExchangeFacts): ReadAnswer {
  const cut = facts.content_state === 'truncated' ? readCutAnswer(text) : undefined
  const unknownText = cutText(text, maxFallbackTextChars)
  return { ...noAnswer, ...cut, unknownText, fault: notJson }
}

/** The fault of an answer that is whole and no JSON. */
export const notJson = 'the answer is not JSON'

/** Formats whose good answer is a message; vectors and counts are not kept as output. */
const chatFormats: ReadonlySet<string> = new Set([
  'responses',
  'responses.retrieve',
  'responses.compact',
  'messages',
  'generate_content',
  'interactions',
  'interactions.retrieve',
])

function toAnswer({ message, finish_reason, ...answer }: FormatAnswer, dropped: number): Answer {
  const choices = message === undefined ? [] : [{ index: 0, finish_reason, message }]
  return { ...answer, choices, dropped }
}

const noAnswer: ReadAnswer = {
  model: '',
  id: '',
  choices: [],
  usage: undefined,
  service_tier: undefined,
  error: undefined,
  done: false,
  dropped: 0,
  isStream: false,
  unknownText: '',
  fault: '',
}

function unknownTextOf(bytes: Uint8Array): string {
  return bodyText(bytes.subarray(0, maxFallbackTextChars))
}

const openings = new Set(['{', '[', '<'].map((char) => char.charCodeAt(0)))

/**
 * Some servers stream under another content type; a body that starts like JSON or HTML is whole.
 */
function isEventStream(bytes: Uint8Array, facts: ExchangeFacts): boolean {
  if (facts.response_type.toLowerCase().includes('text/event-stream')) return true
  return facts.streamed && !openings.has(bytes[0] ?? 0)
}

/** Returns the output for the row: the choices' messages as JSON, else the text of the body. */
export function outputOf(answer: ReadAnswer): string {
  if (answer.choices.length === 0) return answer.error === undefined ? answer.unknownText : ''
  return jsonText(answer.choices.map(({ message }) => message))
}

const maxToolCalls = 256

/** Returns the tool calls of all choices. */
export function toolCallsOf(answer: Answer): ToolCall[] {
  const calls: ToolCall[] = []
  for (const { message } of answer.choices) {
    if (typeof message === 'string') continue
    for (const item of itemsOf(message['tool_calls'])) {
      const call = objectFrom(item)
      if (call !== undefined && calls.length < maxToolCalls) calls.push(toolCallFrom(call))
    }
    const oldCall = objectFrom(message['function_call'])
    if (oldCall !== undefined) calls.push(toolCallFrom({ function: oldCall }))
  }
  return calls
}

function toolCallFrom(call: JsonObject): ToolCall {
  const part = objectFrom(call['function']) ?? objectFrom(call['custom']) ?? {}
  const given = part['arguments'] ?? part['input'] ?? ''
  return {
    id: textFrom(call['id']),
    name: textFrom(part['name']),
    arguments: typeof given === 'string' ? given : jsonText(given),
  }
}

/** Reads an unstreamed answer. Undefined when the text is not JSON. */
function readWholeAnswer(text: string): Answer | undefined {
  const parsed = answerJson(text)
  if (parsed === undefined) return undefined
  // Gemini without `alt=sse` streams the chunks as one array, the whole usage in the last.
  const body = objectFrom(parsed) ?? objectFrom(itemsOf(parsed).findLast(hasUsage))
  const choices = choicesOf(body?.['choices'])
  const usage = usageOf(body)
  return {
    model: textFrom(body?.['model']) || textFrom(body?.['modelVersion']),
    id: textFrom(body?.['id']) || textFrom(body?.['responseId']),
    choices,
    usage,
    service_tier: tierIn(body, usage),
    error: hasError(objectFrom(parsed), parsed) ? parsed : undefined,
    done: true,
    dropped: 0,
  }
}

function choicesOf(choices: unknown): AnswerChoice[] {
  const read: AnswerChoice[] = []
  for (const item of itemsOf(choices).slice(0, choices_max)) {
    const choice = objectFrom(item)
    if (choice === undefined) continue
    const message = objectFrom(choice['message']) ?? textFrom(choice['text'])
    const finishReason = textFrom(choice['finish_reason'])
    read.push({ index: read.length, finish_reason: finishReason, message })
  }
  return read
}

function hasUsage(item: unknown): boolean {
  return usageOf(objectFrom(item)) !== undefined
}

/** Whether a body has an `error`, as OpenAI's and Anthropic's do; Gemini wraps it in an array. */
function hasError(body: JsonObject | undefined, parsed: unknown): boolean {
  const holder = body ?? objectFrom(itemsOf(parsed)[0])
  const error = holder?.['error']
  return error !== undefined && error !== null
}

/** A decoded body; `fault` says why decoding failed, '' when it succeeded. */
type DecodedBody = { bytes: Uint8Array; fault: string }

/** Most stacked encodings; RFC 9110 allows any number, but more do not occur. */
const encodings_max = 3

/**
 * Decodes the `content-encoding` of a body, which may be cut short: the part before the cut is
 * decoded. A body that is broken or decodes to more than `bytes_max` gives no bytes and a fault.
 */
export function decodeBody(body: Uint8Array, encoding: string, bytes_max: number): DecodedBody {
  if (encoding === '' || body.length === 0) return { bytes: body, fault: '' }
  const names = encoding.toLowerCase().split(',', encodings_max + 1)
  if (names.length > encodings_max) return failed(`content-encoding "${encoding.slice(0, 80)}"`)
  let bytes = body
  for (const name of names.toReversed()) {
    const decode = decoders.get(name.trim())
    if (decode === undefined) return failed(`content-encoding "${name.trim().slice(0, 40)}"`)
    try {
      bytes = decode(bytes, bytes_max)
    } catch (error) {
      return failed(`${name.trim()}: ${error instanceof Error ? error.message : 'unreadable'}`)
    }
  }
  return { bytes, fault: '' }
}

function failed(fault: string): DecodedBody {
  return { bytes: new Uint8Array(0), fault }
}

type Decode = (bytes: Uint8Array, bytes_max: number) => Uint8Array

/** Flushing at the end, instead of finishing, also decodes a body that is cut. */
const zlibFlush = constants.Z_SYNC_FLUSH

const gunzip: Decode = (bytes, maxOutputLength) =>
  gunzipSync(bytes, { maxOutputLength, finishFlush: zlibFlush })

/** `deflate` means the zlib format; some servers send raw deflate. */
const inflate: Decode = (bytes, maxOutputLength) => {
  const [method = 0, check = 0] = bytes
  const isZlib = (method & 0x0f) === 8 && ((method << 8) | check) % 31 === 0
  const options = { maxOutputLength, finishFlush: zlibFlush }
  return isZlib ? inflateSync(bytes, options) : inflateRawSync(bytes, options)
}

const decoders = new Map<string, Decode>([
  ['identity', (bytes) => bytes],
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', inflate],
  [
    'br',
    (bytes, maxOutputLength) =>
      brotliDecompressSync(bytes, {
        maxOutputLength,
        finishFlush: constants.BROTLI_OPERATION_FLUSH,
      }),
  ],
  [
    'zstd',
    (bytes, maxOutputLength) =>
      zstdDecompressSync(bytes, { maxOutputLength, finishFlush: constants.ZSTD_e_flush }),
  ],
])
