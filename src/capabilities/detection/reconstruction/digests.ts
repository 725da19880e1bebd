import { hash } from 'node:crypto'
import { canonicalJson } from '../../../kernel/canonical-json.ts'
import { parsedJson } from '../../../kernel/json-values.ts'

/** A digest of texts that is short enough to keep for each message: 96 bits in base64url. */
export function digestOf(text: string): string {
  return hash('sha1', text, 'base64url').slice(0, digest_chars)
}

const digest_chars = 16

/** Digest of a tool call: its name, and its arguments as canonical JSON. */
export function sigOf(name: string, canonicalArguments: string): string {
  return digestOf(`${name}\n${canonicalArguments}`)
}

/** What a model wrote as arguments, and what is equal of it however it was written. */
export type ReadArguments = { canonical: string; is_json: boolean }

/** Reads the arguments of a call. Text that is no JSON stands for itself; none is `{}`. */
export function readArguments(text: string): ReadArguments {
  if (text.trim() === '') return { canonical: '{}', is_json: true }
  const canonical = canonicalText(text)
  return canonical === undefined
    ? { canonical: text.trim(), is_json: false }
    : { canonical, is_json: true }
}

/**
 * Returns the canonical form of JSON text; undefined when the text is no JSON. A string that holds
 * the JSON of an object or a list stands for it, as some agents encode arguments twice.
 */
function canonicalText(text: string): string | undefined {
  const outer = parsedJson(text)
  if (outer === undefined) return undefined
  const value = typeof outer === 'string' ? innerOf(outer) : outer
  // Numbers beyond a double's precision would be equal though their digits differ.
  const digits = longNumbers.test(text) ? `\n${text.match(allLongNumbers)?.join(' ')}` : ''
  try {
    return `${canonicalJson(value)}${digits}`
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

/** Digest of the calls of one step, whatever their order; null when one of them is not known. */
export function stepSigOf(sigs: readonly (string | null)[]): string | null {
  if (sigs.length === 0 || sigs.includes(null)) return null
  return digestOf(sigs.toSorted().join('\n'))
}
