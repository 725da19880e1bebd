/** Parsed JSON with untrusted keys: check a key with `isForbiddenKey` before assigning it. */
export type JsonObject = { readonly [key: string]: unknown }

/** Returns whether assigning the key could change an object's prototype. */
export function isForbiddenKey(key: string): boolean {
  return key === '__proto__' || key === 'constructor' || key === 'prototype'
}

/** Returns the value if it is a JSON object (not an array, not null). */
export function objectFrom(value: unknown): JsonObject | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return value as JsonObject
}

/** Returns the items of an array, or no items for any other value. */
export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Returns the objects of an array, or none for any other value. */
export function objectsIn(value: unknown): JsonObject[] {
  return itemsOf(value).flatMap((item) => {
    const object = objectFrom(item)
    return object === undefined ? [] : [object]
  })
}

/** Returns the value if it is a string, otherwise ''. */
export function textFrom(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Parses JSON text. Returns undefined, which is not a JSON value, for invalid JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the JSON text of a parsed value, or '' when it is nested too deeply to serialise. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return ''
  }
}
