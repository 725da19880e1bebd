import { itemsOf, objectFrom, parsedJson } from '../../../kernel/json-values.ts'
import type { Observation } from '../../../model/observation.ts'
import { readMessages, type ToldMessage } from './read-messages.ts'
import { toldCall } from './tool-parts.ts'

/**
 * What the model answered; undefined when there is no content of it. Of several choices it is the
 * first. A row whose text tells no tool calls may have them in their own column.
 */
export function readAnswer(row: Observation): ToldMessage | undefined {
  if (row.output === '') return undefined
  const value = row.output[0] === '[' || row.output[0] === '{' ? parsedJson(row.output) : undefined
  const told = readMessages(withoutChoices(value ?? row.output), 'assistant')
  const said = told.filter(({ role }) => role === 'assistant')
  const [first] = said
  if (first === undefined) return undefined
  const answer = row.source === 'proxy' ? first : joined(said, first)
  if (answer.calls.length > 0 || row.tool_calls.length === 0) return answer
  const calls = row.tool_calls.map(({ id, name, arguments: args }) => toldCall(id, name, args))
  return { ...answer, calls }
}

/** A whole response of a provider holds its messages as choices, candidates or items. */
function withoutChoices(value: unknown): unknown {
  const object = objectFrom(value)
  if (object === undefined) return value
  const choices = itemsOf(object['choices'] ?? object['generations'] ?? object['candidates'])
  if (choices.length > 0) return [choices[0]]
  return Array.isArray(object['output']) ? object['output'] : value
}

/** Instrumentations tell text and tool calls of one answer as messages one after the other. */
function joined(said: readonly ToldMessage[], first: ToldMessage): ToldMessage {
  if (said.length === 1) return first
  const calls = said.flatMap((message) => message.calls)
  const texts = said.map(({ text }) => text).filter((text) => text !== '')
  const isOneAnswer = calls.length > 0 || texts.length <= 1
  return isOneAnswer ? { ...first, text: texts.join('\n'), calls } : first
}
