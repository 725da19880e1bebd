import { itemsOf, type JsonObject, objectFrom, textFrom } from '../../../../kernel/json-values.ts'
import {
  type AnswerParts,
  type AskedContent,
  argumentsText,
  type FormatAnswer,
  type Growing,
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
  const error = body['error'] ?? undefined
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
    error: error === undefined ? undefined : body,
    done: true,
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
  if (type === 'message') addContent(parts, itemsOf(item['content']))
  else if (type === 'reasoning') {
    for (const one of [...itemsOf(item['summary']), ...itemsOf(item['content'])]) {
      parts.reasoning += textFrom(objectFrom(one)?.['text'])
    }
  } else if (type === 'mcp_approval_request') {
    const given = argumentsText(item['arguments'])
    parts.approvals.push({
      ...{ id: textFrom(item['id']), type, name: textFrom(item['name']), arguments: given },
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

/** Takes the last whole response; without one, the items as far as they came. */
function openStream(): StreamReader {
  let response: JsonObject | undefined
  let error: unknown
  let done = false
  const items = new Map<number, Growing>()
  const finished = new Set<number>()
  const add: StreamReader['add'] = (event, data) => {
    const type = textFrom(data['type']) || event
    response = objectFrom(data['response']) ?? response
    if (lastEvents.has(type)) done = true
    if (type === 'error') error = data
    const at = Number(data['output_index'] ?? 0)
    const item = objectFrom(data['item'])
    if (type.startsWith('response.output_item.') && item !== undefined) items.set(at, { ...item })
    if (type === 'response.output_item.done') finished.add(at)
    if (!type.endsWith('.delta')) return
    const known = items.get(at) ?? { type: 'message', content: [] }
    items.set(at, known)
    addDelta(known, type, data)
  }
  return {
    add,
    answer: () => {
      const own = itemsOf(response?.['output'])
      // The client cannot run a call whose arguments were cut.
      const whole = [...items].filter(([at, { type }]) => type === 'message' || finished.has(at))
      const output = own.length > 0 ? own : inOrder(whole)
      const read = readResponse(response && { ...response, output })
      const finish_reason = done ? read.finish_reason : ''
      return { ...read, finish_reason, error: error ?? read.error, done }
    },
  }
}

function inOrder(items: readonly (readonly [number, JsonObject])[]): JsonObject[] {
  return items.toSorted(([a], [b]) => a - b).map(([, item]) => item)
}

/** Deltas add to the item that `output_item.done` later replaces. */
function addDelta(item: Growing, type: string, { delta }: JsonObject): void {
  const text = textFrom(delta)
  if (type === 'response.output_text.delta' || type === 'response.refusal.delta') {
    const key = type === 'response.refusal.delta' ? 'refusal' : 'text'
    const content = itemsOf(item['content'])
    const last = objectFrom(content.at(-1))
    if (last?.[key] === undefined) item['content'] = [...content, { [key]: text }]
    else item['content'] = [...content.slice(0, -1), { ...last, [key]: `${last[key]}${text}` }]
  } else if (type === 'response.function_call_arguments.delta') {
    item['arguments'] = `${textFrom(item['arguments'])}${text}`
  } else if (type === 'response.custom_tool_call_input.delta') {
    item['input'] = `${textFrom(item['input'])}${text}`
  }
}
