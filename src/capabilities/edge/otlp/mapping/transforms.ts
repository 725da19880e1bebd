import { jsonText } from '../../../../kernel/json-values.ts'
import { isStorableInstant } from '../../../../kernel/time.ts'
import type { OtlpValue } from '../contract.ts'
import type { TransformName } from './contracts/contract-shape.ts'
import { argumentsWrappedIn, idWrappedIn, resultWrappedIn } from './tool-wrappers.ts'
import { jsonIn, stringOf } from './value-text.ts'

export type TransformContext = { json_bytes_max: number }

/** A named step from a value to another; undefined when the value is not usable so. */
export type Transform = (
  value: OtlpValue,
  start_time: bigint,
  context: TransformContext,
) => OtlpValue | undefined

/** The transforms that work on one value; lists of messages are read where they are gathered. */
export const transforms: Readonly<Record<TransformName, Transform>> = {
  seconds_to_ms: (value) => {
    const seconds = typeof value === 'number' ? value : Number.parseFloat(stringOf(value))
    return Math.round(seconds * 1e6) / 1e3
  },
  ms_since_start: (value, start_time) => {
    const at = typeof value === 'bigint' ? value : instantFrom(stringOf(value))
    if (at === undefined || at < start_time || !isStorableInstant(at)) return undefined
    return Number(at - start_time) / 1e6
  },
  first_of_list: (value, _start, { json_bytes_max }) => {
    if (Array.isArray(value)) return value[0]
    const text = stringOf(value)
    if (text[0] !== '[') return text
    const list = jsonIn(text, json_bytes_max)
    return Array.isArray(list) && typeof list[0] === 'string' ? list[0] : undefined
  },
  json_string: (value, _start, { json_bytes_max }) => {
    const text = stringOf(value)
    if (text[0] !== '"') return text
    const inner = jsonIn(text, json_bytes_max)
    return typeof inner === 'string' ? inner : undefined
  },
  sum_of_values: (value, _start, { json_bytes_max }) => {
    const json = jsonIn(value, json_bytes_max)
    if (typeof json !== 'object' || json === null) return undefined
    const numbers = Object.values(json).filter((item) => typeof item === 'number')
    return numbers.length === 0 ? undefined : numbers.reduce((sum, item) => sum + item, 0)
  },
  system_then_messages: (value) => value,
  messages: (value) => value,
  tool_calls: (value) => value,
  tool_results: (value) => value,
  call_arguments: (value, _start, about) => contentText(argumentsWrappedIn(wrapper(value, about))),
  call_result: (value, _start, about) => contentText(resultWrappedIn(wrapper(value, about))),
  call_id: (value, _start, about) => contentText(idWrappedIn(wrapper(value, about))),
}

/** The JSON of a text that may wrap a call or a result: each has a key or a type that begins so. */
function wrapper(value: OtlpValue, { json_bytes_max }: TransformContext): unknown {
  const isText = typeof value === 'string' || Buffer.isBuffer(value)
  return isText && !value.includes('"tool_call') ? undefined : jsonIn(value, json_bytes_max)
}

function contentText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? value : jsonText(value)
}

/** ISO 8601, also where it came as a JSON text, in nanoseconds since 1970. */
function instantFrom(text: string): bigint | undefined {
  const at_ms = Date.parse(text.replaceAll('"', ''))
  return Number.isNaN(at_ms) ? undefined : BigInt(at_ms) * 1_000_000n
}
