import { type JsonObject, jsonText, objectFrom } from '../../../../kernel/json-values.ts'
import type { ToolCall, ToolResult } from '../../../../model/observation.ts'
import { columnText, cutText, decoded } from './value-text.ts'

type ToolLimits = { tool_calls_max: number; tool_bytes_max: number; text_chars_max: number }

/** Maximum depth of the search; messages, parts and calls are never deeper. */
const depth_max = 7

/**
 * Returns the tool calls in messages of any convention: parts of type tool_call, tool-call or
 * tool_use, `tool_calls` lists in OpenAI's format, and lists of calls.
 */
export function toolCallsIn(json: unknown, limits: ToolLimits): ToolCall[] {
  const found: ToolCall[] = []
  walk(json, { depth: 0, within: '' }, (item, within) => {
    if (found.length >= limits.tool_calls_max) return true
    const call = callFrom(item, within === 'tool_calls', limits)
    if (call) found.push(call)
    return call !== undefined
  })
  return found
}

/**
 * Returns the results in messages: parts of type tool_call_response or tool-result, and messages of
 * the role tool.
 */
export function toolResultsIn(json: unknown, limits: ToolLimits): ToolResult[] {
  const found: ToolResult[] = []
  walk(json, { depth: 0, within: '' }, (item) => {
    if (found.length >= limits.tool_calls_max) return true
    const result = resultFrom(item, limits)
    if (result) found.push(result)
    return result !== undefined
  })
  return found
}

type Place = { depth: number; within: string }
type Visit = (item: JsonObject, within: string) => boolean

/**
 * Visits objects from the outside in. It does not descend into an object whose visit returns true.
 */
function walk(json: unknown, place: Place, visit: Visit): void {
  const depth = place.depth + 1
  if (typeof json !== 'object' || json === null || depth > depth_max) return
  if (Array.isArray(json)) {
    for (const item of json) walk(item, { depth, within: place.within }, visit)
    return
  }
  const object = json as JsonObject
  if (visit(object, place.within)) return
  for (const key of innerKeys) {
    walk(fromText(object[key]), { depth, within: key }, visit)
  }
}

const innerKeys = [
  'choices',
  'messages',
  'message',
  'parts',
  'content',
  'tool_calls',
  'function_call',
  'body',
] as const

/** Parses texts that contain lists or objects, as some instrumentations write them. */
function fromText(value: unknown): unknown {
  if (typeof value !== 'string' || (value[0] !== '[' && value[0] !== '{')) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

function callFrom(item: JsonObject, isListed: boolean, limits: ToolLimits): ToolCall | undefined {
  const called = objectFrom(item['function']) ?? objectFrom(item['toolUse']) ?? item
  const name = called['name'] ?? item['toolName']
  if (typeof name !== 'string' || name === '') return undefined
  if (!isListed && !isCall(item, called)) return undefined
  const id = item['call_id'] ?? item['id'] ?? item['toolCallId'] ?? called['toolUseId']
  return {
    id: columnText(idOf(id), limits.text_chars_max),
    name: columnText(name, limits.text_chars_max),
    arguments: cut(argumentsOf(item, called), limits),
  }
}

/** Returns the arguments of a call in any convention. */
export function argumentsOf(item: JsonObject, called: JsonObject): unknown {
  const given = called['arguments'] ?? item['args'] ?? called['input'] ?? item['input']
  return given ?? item['parameters'] ?? item['payload']
}

const callTypes = new Set(['tool_call', 'tool-call', 'tool_use', 'function', 'function_call'])

/** Returns true when an item is a call. Bedrock's blocks have no type, only a key of that name. */
export function isCall(item: JsonObject, called: JsonObject): boolean {
  const type = item['type']
  if (typeof type === 'string') return callTypes.has(type)
  return called !== item || 'toolName' in item || 'arguments' in item
}

const resultTypes = new Set([
  'tool_call_response',
  'tool-result',
  'tool_result',
  'function_call_output',
])

/** Returns true when the type of an item is that of a result. */
export function isResultPart({ type }: JsonObject): boolean {
  return typeof type === 'string' && resultTypes.has(type)
}

function resultFrom(item: JsonObject, limits: ToolLimits): ToolResult | undefined {
  const result = objectFrom(item['toolResult']) ?? item
  const id = idOf(
    result['tool_call_id'] ??
      result['toolCallId'] ??
      result['tool_use_id'] ??
      result['toolUseId'] ??
      result['call_id'] ??
      result['id'],
  )
  const isPart = isResultPart(item) || result !== item
  if (!isPart && (item['role'] !== 'tool' || id === '')) return undefined
  return {
    tool_call_id: columnText(id, limits.text_chars_max),
    content: cut(contentOf(result), limits),
  }
}

/** Returns the content of a result in any convention. */
export function contentOf(result: JsonObject): unknown {
  return withoutWrapper(
    result['response'] ??
      result['result'] ??
      result['output'] ??
      result['content'] ??
      result['body'],
  )
}

/** Unwraps the AI SDK's results, which carry a type: `{"type":"json","value":…}`. */
function withoutWrapper(content: unknown): unknown {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return content
  const { type, value, ...rest } = content as JsonObject
  const isWrapper = typeof type === 'string' && value !== undefined
  return isWrapper && Object.keys(rest).length === 0 ? value : content
}

function idOf(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? `${value}` : ''
}

function cut(value: unknown, { tool_bytes_max }: ToolLimits): string {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'string' ? value : jsonText(value)
  return decoded(cutText(text, tool_bytes_max))
}
