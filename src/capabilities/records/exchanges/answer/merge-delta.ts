import { isForbiddenKey, type JsonObject } from '../../../../kernel/json-values.ts'

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
export function joinText(target: Growing, key: string, text: string): void {
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
