import { parsedJson } from '../../../../kernel/json-values.ts'
import type { Text } from '../../../../model/ingest-records.ts'
import type { OtlpMap, OtlpValue } from '../contract.ts'

/** Deeper values are dropped. */
const depth_max = 32

/**
 * Formats a value as text: bytes and strings as they are, the rest as JSON; '' for an empty value.
 */
export function textOf(value: OtlpValue | undefined): Text {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return `${value}`
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  if (value === null || value === undefined) return ''
  if (typeof value === 'bigint') return value.toString()
  if (Buffer.isBuffer(value)) return value
  if ('bytes' in value) return Buffer.from(value.bytes).toString('base64')
  return JSON.stringify(plainOf(value))
}

/** Formats a value as a string. */
export function stringOf(value: OtlpValue | undefined): string {
  return decoded(textOf(value))
}

export function decoded(text: Text): string {
  if (typeof text === 'string') return text
  return Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString('utf8')
}

/** Converts a value to plain JSON. 64-bit integers beyond JSON's numbers, and NaN, become text. */
export function plainOf(value: OtlpValue | undefined, depth = 0): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : `${value}`
  if (typeof value !== 'object' || value === null) {
    return typeof value === 'bigint' ? value.toString() : (value ?? null)
  }
  if (Buffer.isBuffer(value)) return value.toString('utf8')
  if ('bytes' in value) return Buffer.from(value.bytes).toString('base64')
  if (depth >= depth_max) return null
  if (isMap(value)) return objectOf(value, depth)
  return value.map((item) => plainOf(item, depth + 1))
}

function objectOf({ map }: OtlpMap, depth: number): Record<string, unknown> {
  const object: Record<string, unknown> = {}
  for (let at = 0; at < map.keys.length; at++) {
    const key = map.keys[at] ?? ''
    if (key !== '__proto__') object[key] = plainOf(map.values[at], depth + 1)
  }
  return object
}

export function isMap(value: OtlpValue | undefined): value is OtlpMap {
  if (typeof value !== 'object' || value === null) return false
  return !Array.isArray(value) && !Buffer.isBuffer(value) && 'map' in value
}

/** Returns the JSON of a value, parsed if it is text; undefined for invalid or too long text. */
export function jsonIn(value: OtlpValue, bytes_max: number): unknown {
  if (typeof value !== 'string' && !Buffer.isBuffer(value)) return plainOf(value)
  if (value.length > bytes_max) return undefined
  return parsedJson(typeof value === 'string' ? value : value.toString('utf8'))
}

/**
 * Cuts text to `bytes_max` bytes of UTF-8, never inside a character. Returns the same text when it
 * fits.
 */
export function cutText(text: Text, bytes_max: number): Text {
  if (typeof text === 'string') {
    if (text.length * 3 <= bytes_max) return text
    const bytes = Buffer.from(text)
    return bytes.length <= bytes_max ? text : cutText(bytes, bytes_max)
  }
  if (text.length <= bytes_max) return text
  let end = bytes_max
  while (end > 0 && ((text[end] ?? 0) & 0xc0) === 0x80) end--
  return text.subarray(0, end)
}

/** Maximum characters of a span's or an event's name. */
export const name_chars_max = 1_024

/** Cuts a short text for a column. Removes NUL characters, which PostgreSQL refuses. */
export function columnText(text: string, chars_max: number): string {
  const clean = text.includes('\u0000') ? text.replaceAll('\u0000', '') : text
  if (clean.length <= chars_max) return clean
  const last = clean.charCodeAt(chars_max - 1)
  return clean.slice(0, last >= 0xd800 && last <= 0xdbff ? chars_max - 1 : chars_max)
}
