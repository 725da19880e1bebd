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

/** Gemini's Interactions: https://ai.google.dev/gemini-api/docs/interactions */
export const interactions: WireFormat = {
  readRequest,
  readWhole: (body) => readInteraction(objectFrom(body)),
  openStream,
}

function readRequest(body: JsonObject): AskedContent {
  const { input } = body
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : inputItems(input)
  const isResult = (item: JsonObject) => textFrom(item['type']).endsWith('_result')
  const all = objectsIn(items)
  const results = all.slice(all.findLastIndex((item) => !isResult(item)) + 1)
  return {
    model: textFrom(body['model']) || textFrom(body['agent']),
    input: withSystem(body['system_instruction'], items),
    tool_results: results.map((item) =>
      toolResult(textFrom(item['call_id']) || item['name'], item['result']),
    ),
  }
}

function inputItems(input: unknown): readonly unknown[] {
  return Array.isArray(input) ? input : input === undefined || input === null ? [] : [input]
}

function readInteraction(body: JsonObject | undefined): FormatAnswer {
  if (body === undefined) return noFormatAnswer
  const steps = [...itemsOf(body['steps']), ...itemsOf(body['outputs'])]
  const status = textFrom(body['status'])
  const parts = noParts()
  for (const step of objectsIn(steps)) addStep(parts, step)
  const isDone = status === 'completed' || status === 'requires_action'
  return {
    model: textFrom(body['model']) || textFrom(body['agent']),
    id: textFrom(body['id']),
    message: status === '' ? undefined : messageFrom(parts),
    finish_reason: isDone && parts.calls.length > 0 ? 'tool_calls' : status,
    usage: objectFrom(body['usage']),
    service_tier: body['service_tier'],
    error: status === 'failed' ? body : errorIn(body),
    done: true,
    ...createdIn(body),
  }
}

function createdIn(body: JsonObject): Pick<FormatAnswer, 'created_ms'> {
  const created_ms = Date.parse(textFrom(body['created']))
  return Number.isNaN(created_ms) ? {} : { created_ms }
}

function addStep(parts: AnswerParts, step: JsonObject): void {
  const type = textFrom(step['type'])
  if (type === 'model_output' || type === 'text') {
    parts.text += textFrom(step['text'])
    for (const part of itemsOf(step['content'])) parts.text += textFrom(objectFrom(part)?.['text'])
  } else if (type === 'thought') {
    for (const part of [...itemsOf(step['summary']), step]) {
      parts.reasoning += textFrom(objectFrom(part)?.['text'])
    }
  } else if (type === 'function_call') {
    const given = argumentsText(step['arguments'])
    parts.calls.push({ id: textFrom(step['id']), name: textFrom(step['name']), arguments: given })
  } else if (type.endsWith('_call')) {
    const name = textFrom(step['name']) || type.replace(/_call$/, '')
    parts.server_tools.push({ id: textFrom(step['id']), type, name })
  }
}

function openStream(): StreamReader {
  let interaction: JsonObject | undefined
  let error: unknown
  let done = false
  const steps = new Map<number, Growing>()
  return {
    add: (event, data) => {
      const type = textFrom(data['event_type']) || event
      const index = Number(data['index'] ?? 0)
      const given = objectFrom(data['interaction'])
      if (given !== undefined) interaction = { ...interaction, ...given }
      if (type === 'interaction.status_update' && interaction !== undefined) {
        interaction = { ...interaction, status: data['status'] }
      }
      if (type === 'interaction.completed') done = true
      if (type === 'error') error = data
      if (type === 'step.start') steps.set(index, { ...objectFrom(data['step']) })
      else if (type === 'step.delta') addDelta(steps, index, objectFrom(data['delta']))
    },
    answer: () => {
      const own = itemsOf(interaction?.['steps'])
      const read = readInteraction(
        interaction && { ...interaction, steps: own.length > 0 ? own : inOrder(steps) },
      )
      const finish_reason = done ? read.finish_reason : ''
      return { ...read, finish_reason, error: error ?? read.error, done }
    },
  }
}

function addDelta(steps: Map<number, Growing>, index: number, delta: JsonObject | undefined): void {
  const step: Growing = steps.get(index) ?? { type: 'model_output' }
  steps.set(index, step)
  const type = textFrom(delta?.['type'])
  if (type === 'text') appendText(step, 'text', delta?.['text'])
  else if (type === 'arguments_delta') appendText(step, 'arguments', delta?.['arguments'])
  else if (type === 'thought_summary') {
    appendText(step, 'text', objectFrom(delta?.['content'])?.['text'])
  }
}
