/** Parsed JSON whose keys came from outside: never write a key of it without `isForbiddenKey`. */
export type JsonObject = { readonly [key: string]: unknown }

/** Keys that would reach an object's prototype when assigned. */
export function isForbiddenKey(key: string): boolean {
  return key === '__proto__' || key === 'constructor' || key === 'prototype'
}

/** The value when it is a JSON object (no array, no null). */
export function objectFrom(value: unknown): JsonObject | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return value as JsonObject
}

/** The value's own items when it is an array, else none. */
export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The value when it is a string, else ''. */
export function textFrom(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Parses JSON text; undefined (which JSON has no word for) when it is none. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The JSON text of a parsed value; '' when it is nested too deeply for the engine to write. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return ''
  }
}
