import {
  isForbiddenKey,
  itemsOf,
  type JsonObject,
  jsonText,
  objectFrom,
  parsedJson,
  textFrom,
} from '../../../../kernel/json-values.ts'

/** A JSON object that is being put together of the deltas of a stream. */
export type Growing = { [key: string]: unknown }

/** Fields a choice's message or a tool call may have, at most; further ones are passed over. */
const fields_max = 64

/** Text that arrives in pieces; any other text is whole each time it comes. */
const piecewise = new Set(['content', 'reasoning_content', 'reasoning', 'refusal'])

/**
 * Adds the fields of a delta: piecewise text is joined, arrays are appended, `audio` is merged,
 * anything else is kept as it came last. A null never replaces a value.
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

/** Sets a field, unless its name is forbidden, null would hide a value, or there are too many. */
export function setField(target: Growing, key: string, value: unknown): void {
  if (isForbiddenKey(key)) return
  const present = Object.hasOwn(target, key)
  if (present ? value === null : Object.keys(target).length >= fields_max) return
  target[key] = value
}

/** Appends text to a field (a name of ours) that holds text, parts, or nothing yet. */
function joinText(target: Growing, key: string, text: string): void {
  const known = target[key]
  if (typeof known === 'string') target[key] = known + text
  else if (Array.isArray(known)) known.push({ type: 'text', text })
  else target[key] = text
}

/** Some providers mix text and arrays of parts in one field: text before becomes a part. */
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

/** The object at a key (a name of ours, not from outside), made when there is none. */
export function growingAt(target: Growing, key: string): Growing {
  const known = target[key]
  if (typeof known === 'object' && known !== null && !Array.isArray(known)) return known as Growing
  const made: Growing = {}
  target[key] = made
  return made
}

/** The tool calls of one choice while its stream is read. */
export type ToolCalls = {
  calls: { index: number; call: Growing }[]
  byIndex: Map<number, Growing>
  byId: Map<string, Growing>
  /** Pieces passed over because of `calls_max`. */
  dropped: number
}

/** No model asks for more calls at once; an index is a name here and never a size. */
const calls_max = 256

export function noToolCalls(): ToolCalls {
  return { calls: [], byIndex: new Map(), byId: new Map(), dropped: 0 }
}

/** The calls in the order of their indices, in the shape of an answer that was not streamed. */
export function toolCallsInOrder(list: ToolCalls): Growing[] {
  return list.calls.toSorted((a, b) => a.index - b.index).map(({ call }) => call)
}

/**
 * Adds one chunk's `tool_calls`. Pieces belong together by index, without one by id, without both
 * to the latest call. A piece with a name starts another call at a taken index when its id is
 * another one, or when the same chunk has used that index: providers that send whole calls do so.
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

/** What a call is about: `function`, or `custom` for a tool whose input is free text. */
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

/** Adds a piece of a function's name, arguments or input; also the old `function_call`'s. */
export function mergeFunction(target: Growing, delta: JsonObject): void {
  for (const key in delta) {
    const value = delta[key]
    if (key === 'name') mergeName(target, value)
    else if (key !== 'arguments' && key !== 'input') setField(target, key, value)
    else if (typeof value === 'string') joinText(target, key, value)
    else if (value !== null && value !== undefined) target[key] = jsonText(value)
  }
}

/** A name comes once, every time, or (seldom) in pieces. */
function mergeName(target: Growing, name: unknown): void {
  if (typeof name !== 'string' || name === '' || target['name'] === name) return
  joinText(target, 'name', name)
}
