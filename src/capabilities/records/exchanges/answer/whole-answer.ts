import {
  itemsOf,
  type JsonObject,
  objectFrom,
  parsedJson,
  textFrom,
} from '../../../../kernel/json-values.ts'
import type { Answer, AnswerChoice } from './answer.ts'
import { choices_max } from './assemble-chat.ts'

/** Reads an answer that was not streamed. Undefined when the text is no JSON. */
export function wholeAnswer(text: string): Answer | undefined {
  const parsed = parsedJson(text)
  if (parsed === undefined) return undefined
  const body = objectFrom(parsed)
  const choices = choicesOf(body?.['choices'])
  return {
    model: textFrom(body?.['model']) || textFrom(body?.['modelVersion']),
    choices,
    usage: usageOf(body),
    error: hasError(body, parsed) ? parsed : undefined,
    done: true,
    dropped: 0,
  }
}

function choicesOf(choices: unknown): AnswerChoice[] {
  const read: AnswerChoice[] = []
  for (const item of itemsOf(choices).slice(0, choices_max)) {
    const choice = objectFrom(item)
    if (choice === undefined) continue
    const message = objectFrom(choice['message']) ?? textFrom(choice['text'])
    const finishReason = textFrom(choice['finish_reason'])
    read.push({ index: read.length, finish_reason: finishReason, message })
  }
  return read
}

function usageOf(body: JsonObject | undefined): JsonObject | undefined {
  return (
    objectFrom(body?.['usage']) ??
    objectFrom(body?.['usageMetadata']) ??
    objectFrom(objectFrom(body?.['x_groq'])?.['usage'])
  )
}

/** OpenAI's and Anthropic's errors are objects with `error`; Gemini wraps that in an array. */
function hasError(body: JsonObject | undefined, parsed: unknown): boolean {
  const holder = body ?? objectFrom(itemsOf(parsed)[0])
  const error = holder?.['error']
  return error !== undefined && error !== null
}
