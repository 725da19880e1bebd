import { hash } from 'node:crypto'
import { canonicalJson } from '../../../../kernel/canonical-json.ts'
import { parsedJson } from '../../../../kernel/json-values.ts'

/** Returns a digest of 96 bits in base64url, short enough to keep one per message. */
export function digestOf(text: string): string {
  return hash('sha1', text, 'base64url').slice(0, digest_chars)
}

const digest_chars = 16

/** Returns the digest of a tool call: its name and its arguments as canonical JSON. */
export function sigOf(name: string, canonicalArguments: string): string {
  return digestOf(`${name}\n${canonicalArguments}`)
}

/** Arguments in canonical form, equal for every spelling of the same JSON. */
type ReadArguments = { canonical: string; is_json: boolean }

/**
 * Reads the arguments of a call. Text that is not JSON is kept as it is; an empty text reads as
 * `{}`.
 */
export function readArguments(text: string): ReadArguments {
  if (text.trim() === '') return { canonical: '{}', is_json: true }
  const canonical = toCanonicalText(text)
  return canonical === undefined
    ? { canonical: text.trim(), is_json: false }
    : { canonical, is_json: true }
}

/**
 * Returns the canonical form of JSON text; undefined if the text is not JSON. A string that
 * contains the JSON of an object or a list is parsed too, because some agents encode arguments
 * twice.
 */
function toCanonicalText(text: string): string | undefined {
  const outer = parsedJson(text)
  if (outer === undefined) return undefined
  const value = typeof outer === 'string' ? unwrapJson(outer) : outer
  // Doubles cannot tell such numbers apart, so their digits are appended.
  const digits = longNumbers.test(text) ? `\n${text.match(allLongNumbers)?.join(' ')}` : ''
  try {
    return `${canonicalJson(value)}${digits}`
  } catch {
    // Too deeply nested to serialise.
    return text.trim()
  }
}

const longNumbers = /\d{16}/
const allLongNumbers = /\d{16,}/g

function unwrapJson(text: string): unknown {
  const first = text.trimStart()[0]
  return first === '{' || first === '[' ? (parsedJson(text) ?? text) : text
}

/** Returns the order-independent digest of the calls of a step; null if one of them is unknown. */
export function stepSigOf(sigs: readonly (string | null)[]): string | null {
  if (sigs.length === 0 || sigs.includes(null)) return null
  return digestOf(sigs.toSorted().join('\n'))
}

/**
 * Masks volatile tokens: dates and times, UUIDs, hex numbers of 8 digits and more, process ids,
 * durations, ids of requests and calls. Masks only the first `masked_chars_max` characters.
 */
export function maskVolatile(text: string): string {
  if (text.length <= masked_chars_max) return text.replaceAll(volatile, toSign)
  const head = text.slice(0, masked_chars_max).replaceAll(volatile, toSign)
  return head + text.slice(masked_chars_max)
}

/** Maximum masked characters of a text. */
export const masked_chars_max = 65_536

/**
 * Each alternative starts with different characters and has bounded repeats, so matching is linear.
 */
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
    // Digits alone can be amounts: an id has a letter too, or is very long.
    String.raw`\b(?=[0-9a-fA-F]{0,64}[a-fA-F])(?=[a-fA-F]{0,64}\d)[0-9a-fA-F]{8,128}\b`,
    String.raw`\b\d+(?:\.\d{1,9})? ?(?:ms|µs|us|ns|secs?|seconds?|s)\b`,
    String.raw`\b\d{1,4}m ?\d{1,2}(?:\.\d{1,3})?s\b`,
    String.raw`\b[pP][iI][dD]["']?[ =:#]{1,3}\d{1,10}\b`,
    String.raw`\b(?:req|request|trace|span|call|run|corr|msg|chatcmpl|toolu|tooluse)[-_][A-Za-z0-9_-]{6,64}\b`,
    // Codex names each result of a command: `Chunk ID: 5661b8`.
    String.raw`\b(?:request|trace|span|correlation|[cC]hunk)[-_ ]?[iI][dD]["']?[ =:]{1,3}["']?[A-Za-z0-9_-]{4,64}`,
  ].join('|'),
  'g',
)

/** Keeps names that only look like ids: an id contains a digit. */
function toSign(found: string): string {
  return /\d/.test(found) ? '#' : found
}
