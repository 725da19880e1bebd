import {
  isForbiddenKey,
  itemsOf,
  type JsonObject,
  jsonText,
  objectFrom,
  parsedJson,
  textFrom,
} from '../../../../kernel/json-values.ts'

/** A JSON object under assembly from the deltas of a stream. */
export type Growing = { [key: string]: unknown }

/** Most fields of a message or tool call; further ones are ignored. */
const fields_max = 64

/** Fields whose text arrives in pieces; any other text is complete each time. */
const piecewise = new Set(['content', 'reasoning_content', 'reasoning', 'refusal'])

/**
 * Merges the fields of a delta: piecewise text is joined, arrays are appended, `audio` is merged,
 * and of any other field the last value is kept. A null never replaces a value.
 */
export function mergeDelta(target: Growing, delta: JsonObject): void {
  for (const key in delta) {
    const value = delta[key]
    if (typeof value === 'string' && piecewise.has(key)) joinText(target, key, value)
    else if (Array.isArray(value)) appendItems(target, key, value)
    else if (key === 'audio') mergeAudio(target, value)
    else setField(target, key, value)
  }
}

/**
 * Sets a field, unless its name is forbidden, null would replace a value, or there are too many.
 */
export function setField(target: Growing, key: string, value: unknown): void {
  if (isForbiddenKey(key)) return
  const present = Object.hasOwn(target, key)
  if (present ? value === null : Object.keys(target).length >= fields_max) return
  target[key] = value
}

/** Appends text to a field (with a name from this code) that holds text, parts or nothing. */
function joinText(target: Growing, key: string, text: string): void {
  const known = target[key]
  if (typeof known === 'string') target[key] = known + text
  else if (Array.isArray(known)) known.push({ type: 'text', text })
  else target[key] = text
}

/** Appends items to a field. Some providers mix text and parts: earlier text becomes a part. */
function appendItems(target: Growing, key: string, items: readonly unknown[]): void {
  const known = Object.hasOwn(target, key) ? target[key] : undefined
  if (Array.isArray(known)) {
    for (const item of items) known.push(item)
  } else if (typeof known === 'string' && known !== '' && piecewise.has(key)) {
    target[key] = [{ type: 'text', text: known }, ...items]
  } else setField(target, key, [...items])
}

const audioPieces = new Set(['data', 'transcript'])

function mergeAudio(target: Growing, value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  const audio = growingAt(target, 'audio')
  for (const [key, part] of Object.entries(value)) {
    if (typeof part === 'string' && audioPieces.has(key)) joinText(audio, key, part)
    else setField(audio, key, part)
  }
}

/** Returns the object at a key (a name from this code, not from outside); creates it if it is missing. */
export function growingAt(target: Growing, key: string): Growing {
  const known = target[key]
  if (typeof known === 'object' && known !== null && !Array.isArray(known)) return known as Growing
  const made: Growing = {}
  target[key] = made
  return made
}

/** The tool calls of a choice under assembly. */
export type ToolCalls = {
  calls: { index: number; call: Growing }[]
  byIndex: Map<number, Growing>
  byId: Map<string, Growing>
  /** Number of pieces dropped because of `calls_max`. */
  dropped: number
}

/** Most tool calls of a choice, more than any model requests. An index is a key, never a size. */
const calls_max = 256

export function noToolCalls(): ToolCalls {
  return { calls: [], byIndex: new Map(), byId: new Map(), dropped: 0 }
}

/** Returns the calls by index, in the shape of an unstreamed answer. */
export function toolCallsInOrder(list: ToolCalls): Growing[] {
  return list.calls.toSorted((a, b) => a.index - b.index).map(({ call }) => call)
}

/**
 * Merges one chunk's `tool_calls`. Pieces are joined by index, else by id, else to the latest call.
 * A piece with a name starts another call at a used index when its id differs, or when the same
 * chunk has used the index, as providers that send whole calls do.
 */
export function mergeToolCalls(list: ToolCalls, deltas: unknown): void {
  const inThisChunk = new Set<Growing>()
  for (const item of itemsOf(deltas)) {
    const delta = objectFrom(item)
    if (delta === undefined) continue
    const call = callFor(list, delta, inThisChunk)
    if (call === undefined) {
      list.dropped++
      continue
    }
    inThisChunk.add(call)
    mergeCall(call, delta)
  }
}

function callFor(
  list: ToolCalls,
  delta: JsonObject,
  inThisChunk: ReadonlySet<Growing>,
): Growing | undefined {
  const index = Number.isSafeInteger(delta['index']) ? Number(delta['index']) : undefined
  const id = textFrom(delta['id'])
  const known = knownCall(list, index, id)
  if (known !== undefined && !startsAnother(known, delta, inThisChunk)) return known
  if (list.calls.length >= calls_max) return undefined
  const call: Growing = {}
  list.calls.push({ index: index ?? list.calls.length, call })
  if (index !== undefined) list.byIndex.set(index, call)
  if (id !== '') list.byId.set(id, call)
  return call
}

function knownCall(list: ToolCalls, index: number | undefined, id: string): Growing | undefined {
  if (index !== undefined) return list.byIndex.get(index)
  return id === '' ? list.calls.at(-1)?.call : list.byId.get(id)
}

function startsAnother(
  known: Growing,
  delta: JsonObject,
  inThisChunk: ReadonlySet<Growing>,
): boolean {
  if (partOf(delta)['name'] === undefined) return false
  const id = textFrom(delta['id'])
  const knownId = textFrom(known['id'])
  if (id !== '' && knownId !== '') return id !== knownId
  if (inThisChunk.has(known)) return true
  return (
    delta['index'] === undefined && parsedJson(textFrom(partOf(known)['arguments'])) !== undefined
  )
}

/** Returns the part of a call with its name: `function`, or `custom` for a tool with free text. */
function partOf(call: JsonObject): JsonObject {
  return objectFrom(call['function']) ?? objectFrom(call['custom']) ?? {}
}

function mergeCall(call: Growing, delta: JsonObject): void {
  for (const key in delta) {
    const value = delta[key]
    const part = key === 'function' || key === 'custom' ? objectFrom(value) : undefined
    if (part !== undefined) mergeFunction(growingAt(call, key), part)
    else if (key === 'id') call['id'] ||= value
    else if (key !== 'index') setField(call, key, value)
  }
}

/** Merges a piece of a function's name, arguments or input, or of the old `function_call`. */
export function mergeFunction(target: Growing, delta: JsonObject): void {
  for (const key in delta) {
    const value = delta[key]
    if (key === 'name') mergeName(target, value)
    else if (key !== 'arguments' && key !== 'input') setField(target, key, value)
    else if (typeof value === 'string') joinText(target, key, value)
    else if (value !== null && value !== undefined) target[key] = jsonText(value)
  }
}

/** Merges a name, which arrives once, with every piece, or (rarely) in pieces. */
function mergeName(target: Growing, name: unknown): void {
  if (typeof name !== 'string' || name === '' || target['name'] === name) return
  joinText(target, 'name', name)
}
