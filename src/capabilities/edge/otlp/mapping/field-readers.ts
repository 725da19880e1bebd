import { dollarText, tokens_max } from '../../../records/usage/index.ts'
import type { OtlpValue } from '../contract.ts'
import type { FieldRule, MappingContract, Source } from './contracts/contract-shape.ts'
import { type Gathered, messagesOf } from './gathered-messages.ts'
import type { FieldValue, SpanState } from './span-state.ts'
import { toolCallsIn, toolResultsIn } from './tool-traffic.ts'
import { type TableLookup, type TransformContext, transforms } from './transforms.ts'
import { columnText, decoded, isMap, jsonIn, plainOf, stringOf, textOf } from './value-text.ts'

/** Reads the value of a source; undefined when it is unusable. */
export type Reader = (value: OtlpValue, state: SpanState) => FieldValue | undefined

/** Reads the value of a source from gathered attributes; undefined when it is unusable. */
export type GatherReader = (gathered: Gathered, state: SpanState) => FieldValue | undefined

export type ReaderContext = {
  contract: MappingContract
  tables: ReadonlyMap<string, TableLookup>
}

/** Compiles the reader of one source of a field. */
export function compileReader(source: Source, rule: FieldRule, context: ReaderContext): Reader {
  const { limits } = context.contract
  const prepare = compileSteps(source, context)
  const table = source.table === undefined ? undefined : context.tables.get(source.table)
  const chars_max = rule.chars_max ?? limits.text_chars_max
  const read = kindReader(rule, chars_max, { ...context, needles: needlesOf(source) })
  const judge = compileConditions(source, table, read)
  if (judge === undefined && prepare === undefined) return read
  const finish = judge ?? read
  return (value, state) => {
    const prepared = prepare ? prepare(value, state) : value
    return prepared === undefined || isEmpty(prepared) ? undefined : finish(prepared)
  }
}

type Finish = (value: OtlpValue) => FieldValue | undefined

/** Compiles the conditions and the table of a source; undefined when it has neither. */
function compileConditions(source: Source, table: TableLookup | undefined, read: Finish) {
  const { gives } = source
  if (!source.only && !source.except && !table) {
    return gives === undefined ? undefined : () => gives
  }
  const only = source.only && new Set(source.only)
  const except = new Set(source.except)
  const meaning = (text: string, value: OtlpValue) => {
    if (gives !== undefined) return gives
    if (!table) return read(value)
    const found = table(text)
    return found === '' ? undefined : read(found)
  }
  return (value: OtlpValue) => {
    const text = stringOf(value)
    const isFit = (only?.has(text) ?? true) && !except.has(text)
    return isFit ? meaning(text, value) : undefined
  }
}

type Preparation = (value: OtlpValue, state: SpanState) => OtlpValue | undefined

/** Compiles the steps before a value is read as its type. */
function compileSteps(source: Source, context: ReaderContext): Preparation | undefined {
  const { json_bytes_max } = context.contract.limits
  const limits: TransformContext = { json_bytes_max }
  const transform = source.transform && transforms[source.transform]
  const { path } = source
  if (path === undefined) {
    return transform && ((value, state) => transform(value, state.start_time, limits))
  }
  return (value, state) => {
    const found = valueAt(parsedIn(value, state, json_bytes_max), path)
    return found !== undefined && transform ? transform(found, state.start_time, limits) : found
  }
}

/** Parses the JSON of a value once for all fields that read it. */
function parsedIn(value: OtlpValue, state: SpanState, bytes_max: number): unknown {
  if (state.parsed?.value !== value) state.parsed = { value, json: jsonIn(value, bytes_max) }
  return state.parsed.json
}

function valueAt(json: unknown, path: readonly string[]) {
  let at = json
  for (const step of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined
    at = (at as Record<string, unknown>)[step]
  }
  if (typeof at === 'boolean') return at
  return typeof at === 'number' || typeof at === 'string' ? at : undefined
}

function isEmpty(value: OtlpValue): boolean {
  if (value === null) return true
  if (typeof value === 'string') return value.length === 0
  if (typeof value !== 'object' || Buffer.isBuffer(value)) return false
  if (isMap(value)) return value.map.keys.length === 0
  return 'bytes' in value ? value.bytes.length === 0 : value.length === 0
}

function kindReader(
  { reads }: FieldRule,
  chars_max: number,
  { contract, needles }: ReaderContext & { needles: readonly string[] },
): (value: OtlpValue) => FieldValue | undefined {
  const { limits } = contract
  switch (reads) {
    case 'text':
      return (value) => textField(value, chars_max)
    case 'content':
      return (value) => (isEmpty(value) ? undefined : textOf(value))
    case 'count':
      return countFrom
    case 'dollars':
      return dollarsOf
    case 'milliseconds':
      return millisecondsFrom
    case 'tool_calls':
      return (value) => {
        if (!mayHoldTools(value, needles)) return undefined
        const calls = toolCallsIn(jsonIn(value, limits.json_bytes_max), limits)
        return calls.length === 0 ? undefined : calls
      }
    case 'tool_results':
      return (value) => {
        if (!mayHoldTools(value, needles)) return undefined
        const results = toolResultsIn(jsonIn(value, limits.json_bytes_max), limits)
        return results.length === 0 ? undefined : results
      }
  }
}

/**
 * Avoids parsing texts without calls or results, which have a key or a type that starts like this.
 * The needles start with a quote, which is rare in content: a search for `tool` stops at every t
 * and takes eight times longer.
 */
function mayHoldTools(value: OtlpValue, needles: readonly string[]): boolean {
  if (typeof value !== 'string' && !Buffer.isBuffer(value)) return true
  return needles.some((needle) => value.includes(needle))
}

/**
 * Only these sources contain complete items of OpenAI's APIs; elsewhere the second search would
 * find nothing.
 */
function needlesOf({ from }: Source): readonly string[] {
  return from === 'attributes' ? ['"tool', '"function_call'] : ['"tool']
}

function textField(value: OtlpValue, chars_max: number): string | undefined {
  if (isEmpty(value)) return undefined
  const text = columnText(stringOf(value), chars_max)
  return text === '' ? undefined : text
}

function numberFrom(value: OtlpValue): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || value.trim() === '' || value.length > 40) return undefined
  return Number(value)
}

function countFrom(value: OtlpValue): number | undefined {
  const count = numberFrom(value)
  if (count === undefined || !Number.isInteger(count)) return undefined
  return count < 0 || count > tokens_max ? undefined : count
}

function millisecondsFrom(value: OtlpValue): number | undefined {
  const duration = numberFrom(value)
  return duration !== undefined && Number.isFinite(duration) && duration >= 0 ? duration : undefined
}

function dollarsOf(value: OtlpValue): string | undefined {
  return dollarText(numberFrom(value))
}

/** Compiles the reader of one source of gathered attributes. */
export function compileGatherReader(
  source: Source,
  rule: FieldRule,
  context: ReaderContext,
): GatherReader {
  if (source.transform === 'system_then_messages') return systemThenMessages
  if (source.from === 'attributes') {
    const read = compileReader(source, rule, context)
    return ({ values }, state) => read(values[0] ?? null, state)
  }
  const { limits } = context.contract
  if (rule.reads === 'tool_calls') {
    return (gathered) => unlessEmpty(toolCallsIn(messagesOf(gathered), limits))
  }
  if (rule.reads === 'tool_results') {
    return (gathered) => unlessEmpty(toolResultsIn(messagesOf(gathered), limits))
  }
  return (gathered) => {
    const list = messagesOf(gathered)
    return list.length === 0 ? undefined : JSON.stringify(list)
  }
}

function unlessEmpty<Item>(list: readonly Item[]): readonly Item[] | undefined {
  return list.length === 0 ? undefined : list
}

const system = 'gen_ai.system_instructions'
const asked = 'gen_ai.input.messages'

/**
 * Joins system instructions, as a first message, with the messages. Both are JSON texts, so their
 * bytes are joined. Of several events the first counts.
 */
function systemThenMessages(gathered: Gathered): Uint8Array | string | undefined {
  let instructions: string | Uint8Array = ''
  let messages: string | Uint8Array = ''
  for (let at = 0; at < gathered.length; at++) {
    const key = keyAt(gathered, at)
    if (key === system && instructions.length === 0) instructions = textOf(gathered.values[at])
    if (key === asked && messages.length === 0) messages = textOf(gathered.values[at])
  }
  if (instructions.length === 0) {
    if (messages.length === 0) return undefined
    return messages
  }
  const parts = isJsonList(instructions)
    ? instructions
    : JSON.stringify(plainOf(decoded(instructions)))
  const head = Buffer.concat([
    Buffer.from('[{"role":"system","parts":'),
    bytesOf(parts),
    Buffer.from('}'),
  ])
  if (!isJsonList(messages)) {
    return messages.length === 0
      ? Buffer.concat([head, Buffer.from(']')])
      : Buffer.concat([
          head,
          Buffer.from(','),
          bytesOf(JSON.stringify(decoded(messages))),
          Buffer.from(']'),
        ])
  }
  const rest = bytesOf(messages).subarray(1)
  const comma = rest.toString('latin1', 0, 64).trimStart()[0] === ']' ? '' : ','
  return Buffer.concat([head, Buffer.from(comma), rest])
}

/**
 * Returns the key of a gathered value: attributes are numbered by key, events have it in the path.
 */
function keyAt({ paths, places }: Gathered, at: number): string | number | undefined {
  const [key] = paths[at] ?? []
  return key ?? (places[at] === 0 ? system : asked)
}

function isJsonList(text: string | Uint8Array): boolean {
  return typeof text === 'string' ? text[0] === '[' : text[0] === 0x5b
}

function bytesOf(text: string | Uint8Array): Buffer {
  if (typeof text === 'string') return Buffer.from(text)
  return Buffer.from(text.buffer, text.byteOffset, text.byteLength)
}
