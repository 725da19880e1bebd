import { type JsonObject, objectFrom } from '../../../../kernel/json-values.ts'
import type { AnswerChoice } from './answer.ts'
import { type Growing, growingAt, mergeDelta } from './merge-delta.ts'
import {
  mergeFunction,
  mergeToolCalls,
  noToolCalls,
  type ToolCalls,
  toolCallsInOrder,
} from './merge-tool-calls.ts'

/** Puts the choices of a stream together, one chunk's choice at a time. */
export type ChoiceAssembly = {
  add(index: number, choice: JsonObject): void
  choices(): AnswerChoice[]
  /** Pieces passed over because of a bound. */
  dropped(): number
}

/** OpenAI's own bound of `n`. */
export const choices_max = 128

type ChatChoice = { message: Growing; toolCalls: ToolCalls; finish_reason: string }

/** Assembles `chat.completion.chunk` choices: deltas become messages. */
export function assembleChat(): ChoiceAssembly {
  const byIndex = new Map<number, ChatChoice>()
  let dropped = 0
  return {
    add(index, choice) {
      let known = byIndex.get(index)
      if (known === undefined) {
        if (byIndex.size >= choices_max) {
          dropped++
          return
        }
        known = { message: { role: 'assistant' }, toolCalls: noToolCalls(), finish_reason: '' }
        byIndex.set(index, known)
      }
      addChoice(known, choice)
    },
    choices: () =>
      [...byIndex]
        .toSorted(([a], [b]) => a - b)
        .map(([index, choice]) => ({
          index,
          finish_reason: choice.finish_reason,
          message: wholeMessage(choice),
        })),
    dropped: () => {
      let sum = dropped
      for (const { toolCalls } of byIndex.values()) sum += toolCalls.dropped
      return sum
    },
  }
}

function addChoice(known: ChatChoice, choice: JsonObject): void {
  const { delta, message, finish_reason } = choice
  if (typeof finish_reason === 'string') known.finish_reason = finish_reason
  const piece = objectFrom(delta)
  const whole = objectFrom(message)
  if (piece !== undefined) addDelta(known, piece)
  else if (whole !== undefined) known.message = { ...whole }
}

function addDelta(known: ChatChoice, delta: JsonObject): void {
  if (delta['tool_calls'] === undefined && delta['function_call'] === undefined) {
    mergeDelta(known.message, delta)
    return
  }
  const { tool_calls, function_call, ...rest } = delta
  mergeDelta(known.message, rest)
  if (tool_calls !== undefined) mergeToolCalls(known.toolCalls, tool_calls)
  const oldCall = objectFrom(function_call)
  if (oldCall !== undefined) mergeFunction(growingAt(known.message, 'function_call'), oldCall)
}

function wholeMessage(choice: ChatChoice): JsonObject {
  if (choice.toolCalls.calls.length === 0) return choice.message
  return { ...choice.message, tool_calls: toolCallsInOrder(choice.toolCalls) }
}
