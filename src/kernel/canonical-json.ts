import { objectFrom } from './json-values.ts'

/**
 * Returns JSON text without white space and with sorted keys: by UTF-16 code unit, after keys that
 * are array indexes, which JavaScript puts first. Equal values give equal texts. Digests of the
 * text are stored, so its bytes must never change.
 */
export function canonicalJson(value: unknown): string {
  return hasSortedKeys(value) ? JSON.stringify(value) : JSON.stringify(value, sortedKeys)
}

/** Returns whether all keys are sorted; false if an object has `toJSON`, which can return any keys. */
function hasSortedKeys(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(hasSortedKeys)
  if ('toJSON' in value) return false
  return isSorted(Object.keys(value)) && Object.values(value).every(hasSortedKeys)
}

/** Sorts the keys of an object; a replacer for `JSON.stringify`. */
export function sortedKeys(_key: string, value: unknown): unknown {
  const object = objectFrom(value)
  if (object === undefined) return value
  const keys = Object.keys(object)
  if (isSorted(keys)) return value
  return Object.fromEntries(keys.sort().map((key) => [key, object[key]]))
}

function isSorted(keys: readonly string[]): boolean {
  for (let at = 1; at < keys.length; at++) {
    if ((keys[at - 1] ?? '') > (keys[at] ?? '')) return false
  }
  return true
}
