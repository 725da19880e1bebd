import { itemsOf, type JsonObject, objectFrom, textFrom } from '../../../../kernel/json-values.ts'
import type { Growing } from '../answer/merge-delta.ts'
import {
  type AskedContent,
  appendText,
  argumentsText,
  errorIn,
  type FormatAnswer,
  inOrder,
  messageFrom,
  noFormatAnswer,
  noParts,
  objectsIn,
  type StreamReader,
  toolResult,
  type WireFormat,
  withSystem,
} from './format.ts'

/** Anthropic's Messages: https://docs.anthropic.com/en/api/messages */
export const messages: WireFormat = {
  readRequest,
  readWhole: (body) => readMessage(objectFrom(body)),
  openStream,
}

function readRequest(body: JsonObject): AskedContent {
  const items = itemsOf(body['messages'])
  const last = objectFrom(items.at(-1))
  const results = objectsIn(last?.['role'] === 'user' ? last['content'] : undefined).filter(
    (part) => textFrom(part['type']).endsWith('tool_result'),
  )
  return {
    model: textFrom(body['model']),
    input: withSystem(body['system'], items),
    tool_results: results.map((part) => toolResult(part['tool_use_id'], part['content'])),
  }
}

function readMessage(body: JsonObject | undefined): FormatAnswer {
  if (body === undefined) return noFormatAnswer
  const isAnswer = Array.isArray(body['content'])
  const parts = noParts()
  for (const block of objectsIn(body['content'])) {
    const type = textFrom(block['type'])
    if (type === 'text') parts.text += textFrom(block['text'])
    else if (type === 'thinking') parts.reasoning += textFrom(block['thinking'])
    else if (type === 'tool_use') parts.calls.push(callFrom(block))
    else if (type.endsWith('_tool_use')) parts.server_tools.push({ ...callFrom(block), type })
  }
  const usage = objectFrom(body['usage'])
  return {
    model: textFrom(body['model']),
    id: textFrom(body['id']),
    message: isAnswer ? messageFrom(parts) : undefined,
    finish_reason: textFrom(body['stop_reason']),
    usage,
    service_tier: usage?.['speed'] === 'fast' ? 'fast' : usage?.['service_tier'],
    error: errorIn(body),
    done: true,
  }
}

function callFrom(block: JsonObject) {
  const given = argumentsText(block['input'])
  return { id: textFrom(block['id']), name: textFrom(block['name']), arguments: given }
}

/** A block of a stream; `json` is the text of its input so far. */
type Block = { block: Growing; json: string; is_finished: boolean }

/** A stream that begins again, after a retry inside the provider, replaces what came before. */
function openStream(): StreamReader {
  let message: JsonObject | undefined
  let error: unknown
  let done = false
  const blocks = new Map<number, Block>()
  const events: Readonly<Record<string, (data: JsonObject, index: number) => void>> = {
    message_start: (data) => {
      message = { ...objectFrom(data['message']) }
      blocks.clear()
    },
    content_block_start: (data, index) => {
      const block = { ...objectFrom(data['content_block']) }
      blocks.set(index, { block, json: '', is_finished: false })
    },
    content_block_delta: (data, index) => addDelta(blocks.get(index), objectFrom(data['delta'])),
    content_block_stop: (_data, index) => finish(blocks.get(index)),
    message_delta: (data) => {
      message = changed(message, data)
    },
    message_stop: () => {
      done = true
    },
    error: (data) => {
      error = data
    },
  }
  return {
    add: (event, data) => {
      const type = textFrom(data['type']) || event
      if (Object.hasOwn(events, type)) events[type]?.(data, Number(data['index'] ?? 0))
    },
    answer: () => {
      const content = inOrder(blocks)
        .filter((one) => one.is_finished || !isCall(one))
        .map(blockOf)
      const read = readMessage(message && { ...message, content })
      return { ...read, error: error ?? read.error, done }
    },
  }
}

function addDelta(into: Block | undefined, delta: JsonObject | undefined): void {
  if (into === undefined || delta === undefined) return
  for (const key of ['text', 'thinking'] as const) {
    if (typeof delta[key] === 'string') appendText(into.block, key, delta[key])
  }
  into.json += textFrom(delta['partial_json'])
}

/** The client cannot run a call whose arguments were cut. */
function isCall({ block }: Block): boolean {
  return textFrom(block['type']).endsWith('tool_use')
}

function finish(block: Block | undefined): void {
  if (block !== undefined) block.is_finished = true
}

function blockOf({ block, json }: Block): JsonObject {
  return json === '' ? block : { ...block, input: json }
}

/** `message_delta` has the last stop reason, and usage whose fields replace those before. */
function changed(message: JsonObject | undefined, data: JsonObject): JsonObject {
  const usage = { ...objectFrom(message?.['usage']), ...objectFrom(data['usage']) }
  return { ...message, ...objectFrom(data['delta']), usage }
}
