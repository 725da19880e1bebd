import { BoundedCache } from '../../../../kernel/bounded-cache.ts'
import { type JsonObject, jsonText, objectFrom } from '../../../../kernel/json-values.ts'
import { isStorableInstant } from '../../../../kernel/time.ts'
import type { OtlpValue } from '../contract.ts'
import type { TransformName, ValueTable } from './contracts/contract-shape.ts'
import { argumentsOf, contentOf, isCall, isResultPart } from './tool-traffic.ts'
import { jsonIn, stringOf } from './value-text.ts'

export type TransformContext = { json_bytes_max: number }

/** A named conversion of a value; undefined when the value is unusable. */
type Transform = (
  value: OtlpValue,
  start_time: bigint,
  context: TransformContext,
) => OtlpValue | undefined

/** The transforms of one value. Lists of messages are read where they are gathered. */
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
  call_arguments: (value, _start, limits) =>
    contentText(argumentsWrappedIn(wrapper(value, limits))),
  call_result: (value, _start, limits) => contentText(resultWrappedIn(wrapper(value, limits))),
  call_id: (value, _start, limits) => contentText(idWrappedIn(wrapper(value, limits))),
}

/**
 * Parses the JSON of a text that may wrap a call or a result, by a key or type that starts like
 * this.
 */
function wrapper(value: OtlpValue, { json_bytes_max }: TransformContext): unknown {
  const isText = typeof value === 'string' || Buffer.isBuffer(value)
  return isText && !value.includes('"tool_call') ? undefined : jsonIn(value, json_bytes_max)
}

function contentText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? value : jsonText(value)
}

/** Parses ISO 8601, also as a JSON text, to nanoseconds since 1970. */
function instantFrom(text: string): bigint | undefined {
  const at_ms = Date.parse(text.replaceAll('"', ''))
  return Number.isNaN(at_ms) ? undefined : BigInt(at_ms) * 1_000_000n
}

/**
 * Returns the arguments of the one call in the input of a tool's span: one message with one part,
 * or the object that LangChain passes to a callback when a tool starts. Returns undefined for
 * anything else, such as a history.
 */
function argumentsWrappedIn(json: unknown): unknown {
  const part = onlyPart(json)
  if (part !== undefined) return isCall(part, part) ? argumentsOf(part, part) : undefined
  const started = objectFrom(json)
  return started !== undefined && 'input_str' in started ? objectFrom(started['inputs']) : undefined
}

/**
 * Returns the one result in the output of a tool's span: one message with one part, or a
 * ToolMessage.
 */
function resultWrappedIn(json: unknown): unknown {
  const part = onlyPart(json)
  if (part !== undefined) return isResultPart(part) ? contentOf(part) : undefined
  return toolMessageIn(json)?.['content']
}

/** Returns the id of the call that a ToolMessage answers. */
function idWrappedIn(json: unknown): unknown {
  return toolMessageIn(json)?.['tool_call_id']
}

function onlyPart(json: unknown): JsonObject | undefined {
  const message = onlyItem(json)
  return message && onlyItem(message['parts'])
}

function onlyItem(list: unknown): JsonObject | undefined {
  return Array.isArray(list) && list.length === 1 ? objectFrom(list[0]) : undefined
}

/** Keys in which instrumentations of LangChain wrap a ToolMessage, from the outside in. */
const wrappers = ['output', 'data', 'kwargs'] as const

function toolMessageIn(json: unknown): JsonObject | undefined {
  let found = objectFrom(json)
  for (const wrapper of wrappers) {
    if (found === undefined || isToolMessage(found)) return found
    found = objectFrom(found[wrapper]) ?? found
  }
  return found !== undefined && isToolMessage(found) ? found : undefined
}

function isToolMessage(object: JsonObject): boolean {
  const { type, content, tool_call_id } = object
  return type === 'tool' && content !== undefined && typeof tool_call_id === 'string'
}

/** Returns the meaning of a text; '' when the table does not have it. */
export type TableLookup = (text: string) => string

/** Maximum texts whose meaning is remembered. */
const remembered_max = 1_000

/** Compiles a value table. Lookups are remembered, because the same few words recur. */
export function compileTable(table: ValueTable): TableLookup {
  const exact = new Map<string, string>()
  const patterns: { pattern: RegExp; value: string }[] = []
  for (const [key, value] of Object.entries(table.values)) {
    if (key.includes('*')) patterns.push({ pattern: globPattern(key), value })
    else exact.set(key.toLowerCase(), value)
  }
  const known = (text: string) =>
    exact.get(text) ?? patterns.find(({ pattern }) => pattern.test(text))?.value
  const remembered = new BoundedCache<string, string>(remembered_max)
  return (text) => {
    const before = remembered.get(text)
    if (before !== undefined) return before
    const found = known(text.toLowerCase()) ?? elseOf(table, text, known)
    remembered.set(text, found)
    return found
  }
}

function elseOf(
  table: ValueTable,
  text: string,
  known: (text: string) => string | undefined,
): string {
  if (table.else === undefined) return ''
  const lower = text.toLowerCase()
  if (table.else === 'as_is') return text
  const dot = lower.indexOf('.')
  const first = dot <= 0 ? lower : lower.slice(0, dot)
  return known(first) ?? first
}

/** Compiles a pattern in which `*` matches any text, without risk of catastrophic backtracking. */
export function globPattern(glob: string): RegExp {
  const parts = glob.toLowerCase().split('*')
  const escaped = parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${escaped.join('.*')}$`, 's')
}
