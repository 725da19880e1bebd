import type { Tally } from '../tally.ts'

const traceHex = 32
const spanHex = 16
const base64Trace = /^[A-Za-z0-9+/]{22}==$/
const base64Span = /^[A-Za-z0-9+/]{11}=$/

/**
 * Reads ids of OTLP/JSON, which are hex. It remembers the last trace id, because spans of a trace
 * come together.
 */
export class JsonIds {
  private trace = ''
  private uuid = ''

  /** Returns a trace id as a UUID; '' for an invalid one. */
  traceId(value: unknown, tally: Tally): string {
    if (typeof value !== 'string') return ''
    if (value === this.trace) return this.uuid
    const hex = hexOf(value, traceHex, tally)
    if (hex === '') return ''
    const uuid = uuidOf(hex)
    // A base64 id is decoded, and counted, each time.
    if (value.length === traceHex) {
      this.trace = value
      this.uuid = uuid
    }
    return uuid
  }

  /** Returns a span id as 16 lower-case hex digits; '' for an invalid one. */
  spanId(value: unknown, tally: Tally): string {
    return typeof value === 'string' ? hexOf(value, spanHex, tally) : ''
  }
}

/** Describes the fault of an id for the reply. */
export function idFault(value: unknown, digits: number): string {
  if (value === undefined || value === null || value === '') return 'is missing'
  if (typeof value !== 'string') return `is of type ${typeof value}, not ${digits} hex digits`
  if (value.length !== digits) return `has ${value.length} characters, not ${digits} hex digits`
  return 'is all zero, or not hex'
}

function hexOf(value: string, digits: number, tally: Tally): string {
  if (value.length !== digits) return hexOfBase64(value, digits, tally)
  let zero = true
  let upper = false
  for (let i = 0; i < digits; i++) {
    const code = value.charCodeAt(i)
    if (code >= 0x41 && code <= 0x46) upper = true
    else if (!isLowerHex(code)) return ''
    if (code !== 0x30) zero = false
  }
  if (zero) return ''
  return upper ? value.toLowerCase() : value
}

function isLowerHex(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x66)
}

/** Decodes a base64 id, as protobuf's JSON would have it and some senders write it. */
function hexOfBase64(value: string, digits: number, tally: Tally): string {
  if (!(digits === traceHex ? base64Trace : base64Span).test(value)) return ''
  const hex = Buffer.from(value, 'base64').toString('hex')
  if (hex.length !== digits || /^0+$/.test(hex)) return ''
  tally.warn('base64_id')
  return hex
}

function uuidOf(hex: string): string {
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ]
  return parts.join('-')
}
