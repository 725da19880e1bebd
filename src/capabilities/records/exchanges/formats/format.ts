import { type JsonObject, jsonText, objectFrom, textFrom } from '../../../../kernel/json-values.ts'
import type { ToolCall, ToolResult } from '../../../../model/observation.ts'
import type { Growing } from '../answer/merge-delta.ts'

export { objectsIn } from '../../../../kernel/json-values.ts'

/** Returns the body or event if it reports an error. */
export function errorIn(body: JsonObject): JsonObject | undefined {
  return body['error'] === undefined || body['error'] === null ? undefined : body
}

/** Returns the parts of a stream by their index, in order. */
export function inOrder<Part>(parts: ReadonlyMap<number, Part>): Part[] {
  return [...parts].toSorted(([a], [b]) => a - b).map(([, part]) => part)
}

/** Appends text to a field of a part under assembly. */
export function appendText(part: Growing, field: string, text: unknown): void {
  part[field] = textFrom(part[field]) + textFrom(text)
}

/** How a provider's API writes a call, besides the chat and completions formats. */
export type WireFormat = {
  readRequest(body: JsonObject): AskedContent
  /** Reads an unstreamed answer; `body` is parsed JSON of any shape. */
  readWhole(body: unknown): FormatAnswer
  /** Reads the events of a stream, which may end anywhere. */
  openStream(): StreamReader
}

export type StreamReader = {
  /** Takes an event: its name ('' without one) and its data. */
  add(event: string, data: JsonObject): void
  /** Returns the answer as far as it came. */
  answer(): FormatAnswer
}

/** The content of a request. */
export type AskedContent = {
  model: string
  /** Messages in the provider's shape, a system prompt first; undefined without content. */
  input: unknown
  /** Results that the client sends for the calls of the answer before. */
  tool_results: ToolResult[]
}

/** An answer in one shape. */
export type FormatAnswer = {
  model: string
  /** The provider's name of the answer. */
  id: string
  /** Undefined without an answer of a model. */
  message: JsonObject | undefined
  /** The provider's word, or `tool_calls` if the client has to run some. */
  finish_reason: string
  /** The provider's own, unread usage object. */
  usage: JsonObject | undefined
  service_tier: unknown
  /** Body or event that reports an error. */
  error: unknown
  /** Whether the answer is complete. */
  done: boolean
  /** When the provider began the answer, in milliseconds since 1970, if it says so. */
  created_ms?: number
}

export const noFormatAnswer: FormatAnswer = {
  model: '',
  id: '',
  message: undefined,
  finish_reason: '',
  usage: undefined,
  service_tier: undefined,
  error: undefined,
  done: false,
}

/** A tool that the provider ran itself, or a call that a person has to approve. */
type HostedCall = { id: string; type: string; name: string; arguments?: string }

/** The parts of an answer, in the order in which they came. */
export type AnswerParts = {
  text: string
  reasoning: string
  refusal: string
  calls: ToolCall[]
  server_tools: HostedCall[]
  approvals: HostedCall[]
}

export function noParts(): AnswerParts {
  return { text: '', reasoning: '', refusal: '', calls: [], server_tools: [], approvals: [] }
}

const calls_max = 256

/** Returns the parts as a message of the chat format, which all readers of stored answers know. */
export function messageFrom(parts: AnswerParts): JsonObject {
  const { text, reasoning, refusal, calls, server_tools, approvals } = parts
  const tool_calls = calls.slice(0, calls_max).map(({ id, name, arguments: given }) => {
    return { id, type: 'function', function: { name, arguments: given } }
  })
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(refusal !== '' && { refusal }),
    ...(tool_calls.length > 0 && { tool_calls }),
    ...(server_tools.length > 0 && { server_tools: server_tools.slice(0, calls_max) }),
    ...(approvals.length > 0 && { approvals: approvals.slice(0, calls_max) }),
  }
}

/** Returns arguments as text: a model's own text, or a value as JSON. */
export function argumentsText(given: unknown): string {
  if (given === undefined || given === null) return ''
  return typeof given === 'string' ? given : jsonText(given)
}

/** Returns the messages of a request, after its system prompt if it has one. */
export function withSystem(system: unknown, messages: readonly unknown[]): unknown[] {
  if (system === undefined || system === null || system === '') return [...messages]
  return [{ role: 'system', content: system }, ...messages]
}

/** Returns a tool result with its content as text. */
export function toolResult(id: unknown, content: unknown): ToolResult {
  return { tool_call_id: textFrom(id), content: resultText(content) }
}

function resultText(content: unknown): string {
  if (typeof content === 'string') return content
  const parts = Array.isArray(content) ? content : []
  const texts = parts.map((part) => textFrom(objectFrom(part)?.['text']))
  if (parts.length > 0 && texts.every((text) => text !== '')) return texts.join('')
  return content === undefined || content === null ? '' : jsonText(content)
}
