import { objectFrom, parsedJson } from '../../../kernel/json-values.ts'

/**
 * JSON text with sorted keys, without white space and with numbers in one spelling, so that equal
 * values are equal texts; undefined when the text is no JSON. A text that holds the JSON of an
 * object or a list stands for it, as some agents encode arguments twice.
 */
export function canonicalJson(text: string): string | undefined {
  const outer = parsedJson(text)
  if (outer === undefined) return undefined
  const value = typeof outer === 'string' ? innerOf(outer) : outer
  // Numbers beyond a double's precision would be equal though their digits differ.
  const digits = longNumbers.test(text) ? `\n${text.match(allLongNumbers)?.join(' ')}` : ''
  try {
    return `${JSON.stringify(value, sortedKeys)}${digits}`
  } catch {
    // Nested too deeply for the engine to write.
    return text.trim()
  }
}

const longNumbers = /\d{16}/
const allLongNumbers = /\d{16,}/g

function innerOf(text: string): unknown {
  const first = text.trimStart()[0]
  return first === '{' || first === '[' ? (parsedJson(text) ?? text) : text
}

function sortedKeys(_key: string, value: unknown): unknown {
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
