import { itemsOf, type JsonObject, objectFrom, textFrom } from '../../../../kernel/json-values.ts'
import type { Growing } from '../answer/merge-delta.ts'
import {
  type AnswerParts,
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

/** OpenAI's Responses: https://platform.openai.com/docs/api-reference/responses */
export const responses: WireFormat = {
  readRequest,
  readWhole: (body) => readResponse(objectFrom(body)),
  openStream,
}

function readRequest(body: JsonObject): AskedContent {
  const { input } = body
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : itemsOf(input)
  const tool_results = []
  for (const item of items.toReversed().map(objectFrom)) {
    if (!textFrom(item?.['type']).endsWith('_output')) break
    tool_results.push(toolResult(item?.['call_id'], item?.['output']))
  }
  return {
    model: textFrom(body['model']),
    input: withSystem(body['instructions'], items),
    tool_results: tool_results.reverse(),
  }
}

function readResponse(body: JsonObject | undefined): FormatAnswer {
  if (body === undefined) return noFormatAnswer
  const status = textFrom(body['status'])
  const isAnswer = Array.isArray(body['output']) || textFrom(body['object']) === 'response'
  const parts = partsOf(itemsOf(body['output']))
  return {
    model: textFrom(body['model']),
    id: textFrom(body['id']),
    message: isAnswer ? messageFrom(parts) : undefined,
    finish_reason: finishOf(body, status, parts),
    usage: objectFrom(body['usage']),
    service_tier: body['service_tier'],
    error: errorIn(body),
    done: true,
    ...(typeof body['created_at'] === 'number' && { created_ms: body['created_at'] * 1_000 }),
  }
}

function finishOf(body: JsonObject, status: string, { calls }: AnswerParts): string {
  if (status === 'completed' && calls.length > 0) return 'tool_calls'
  const reason = textFrom(objectFrom(body['incomplete_details'])?.['reason'])
  return status === 'incomplete' && reason !== '' ? reason : status
}

function partsOf(items: readonly unknown[]): AnswerParts {
  const parts = noParts()
  const objects = objectsIn(items)
  const answered = new Set(
    objects.flatMap((item) =>
      textFrom(item['type']).endsWith('_call_output') ? [textFrom(item['call_id'])] : [],
    ),
  )
  for (const item of objects) addItem(parts, item, answered)
  return parts
}

function addItem(parts: AnswerParts, item: JsonObject, answered: ReadonlySet<string>): void {
  const type = textFrom(item['type'])
  // A compacted history repeats what the user said.
  if (item['role'] === 'user') return
  if (type === 'message') addContent(parts, [...itemsOf(item['content']), item])
  else if (type === 'reasoning') {
    for (const one of [...itemsOf(item['summary']), ...itemsOf(item['content'])]) {
      parts.reasoning += textFrom(objectFrom(one)?.['text'])
    }
  } else if (type === 'mcp_approval_request') {
    const given = argumentsText(item['arguments'])
    parts.approvals.push({
      id: textFrom(item['id']),
      type,
      name: textFrom(item['name']),
      arguments: given,
    })
  } else if (isForClient(item, type, answered)) parts.calls.push(callFrom(item, type))
  else if (type.endsWith('_call') || type === 'mcp_list_tools' || type === 'program') {
    const name = textFrom(item['name']) || type.replace(/_call$/, '')
    parts.server_tools.push({ id: textFrom(item['id']), type, name })
  }
}

function addContent(parts: AnswerParts, content: readonly unknown[]): void {
  for (const part of content.map(objectFrom)) {
    parts.text += textFrom(part?.['text'])
    parts.refusal += textFrom(part?.['refusal'])
  }
}

/** Tools that the client runs. Those below run in a container of the provider if it gave their output. */
const clientCalls: ReadonlySet<string> = new Set(['function_call', 'custom_tool_call'])
const sharedCalls: ReadonlySet<string> = new Set([
  'shell_call',
  'local_shell_call',
  'apply_patch_call',
  'computer_call',
])

function isForClient(item: JsonObject, type: string, answered: ReadonlySet<string>): boolean {
  if (clientCalls.has(type)) return true
  if (type === 'tool_search_call') return item['execution'] === 'client'
  if (!sharedCalls.has(type)) return false
  return !answered.has(textFrom(item['call_id']))
}

function callFrom(item: JsonObject, type: string) {
  const given = item['arguments'] ?? item['input'] ?? item['action'] ?? item['operation']
  return {
    id: textFrom(item['call_id']) || textFrom(item['id']),
    name: textFrom(item['name']) || type.replace(/_call$/, ''),
    arguments: argumentsText(given),
  }
}

const lastEvents: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.cancelled',
])

/** Fields of an item to which deltas add, until `output_item.done` replaces the item. */
const deltaFields: ReadonlyMap<string, string> = new Map([
  ['response.output_text.delta', 'text'],
  ['response.refusal.delta', 'refusal'],
  ['response.function_call_arguments.delta', 'arguments'],
  ['response.custom_tool_call_input.delta', 'input'],
])

/** Takes the last whole response; without one, the items as far as they came. */
function openStream(): StreamReader {
  let response: JsonObject | undefined
  let error: unknown
  let done = false
  const items: Items = { byIndex: new Map(), finished: new Set() }
  return {
    add: (event, data) => {
      const type = textFrom(data['type']) || event
      response = objectFrom(data['response']) ?? response
      if (lastEvents.has(type)) done = true
      if (type === 'error') error = data
      takeItem(items, type, data)
    },
    answer: () => {
      const own = itemsOf(response?.['output'])
      const output = own.length > 0 ? own : usableItems(items)
      const read = readResponse(response && { ...response, output })
      const finish_reason = done ? read.finish_reason : ''
      return { ...read, finish_reason, error: error ?? read.error, done }
    },
  }
}

/** The items of a stream as far as they came, by their index. */
type Items = { byIndex: Map<number, Growing>; finished: Set<Growing> }

function takeItem({ byIndex, finished }: Items, type: string, data: JsonObject): void {
  const at = Number(data['output_index'] ?? 0)
  const given = objectFrom(data['item'])
  const field = deltaFields.get(type)
  if (type.startsWith('response.output_item.') && given !== undefined) {
    const item = { ...given }
    byIndex.set(at, item)
    if (type === 'response.output_item.done') finished.add(item)
  } else if (field !== undefined) {
    const item = byIndex.get(at) ?? { type: 'message' }
    byIndex.set(at, item)
    appendText(item, field, data['delta'])
  }
}

/** Leaves out a call whose arguments were cut: the client cannot run it. */
function usableItems({ byIndex, finished }: Items): Growing[] {
  return inOrder(byIndex).filter((item) => item['type'] === 'message' || finished.has(item))
}
