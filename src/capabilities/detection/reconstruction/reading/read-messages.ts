import {
  itemsOf,
  type JsonObject,
  jsonText,
  objectFrom,
  parsedJson,
  textFrom,
} from '../../../../kernel/json-values.ts'
import { digestOf } from './digests.ts'
import {
  addCall,
  type HistoryCall,
  isCallPart,
  isResultPart,
  readCall,
  readResult,
} from './tool-parts.ts'

/** A message of a history, read from any convention. */
export type HistoryMessage = {
  role: 'system' | 'user' | 'assistant' | 'tool'
  /** Texts of the message, joined and uncut. */
  text: string
  /** Text of the model's refusal. */
  refusal: string
  /** Tool calls in the message. */
  calls: readonly HistoryCall[]
  /**
   * For a tool message: the call it answers, the tool's name if given, and whether the tool failed.
   */
  tool_call_id: string
  tool_name: string
  is_error: boolean | undefined
  /** True for the name of a message that the provider holds; `tool_call_id` is its id. */
  is_reference: boolean
  /** Equal for the same message in every spelling. */
  digest: string
}

/**
 * Reads the messages in a JSON value: message lists of OpenAI, OpenTelemetry, OpenInference, the AI
 * SDK, Anthropic and Gemini, items of the Responses API, and objects around them. Any other value
 * becomes one message with the given role.
 */
export function readMessages(value: unknown, role: HistoryMessage['role']): HistoryMessage[] {
  const reported: HistoryMessage[] = []
  for (const item of findMessageList(value)) addMessages(reported, item, role)
  return reported
}

const listKeys = ['messages', 'contents', 'input', 'prompts'] as const
/** Maximum nesting of lists and objects around the messages. */
const wraps_max = 4

/** Returns the list of messages in a value; a system text beside the list comes first. */
function findMessageList(value: unknown): readonly unknown[] {
  let within = value
  const before: unknown[] = []
  for (let depth = 0; depth < wraps_max; depth++) {
    if (Array.isArray(within)) {
      if (within.length !== 1 || !Array.isArray(within[0])) return [...before, ...within]
      within = within[0]
      continue
    }
    const object = objectFrom(within)
    const inner = object && findInnerList(object)
    if (object === undefined || inner === undefined) break
    before.push(...readSystemBeside(object))
    within = inner
  }
  return [...before, within]
}

function readSystemBeside(object: JsonObject): readonly JsonObject[] {
  const content = object['system'] ?? objectFrom(object['config'])?.['system_instruction']
  return content === undefined || content === null ? [] : [{ role: 'system', content }]
}

function findInnerList(object: JsonObject): unknown {
  if (isMessage(object)) return undefined
  const key = listKeys.find((name) => Array.isArray(object[name]))
  return key === undefined ? (object['prompt'] ?? undefined) : object[key]
}

function isMessage(object: JsonObject): boolean {
  return 'role' in object || 'content' in object || 'parts' in object || 'type' in object
}

const roles = new Map<unknown, HistoryMessage['role']>([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['human', 'user'],
  // Roles of smolagents: the calls of an answer in words, and their results.
  ['tool-call', 'assistant'],
  ['tool-response', 'user'],
  ['assistant', 'assistant'],
  ['model', 'assistant'],
  ['ai', 'assistant'],
  ['tool', 'tool'],
  ['function', 'tool'],
])

function addMessages(
  reported: HistoryMessage[],
  item: unknown,
  fallback: HistoryMessage['role'],
): void {
  const whole = objectFrom(item)
  if (whole === undefined) {
    if (item === undefined || item === null || item === '') return
    const text = typeof item === 'string' ? item : jsonText(item)
    reported.push(withDigest({ ...emptyMessage, role: fallback, text }))
    return
  }
  const message = unwrapMessage(whole) ?? objectFrom(whole['body']) ?? whole
  if (isThought(message)) return
  const role = roleOf(message, whole, fallback)
  const parts = partsOf(message)
  const results = parts.filter(isResultPart)
  for (const part of results)
    reported.push(withDigest({ ...emptyMessage, role: 'tool', ...readResult(part) }))
  const rest = results.length === 0 ? parts : parts.filter((part) => !isResultPart(part))
  if (results.length > 0 && rest.length === 0) return
  reported.push(
    withDigest(role === 'tool' ? toToolMessage(message, rest) : toTextMessage(role, message, rest)),
  )
}

/** Unwraps the message inside an answer or an event: an object, its JSON, or a text. */
function unwrapMessage({ message }: JsonObject): JsonObject | undefined {
  if (typeof message !== 'string') return objectFrom(message)
  return (message[0] === '{' ? objectFrom(parsedJson(message)) : undefined) ?? { content: message }
}

function roleOf(
  message: JsonObject,
  whole: JsonObject,
  fallback: HistoryMessage['role'],
): HistoryMessage['role'] {
  const role = roles.get(message['role']) ?? roles.get(whole['role'])
  if (role !== undefined) return role
  const type = message['type']
  const named = roles.get(type)
  if (named !== undefined) return named
  return isCallPart(message) || isProviderItem(type) ? 'assistant' : fallback
}

/** Items in the place of messages that a model or its provider wrote, such as `web_search_call`. */
const providerItem =
  /^(?:model_output|item_reference|compaction|program|mcp_list_tools|mcp_approval_request|[a-z_]{1,64}_(?:call|result|output))$/

function isProviderItem(type: unknown): boolean {
  return typeof type === 'string' && providerItem.test(type)
}

/** Tells whether an item is a thought of the model, which its answers as recorded do not have. */
function isThought({ type, role }: JsonObject): boolean {
  return role === undefined && (type === 'reasoning' || type === 'thought')
}

const emptyMessage = {
  role: 'user',
  text: '',
  refusal: '',
  calls: [] as readonly HistoryCall[],
  tool_call_id: '',
  tool_name: '',
  is_error: undefined as boolean | undefined,
  is_reference: false,
} as const

/** Returns the parts of a message: the items of its content, or the content itself. */
function partsOf(message: JsonObject): readonly unknown[] {
  if (isResultPart(message) || isCallPart(message)) return [message]
  const content = message['parts'] ?? message['content'] ?? message['contents'] ?? message['text']
  if (Array.isArray(content)) return content
  if (typeof content === 'string') return parseParts(content)
  return content === undefined || content === null ? [] : [content]
}

const partsOpening = /^\[\s*\{\s*"/

/** Parses the list of parts that some instrumentations put into a text. */
function parseParts(text: string): readonly unknown[] {
  if (text === '') return []
  if (!partsOpening.test(text)) return [text]
  const items = itemsOf(parsedJson(text))
  return items.length > 0 && items.every(isKnownPart) ? items : [text]
}

const partTypes = new Set([
  'text',
  'tool_use',
  'tool_result',
  'tool-call',
  'tool-result',
  'tool_call',
  'tool_call_response',
  'image_url',
  'image',
  'input_text',
  'output_text',
  'thinking',
  'reasoning',
])

/** Keys that name the type of an untyped part: content blocks of Bedrock. */
const blockKeys = new Set([
  'text',
  'toolUse',
  'toolResult',
  'reasoningContent',
  'cachePoint',
  'image',
  'document',
  'video',
  'guardContent',
  'citationsContent',
])

function isKnownPart(part: unknown): boolean {
  const object = objectFrom(part)
  if (object === undefined) return false
  if ('type' in object) return partTypes.has(String(object['type']))
  const [key = '', ...more] = Object.keys(object)
  return more.length === 0 && blockKeys.has(key)
}

function toToolMessage(
  message: JsonObject,
  parts: readonly unknown[],
): Omit<HistoryMessage, 'digest'> {
  const { tool_call_id, tool_name, is_error } = readResult(message)
  const text = parts.map(textOfPart).join('')
  return { ...emptyMessage, role: 'tool', text, tool_call_id, tool_name, is_error }
}

function toTextMessage(
  role: HistoryMessage['role'],
  message: JsonObject,
  parts: readonly unknown[],
): Omit<HistoryMessage, 'digest'> {
  const calls: HistoryCall[] = []
  const texts: string[] = []
  for (const part of parts) {
    if (isCallPart(part)) pushCall(calls, part)
    else texts.push(textOfPart(part))
  }
  for (const call of itemsOf(message['tool_calls'])) pushCall(calls, call)
  const old = objectFrom(message['function_call'])
  if (old !== undefined) pushCall(calls, old)
  const refusal = typeof message['refusal'] === 'string' ? message['refusal'] : ''
  const is_reference = message['type'] === 'item_reference'
  const id = is_reference ? textFrom(message['id']) : ''
  const text = texts.join('')
  return { ...emptyMessage, role, text, refusal, calls, is_reference, tool_call_id: id }
}

function pushCall(calls: HistoryCall[], part: unknown): void {
  const call = readCall(part)
  if (call !== undefined) addCall(calls, call)
}

/**
 * Returns the text of a part. Reasoning is left out; a part without text is represented by its
 * digest.
 */
function textOfPart(part: unknown): string {
  if (typeof part === 'string') return part
  const object = objectFrom(part)
  if (object === undefined) return jsonText(part)
  const type = object['type']
  if (type === 'reasoning' || type === 'thinking' || type === 'redacted_thinking') return ''
  if ('reasoningContent' in object || 'cachePoint' in object) return ''
  const text = object['text'] ?? object['content']
  if (typeof text === 'string' && !isData(object)) return text
  const inner = objectFrom(text)?.['text']
  if (typeof inner === 'string') return inner
  const kind = typeof type === 'string' ? type : 'data'
  return `[${kind} ${digestOf(jsonText(part))}]`
}

function isData(part: JsonObject): boolean {
  const type = part['type']
  return type === 'blob' || type === 'uri' || type === 'file'
}

function withDigest(message: Omit<HistoryMessage, 'digest'>): HistoryMessage {
  return { ...message, digest: digestOfMessage(message) }
}

function digestOfMessage(message: Omit<HistoryMessage, 'digest'>): string {
  const { role, text, refusal, calls, tool_call_id, tool_name, is_reference } = message
  const asked = calls.map(({ id, sig }) => `${id} ${sig}`).join('\n')
  const isNamed = role === 'tool' || is_reference
  const subject = isNamed ? `${tool_call_id || tool_name}` : refusal
  return digestOf(`${role}\n${subject}\n${asked}\n${text.trim()}`)
}
