import { itemsOf, objectFrom, parsedJson } from '../../../../kernel/json-values.ts'
import type { Observation } from '../../../../model/observation.ts'
import { type HistoryMessage, readMessages } from './read-messages.ts'
import { addCall, type HistoryCall, toHistoryCall } from './tool-parts.ts'

/**
 * Reads the model's answer; undefined without content. Takes the first of several choices. Tool
 * calls missing from the text are read from their own column.
 */
export function readAnswer(row: Observation): HistoryMessage | undefined {
  if (row.output === '') return undefined
  const value = row.output[0] === '[' || row.output[0] === '{' ? parsedJson(row.output) : undefined
  const reported = readMessages(unwrapChoices(value ?? row.output), 'assistant')
  const said = reported.filter(({ role }) => role === 'assistant')
  const [first] = said
  if (first === undefined) return undefined
  const answer = row.source === 'proxy' ? first : joinMessages(said, first)
  if (answer.calls.length > 0 || row.tool_calls.length === 0) return answer
  const calls = row.tool_calls.map(({ id, name, arguments: args }) => toHistoryCall(id, name, args))
  return { ...answer, calls }
}

/**
 * Unwraps a provider's whole response, which lists its messages as choices, candidates or items.
 */
function unwrapChoices(value: unknown): unknown {
  const object = objectFrom(value)
  if (object === undefined) return value
  const choices = itemsOf(object['choices'] ?? object['generations'] ?? object['candidates'])
  if (choices.length > 0) return [choices[0]]
  return Array.isArray(object['output']) ? object['output'] : value
}

/** Joins the messages of one answer: instrumentations report its text and tool calls separately. */
function joinMessages(said: readonly HistoryMessage[], first: HistoryMessage): HistoryMessage {
  if (said.length === 1) return first
  const calls: HistoryCall[] = []
  for (const message of said) for (const call of message.calls) addCall(calls, call)
  const texts = said.map(({ text }) => text).filter((text) => text !== '')
  const isOneAnswer = calls.length > 0 || texts.length <= 1
  return isOneAnswer ? { ...first, text: texts.join('\n'), calls } : first
}
