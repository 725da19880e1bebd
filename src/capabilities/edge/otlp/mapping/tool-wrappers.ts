import { type JsonObject, objectFrom } from '../../../../kernel/json-values.ts'
import { argumentsOf, contentOf, isCall, isResultPart } from './tool-traffic.ts'

/**
 * Returns the arguments of the one call in the input of a tool's span: one message with one part, or
 * the object that LangChain hands to a callback when a tool starts. Undefined for anything else, such
 * as a history.
 */
export function argumentsWrappedIn(json: unknown): unknown {
  const part = onlyPart(json)
  if (part !== undefined) return isCall(part, part) ? argumentsOf(part, part) : undefined
  const started = objectFrom(json)
  return started !== undefined && 'input_str' in started ? objectFrom(started['inputs']) : undefined
}

/** Returns the one result in the output of a tool's span: one message with one part, or a ToolMessage. */
export function resultWrappedIn(json: unknown): unknown {
  const part = onlyPart(json)
  if (part !== undefined) return isResultPart(part) ? contentOf(part) : undefined
  return toolMessageIn(json)?.['content']
}

/** Returns the id of the call that a ToolMessage answers. */
export function idWrappedIn(json: unknown): unknown {
  return toolMessageIn(json)?.['tool_call_id']
}

function onlyPart(json: unknown): JsonObject | undefined {
  const message = onlyItem(json)
  return message && onlyItem(message['parts'])
}

function onlyItem(list: unknown): JsonObject | undefined {
  return Array.isArray(list) && list.length === 1 ? objectFrom(list[0]) : undefined
}

/** Keys that instrumentations of LangChain wrap a ToolMessage in, from the outside in. */
const wrappers = ['output', 'data', 'kwargs'] as const

function toolMessageIn(json: unknown): JsonObject | undefined {
  let found = objectFrom(json)
  for (const wrapper of wrappers) {
    if (found === undefined || isToolMessage(found)) return found
    found = objectFrom(found[wrapper]) ?? found
  }
  return found !== undefined && isToolMessage(found) ? found : undefined
}

function isToolMessage(object: JsonObject): boolean {
  const { type, content, tool_call_id } = object
  return type === 'tool' && content !== undefined && typeof tool_call_id === 'string'
}
