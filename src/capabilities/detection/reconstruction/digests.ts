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
  const canonical = toCanonicalText(text)
  return canonical === undefined
    ? { canonical: text.trim(), is_json: false }
    : { canonical, is_json: true }
}

/**
 * Returns the canonical form of JSON text; undefined when the text is no JSON. A string that holds
 * the JSON of an object or a list stands for it, as some agents encode arguments twice.
 */
function toCanonicalText(text: string): string | undefined {
  const outer = parsedJson(text)
  if (outer === undefined) return undefined
  const value = typeof outer === 'string' ? unwrapJson(outer) : outer
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

function unwrapJson(text: string): unknown {
  const first = text.trimStart()[0]
  return first === '{' || first === '[' ? (parsedJson(text) ?? text) : text
}

/** Digest of the calls of one step, whatever their order; null when one of them is not known. */
export function stepSigOf(sigs: readonly (string | null)[]): string | null {
  if (sigs.length === 0 || sigs.includes(null)) return null
  return digestOf(sigs.toSorted().join('\n'))
}

/**
 * Puts a sign in the place of what differs each time though nothing else does: dates and times,
 * UUIDs, hex numbers of 8 digits and more, process ids, durations, ids of requests and calls. Only
 * the first `masked_chars_max` characters are masked; the rest stands as it is.
 */
export function maskVolatile(text: string): string {
  if (text.length <= masked_chars_max) return text.replaceAll(volatile, toSign)
  const head = text.slice(0, masked_chars_max).replaceAll(volatile, toSign)
  return head + text.slice(masked_chars_max)
}

export const masked_chars_max = 65_536

/** Each alternative begins with its own characters and has bounded repeats: linear on any text. */
const volatile = new RegExp(
  [
    // 2026-03-01T10:00:00.123Z, 2026-03-01 10:00:00 +0100, 2026-03-01, 2026/03/01
    String.raw`\b\d{4}[-/]\d{2}[-/]\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?: ?(?:Z\b|UTC\b|GMT\b|[+-]\d{2}:?\d{2}\b))?)?`,
    // 10:00:00.123
    String.raw`\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?\b`,
    String.raw`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`,
    String.raw`\b0x[0-9a-fA-F]{4,64}\b`,
    // Seconds, milliseconds … since 1970
    String.raw`\b1\d{9}(?:\d{3}){0,3}(?:\.\d{1,9})?\b`,
    // Digits alone may be amounts: only with a letter, or very long, they are an id.
    String.raw`\b(?=[0-9a-fA-F]{0,64}[a-fA-F])(?=[a-fA-F]{0,64}\d)[0-9a-fA-F]{8,128}\b`,
    String.raw`\b\d+(?:\.\d{1,9})? ?(?:ms|µs|us|ns|secs?|seconds?|s)\b`,
    String.raw`\b\d{1,4}m ?\d{1,2}(?:\.\d{1,3})?s\b`,
    String.raw`\b[pP][iI][dD]["']?[ =:#]{1,3}\d{1,10}\b`,
    String.raw`\b(?:req|request|trace|span|call|run|corr|msg|chatcmpl|toolu|tooluse)[-_][A-Za-z0-9_-]{6,64}\b`,
    String.raw`\b(?:request|trace|span|correlation)[-_ ]?[iI][dD]["']?[ =:]{1,3}["']?[A-Za-z0-9_-]{4,64}`,
  ].join('|'),
  'g',
)

/** Names that only look like ids keep standing: an id has a digit. */
function toSign(found: string): string {
  return /\d/.test(found) ? '#' : found
}
