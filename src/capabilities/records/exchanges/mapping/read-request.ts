import {
  itemsOf,
  type JsonObject,
  jsonText,
  objectFrom,
  parsedJson,
  textFrom,
} from '../../../../kernel/json-values.ts'
import type { ExchangeFacts } from '../../../../model/exchange.ts'
import type { ToolResult } from '../../../../model/observation.ts'
import { withoutPersonalText } from '../../call-task/index.ts'
import { bodyText, columnText, cutBytes, cutText, scrubbed } from '../answer/body-text.ts'
import { formatOf } from '../formats/index.ts'

/** A client's request. */
export type ReadRequest = {
  /** Undefined when the body is cut or not a JSON object. */
  parsed: JsonObject | undefined
  text: string
  /** Messages in the shape of a format of its own. */
  asked?: unknown
  model: string
  /** Messages or prompt as JSON, or else the text of the body. */
  input: string
  tool_results: ToolResult[]
}

/** Most characters kept of a body that is not JSON. */
export const maxFallbackTextChars = 262_144
/** Most characters of a model's name; real names are shorter. */
export const model_chars_max = 256
const maxToolResultBytes = 4_096
const maxToolResults = 128

/** Reads a request body. `path_model`: the model, where the path names it. */
export function readRequest(
  body: Uint8Array,
  { endpoint, path_model = '' }: Pick<ExchangeFacts, 'endpoint' | 'path_model'>,
): ReadRequest {
  const text = bodyText(body)
  const parsed = objectFrom(parsedJson(text))
  if (parsed === undefined) {
    const model = columnText(modelInText.exec(text)?.[1] ?? '', model_chars_max)
    const input = withoutPersonalText(cutText(text, maxFallbackTextChars))
    return { parsed, text, model: path_model || model, input, tool_results: [] }
  }
  const format = formatOf(endpoint)
  if (format !== undefined) {
    const asked = format.readRequest(parsed)
    return {
      parsed,
      text,
      asked: asked.input,
      model: columnText(asked.model || path_model, model_chars_max),
      input: asked.input === undefined ? '' : jsonText(asked.input),
      tool_results: asked.tool_results.slice(-maxToolResults).map(({ tool_call_id, content }) => {
        return { tool_call_id, content: cutBytes(content, maxToolResultBytes) }
      }),
    }
  }
  const asked = parsed['messages'] ?? parsed['prompt']
  const input = asked === undefined ? '' : jsonText(asked) || cutText(text, maxFallbackTextChars)
  return {
    parsed,
    text,
    model: columnText(textFrom(parsed['model']) || path_model, model_chars_max),
    input,
    tool_results: toolResultsOf(parsed['messages']),
  }
}

/** Finds the model in a body that was cut; clients write it first. */
const modelInText = /^\s*\{[^{[]{0,512}?"model"\s*:\s*"([^"\\]{1,256})"/

/** Returns the results that answer the assistant's latest message: the tool messages at the end. */
function toolResultsOf(messages: unknown): ToolResult[] {
  const items = itemsOf(messages)
  const results: ToolResult[] = []
  for (let at = items.length - 1; at >= 0 && results.length < maxToolResults; at--) {
    const message = objectFrom(items[at])
    const role = message?.['role']
    if (message === undefined || role === 'assistant') break
    if (role !== 'tool' && role !== 'function') continue
    results.push({
      tool_call_id: textFrom(message['tool_call_id']) || textFrom(message['name']),
      content: cutBytes(contentText(message['content']), maxToolResultBytes),
    })
  }
  return results.reverse()
}

function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  const parts = itemsOf(content)
  const texts = parts.map((part) => textFrom(objectFrom(part)?.['text']))
  if (parts.length > 0 && texts.every((text) => text !== '')) return texts.join('')
  return content === undefined || content === null ? '' : jsonText(content)
}

const parameters_max = 64
const parameter_chars_max = 2_048
const tools_chars_max = 16_384
/** Fields with columns of their own, and fields without information about the call. */
const notParameters = new Set([
  ...['messages', 'prompt', 'model', 'stream', 'stream_options'],
  ...['input', 'instructions', 'system', 'contents', 'systemInstruction', 'system_instruction'],
])
const secretNames = /api_?key|secret|password|authorization|headers|credential/i

/** Adds the other fields of a request as `request.<field>`, each as text or JSON, within limits. */
export function addParameters(attributes: Record<string, string>, request: JsonObject): void {
  let added = 0
  for (const key in request) {
    if (notParameters.has(key)) continue
    if (added++ >= parameters_max) return
    const value = request[key]
    const chars = key === 'tools' || key === 'functions' ? tools_chars_max : parameter_chars_max
    const text = typeof value === 'string' ? value : jsonText(value)
    const name = `request.${cutText(key, 128)}`
    attributes[name] = secretNames.test(key) ? '[redacted]' : scrubbed(cutText(text, chars))
  }
}
