import {
  itemsOf,
  type JsonObject,
  objectFrom,
  objectsIn,
  textFrom,
} from '../../../kernel/json-values.ts'
import type { ExchangeFacts } from '../../../model/exchange.ts'

/** A tool call of an answer that a request sends again. */
export type SentCall = { id: string; name: string; arguments: unknown }

/** A message of a request, in one shape for all formats. */
export type SentMessage = {
  /** `other`: a system prompt, or an item outside of the talk. */
  role: 'user' | 'assistant' | 'tool' | 'other'
  /** The texts of a person, or those of an answer; empty for other roles. */
  texts: readonly string[]
  /** The person sent more than text, such as an image. */
  hasMedia: boolean
  calls: readonly SentCall[]
  /** Ids of the calls that the results of a tool message answer. */
  results: readonly string[]
}

/** Returns the messages of a request in order; undefined for a format without messages. */
export function readSentHistory(
  endpoint: ExchangeFacts['endpoint'],
  body: JsonObject,
): SentMessage[] | undefined {
  const read = readers.get(endpoint)
  if (read === undefined) return undefined
  const [field, toMessage] = read
  const sent = body[field]
  if (typeof sent === 'string') return [personSaying(sent)]
  const items = Array.isArray(sent) ? sent : [sent]
  return items.flatMap((item) => {
    if (typeof item === 'string') return [personSaying(item)]
    const object = objectFrom(item)
    return object === undefined ? [] : [toMessage(object)]
  })
}

type ToMessage = (item: JsonObject) => SentMessage

const readers: ReadonlyMap<ExchangeFacts['endpoint'], readonly [string, ToMessage]> = new Map([
  ['chat.completions', ['messages', chatMessage]],
  ['messages', ['messages', blocksMessage]],
  ['messages.count_tokens', ['messages', blocksMessage]],
  ['responses', ['input', responsesItem]],
  ['generate_content', ['contents', geminiContent]],
  ['generate_content.count_tokens', ['contents', geminiContent]],
  ['interactions', ['input', interactionItem]],
])

const other: SentMessage = { role: 'other', texts: [], hasMedia: false, calls: [], results: [] }

function personSaying(text: string): SentMessage {
  return { ...other, role: 'user', texts: [text] }
}

function chatMessage(item: JsonObject): SentMessage {
  const role = textFrom(item['role'])
  if (role === 'user') return personMessage(item['content'])
  if (role === 'tool' || role === 'function') {
    return { ...other, role: 'tool', results: [textFrom(item['tool_call_id'])] }
  }
  if (role !== 'assistant') return other
  const calls = itemsOf(item['tool_calls']).flatMap((one): SentCall[] => {
    const call = objectFrom(one)
    const made = objectFrom(call?.['function']) ?? objectFrom(call?.['custom'])
    if (call === undefined || made === undefined) return []
    const given = made['arguments'] ?? made['input']
    return [{ id: textFrom(call['id']), name: textFrom(made['name']), arguments: given }]
  })
  const older = objectFrom(item['function_call'])
  if (older !== undefined) {
    calls.push({ id: '', name: textFrom(older['name']), arguments: older['arguments'] })
  }
  return { ...other, role: 'assistant', calls, texts: textsIn(item['content']) }
}

/** Returns the texts of content: a text, or a list of parts. */
function textsIn(content: unknown): readonly string[] {
  return personMessage(content).texts
}

function personMessage(content: unknown): SentMessage {
  const texts: string[] = []
  let hasMedia = false
  for (const part of typeof content === 'string' ? [content] : itemsOf(content)) {
    const text = typeof part === 'string' ? part : objectFrom(part)?.['text']
    if (typeof text === 'string') texts.push(text)
    else hasMedia = true
  }
  return { ...other, role: 'user', texts, hasMedia }
}

function blocksMessage(item: JsonObject): SentMessage {
  const role = textFrom(item['role'])
  if (role !== 'user' && role !== 'assistant') return other
  const blocks = objectsIn(item['content'])
  const isOf = (kind: string) => (block: JsonObject) => textFrom(block['type']).endsWith(kind)
  if (role === 'assistant') {
    const calls = blocks.filter(isOf('tool_use')).map((block) => {
      return { id: textFrom(block['id']), name: textFrom(block['name']), arguments: block['input'] }
    })
    return { ...other, role, calls, texts: textsIn(item['content']) }
  }
  const results = blocks.filter(isOf('tool_result')).map((one) => textFrom(one['tool_use_id']))
  // Text beside the results of tools comes from the harness.
  return results.length > 0 ? { ...other, role: 'tool', results } : personMessage(item['content'])
}

function responsesItem(item: JsonObject): SentMessage {
  const type = textFrom(item['type'])
  const role = textFrom(item['role'])
  if (type === '' || type === 'message') {
    if (role === 'user') return personMessage(item['content'])
    return role === 'assistant' ? { ...other, role, texts: textsIn(item['content']) } : other
  }
  if (type.endsWith('_output')) {
    return { ...other, role: 'tool', results: [textFrom(item['call_id'])] }
  }
  if (!type.endsWith('_call')) return other
  const given = item['arguments'] ?? item['input'] ?? item['action']
  const call = { id: textFrom(item['call_id']), name: textFrom(item['name']), arguments: given }
  return { ...other, role: 'assistant', calls: [call] }
}

function geminiContent(item: JsonObject): SentMessage {
  const role = textFrom(item['role'])
  const parts = objectsIn(item['parts'] ?? [item])
  if (role === 'model') {
    const calls = parts.flatMap((part): SentCall[] => {
      const call = objectFrom(part['functionCall'] ?? part['function_call'])
      if (call === undefined) return []
      return [{ id: textFrom(call['id']), name: textFrom(call['name']), arguments: call['args'] }]
    })
    return { ...other, role: 'assistant', calls, texts: textsIn(parts) }
  }
  const results = parts.flatMap((part) => {
    const result = objectFrom(part['functionResponse'] ?? part['function_response'])
    return result === undefined ? [] : [textFrom(result['id'])]
  })
  if (role === 'function' || results.length > 0) return { ...other, role: 'tool', results }
  return personMessage(parts)
}

function interactionItem(item: JsonObject): SentMessage {
  const type = textFrom(item['type'])
  const role = textFrom(item['role'])
  if (type.endsWith('_result')) {
    return { ...other, role: 'tool', results: [textFrom(item['call_id'])] }
  }
  if (type === 'function_call') {
    const { id, name, arguments: given } = item
    const call = { id: textFrom(id), name: textFrom(name), arguments: given }
    return { ...other, role: 'assistant', calls: [call] }
  }
  if (type === 'model_output' || type === 'thought' || role === 'model' || role === 'assistant') {
    return { ...other, role: 'assistant' }
  }
  if (type.endsWith('_call')) return { ...other, role: 'assistant' }
  return personMessage(item['content'] ?? [item])
}
