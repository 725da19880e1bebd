import { itemsOf, objectFrom, textFrom } from '../../../../kernel/json-values.ts'
import { scrubbed } from '../mapping/scrub.ts'

/** What a provider said went wrong, without keys, cut to a bound. */
export type ProviderError = { error_type: string; error_message: string }

const type_chars_max = 128
const message_chars_max = 2_048

/**
 * Reads an error body or event: OpenAI's `{error: {message, type, code}}`, Gemini's (the same in
 * an array, with `status`), Anthropic's `{type: 'error', error: {type, message}}`, and the looser
 * shapes of servers that imitate them (`{error: 'text'}`, `{message, type}`, `{detail}`, text).
 */
export function providerErrorFrom(body: unknown): ProviderError {
  if (typeof body === 'string') return shaped('', body)
  const holder = objectFrom(body) ?? objectFrom(itemsOf(body)[0])
  if (holder === undefined) return { error_type: '', error_message: '' }
  const error = holder['error']
  if (typeof error === 'string') return shaped('', error)
  const told = objectFrom(error) ?? holder
  const code = textFrom(told['code'])
  return shaped(
    code || firstText(told['type'], told['status'], told['code']),
    firstText(told['message'], told['detail']),
  )
}

function firstText(...values: readonly unknown[]): string {
  for (const value of values) {
    if (typeof value === 'number') return String(value)
    const text = textFrom(value)
    if (text !== '') return text
  }
  return ''
}

function shaped(type: string, message: string): ProviderError {
  return {
    error_type: scrubbed(type.slice(0, type_chars_max)),
    error_message: scrubbed(message.slice(0, 2 * message_chars_max)).slice(0, message_chars_max),
  }
}
