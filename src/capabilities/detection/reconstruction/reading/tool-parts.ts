import { type JsonObject, jsonText, objectFrom } from '../../../../kernel/json-values.ts'
import { readArguments, sigOf } from './digests.ts'

/** A tool call in a message. */
export type HistoryCall = {
  id: string
  name: string
  /** Arguments as text: as written, or serialised from JSON. */
  arguments: string
  is_json: boolean
  sig: string
}

const builtInCalls: ReadonlySet<string> = new Set([
  'shell_call',
  'local_shell_call',
  'apply_patch_call',
  'computer_call',
])

const callTypes = new Set([
  'tool_call',
  'tool-call',
  'tool_use',
  'server_tool_use',
  'function_call',
  'custom_tool_call',
  ...builtInCalls,
])

/** Tells whether a part of a message, or an item in its place, is a tool call. */
export function isCallPart(part: unknown): boolean {
  const object = objectFrom(part)
  if (object === undefined) return false
  const type = object['type']
  if (typeof type === 'string') return callTypes.has(type)
  return findUntypedCall(object) !== undefined && !object['role']
}

/** Finds the call in an untyped part of Gemini or Bedrock, which is marked by its key. */
function findUntypedCall(part: JsonObject): JsonObject | undefined {
  return objectFrom(part['functionCall'] ?? part['function_call'] ?? part['toolUse'])
}

function findUntypedResult(part: JsonObject): JsonObject | undefined {
  return objectFrom(part['functionResponse'] ?? part['function_response'] ?? part['toolResult'])
}

const resultTypes = new Set([
  'tool_call_response',
  'tool-result',
  'tool_result',
  'function_call_output',
  'function_result',
  'custom_tool_call_output',
  'shell_call_output',
  'local_shell_call_output',
  'apply_patch_call_output',
  'computer_call_output',
])

/** Tells whether a part of a message, or an item in its place, is a tool result. */
export function isResultPart(part: unknown): boolean {
  const object = objectFrom(part)
  if (object === undefined) return false
  const type = object['type']
  if (typeof type === 'string') return resultTypes.has(type)
  return findUntypedResult(object) !== undefined
}

/** Reads a tool call of any convention; undefined without a tool name. */
export function readCall(part: unknown): HistoryCall | undefined {
  const item = objectFrom(part)
  if (item === undefined) return undefined
  const called =
    objectFrom(item['function']) ?? objectFrom(item['custom']) ?? findUntypedCall(item) ?? item
  const name = toText(called['name'] ?? item['toolName']) || toolOfType(item)
  if (name === '') return undefined
  const own = called['id'] ?? called['toolUseId']
  const id = toText(item['call_id'] ?? item['id'] ?? item['toolCallId'] ?? own)
  return toHistoryCall(id, name, readArgumentText(called, item))
}

/** The built-in tools of Responses that the client runs are named by the type of the call. */
function toolOfType({ type }: JsonObject): string {
  return typeof type === 'string' && builtInCalls.has(type) ? type.slice(0, -'_call'.length) : ''
}

/** OpenAI allows 128 tools; a longer list is not a real one. */
const calls_max = 512

/**
 * Adds a call to those of a message. Some instrumentations list a call twice, among the parts of its
 * message and in a list of its own: equal calls with one id are one.
 */
export function addCall(calls: HistoryCall[], call: HistoryCall): void {
  const at = call.id === '' ? -1 : calls.findIndex((known) => isSameCall(known, call))
  if (at === -1 && calls.length < calls_max) calls.push(call)
  else if (calls[at]?.arguments === '') calls[at] = call
}

function isSameCall(known: HistoryCall, call: HistoryCall): boolean {
  if (known.id !== call.id || known.name !== call.name) return false
  return known.sig === call.sig || known.arguments === '' || call.arguments === ''
}

/** Maximum characters of names and ids; longer ones are cut. */
const name_chars_max = 256

/** Creates a call from its id, name and arguments. */
export function toHistoryCall(id: string, name: string, args: string): HistoryCall {
  const short = name.slice(0, name_chars_max)
  const { is_json, sig } = signCall(short, args)
  return { id: id.slice(0, name_chars_max), name: short, arguments: args, is_json, sig }
}

type Signature = Pick<HistoryCall, 'is_json' | 'sig'>

/**
 * Cached signatures of calls: a history that is not sent unchanged contains all its calls again.
 */
const memo = new Map<string, Signature>()
const memo_max = 4_096
const memo_chars_max = 1_024

function signCall(name: string, args: string): Signature {
  if (args.length > memo_chars_max) return computeSignature(name, args)
  const key = `${name}\n${args}`
  const known = memo.get(key)
  if (known !== undefined) return known
  if (memo.size >= memo_max) memo.clear()
  const made = computeSignature(name, args)
  memo.set(key, made)
  return made
}

function computeSignature(name: string, args: string): Signature {
  const { canonical, is_json } = readArguments(args)
  return { is_json, sig: sigOf(name, canonical) }
}

function readArgumentText(called: JsonObject, item: JsonObject): string {
  const given =
    called['arguments'] ??
    called['args'] ??
    item['args'] ??
    called['input'] ??
    item['input'] ??
    item['parameters'] ??
    item['action'] ??
    item['operation']
  if (given === undefined || given === null) return ''
  return typeof given === 'string' ? given : jsonText(given)
}

/** Reads the result from a part or from a tool message. */
export function readResult(part: unknown): {
  text: string
  tool_call_id: string
  tool_name: string
  is_error: boolean | undefined
} {
  const item = objectFrom(part) ?? {}
  const response = findUntypedResult(item)
  const id =
    item['tool_call_id'] ??
    item['toolCallId'] ??
    item['tool_use_id'] ??
    item['call_id'] ??
    response?.['id'] ??
    response?.['toolUseId'] ??
    item['id']
  const name = item['name'] ?? item['toolName'] ?? item['tool_name'] ?? response?.['name']
  const content =
    item['response'] ??
    item['result'] ??
    item['output'] ??
    item['content'] ??
    response?.['response'] ??
    response?.['content']
  const failed =
    item['is_error'] ?? item['isError'] ?? readWrappedFailure(content) ?? readFailedStatus(response)
  return {
    text: toResultText(content),
    tool_call_id: toText(id).slice(0, name_chars_max),
    tool_name: toText(name).slice(0, name_chars_max),
    is_error: typeof failed === 'boolean' ? failed : undefined,
  }
}

/** Reads the outcome that the AI SDK puts around a result: `{"type":"error-text","value":…}`. */
function readWrappedFailure(content: unknown): boolean | undefined {
  const object = objectFrom(content)
  const failed = object?.['isError'] ?? object?.['is_error']
  if (typeof failed === 'boolean') return failed
  const type = object?.['type']
  return type === 'error-text' || type === 'error-json' ? true : undefined
}

/** Reads the outcome that Bedrock gives with each result. */
function readFailedStatus(result: JsonObject | undefined): boolean | undefined {
  const status = result?.['status']
  return status === 'error' || status === 'success' ? status === 'error' : undefined
}

/** Returns a result as text: the joined texts of its parts, otherwise its JSON. */
export function toResultText(reported: unknown): string {
  const content = unwrapContent(reported)
  if (typeof content === 'string') return content
  if (content === undefined || content === null) return ''
  const parts = Array.isArray(content) ? content : objectFrom(content)?.['content']
  if (Array.isArray(parts)) {
    const texts = parts.map((one) => objectFrom(one)?.['text'])
    if (texts.length > 0 && texts.every((text) => typeof text === 'string')) return texts.join('')
  }
  return jsonText(content)
}

function unwrapContent(content: unknown): unknown {
  const object = objectFrom(content)
  if (object === undefined || typeof object['type'] !== 'string') return content
  return object['value'] ?? content
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? `${value}` : ''
}
