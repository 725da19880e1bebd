import { severityNumber, spanKind, statusCode } from '../items.ts'
import type { Tally } from '../tally.ts'

const uint64Max = 0xffff_ffff_ffff_ffffn
const int64Max = 0x7fff_ffff_ffff_ffffn
const int64Min = -0x8000_0000_0000_0000n
const uint32Max = 0xffff_ffff
const unsigned = /^[0-9]{1,20}$/
const signed = /^-?[0-9]{1,19}$/

/** Returns a text; '' for an absent value and, with a warning, for another type. */
export function textOf(value: unknown, tally: Tally): string {
  if (typeof value === 'string') return value
  if (value !== undefined && value !== null) tally.warn('wrong_type')
  return ''
}

/** Returns a list; an empty one for an absent value and, with a warning, for another type. */
export function listOf(value: unknown, tally: Tally): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (value !== undefined && value !== null) tally.warn('wrong_type')
  return []
}

/** Returns an object; undefined for an absent value and, with a warning, for another type. */
export function objectOf(value: unknown, tally: Tally): object | undefined {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  if (value !== undefined && value !== null) tally.warn('wrong_type')
  return undefined
}

/** Returns a uint32 from a number or text; 0, with a warning, for anything else. */
export function uint32Of(value: unknown, tally: Tally): number {
  if (value === undefined || value === null) return 0
  const number = typeof value === 'string' && unsigned.test(value) ? Number(value) : value
  if (Number.isInteger(number) && (number as number) >= 0 && (number as number) <= uint32Max) {
    return number as number
  }
  tally.warn('wrong_type')
  return 0
}

/**
 * Returns nanoseconds from text, or from a number, which may be inexact; 0n for an absent value,
 * undefined for an invalid one.
 */
export function timeOf(value: unknown, tally: Tally): bigint | undefined {
  if (typeof value === 'string') {
    if (value === '') return 0n
    const time = unsigned.test(value) ? BigInt(value) : undefined
    return time !== undefined && time <= uint64Max ? time : undefined
  }
  if (value === undefined || value === null) return 0n
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) return undefined
  if (!Number.isSafeInteger(value)) tally.warn('inexact_time')
  const time = BigInt(value)
  return time <= uint64Max ? time : undefined
}

/** Returns an int64 from text or a number; undefined for anything else. */
export function int64Of(value: unknown): number | bigint | undefined {
  if (typeof value === 'number') return intOfNumber(value)
  if (typeof value !== 'string' || !signed.test(value)) return undefined
  const number = Number(value)
  return Number.isSafeInteger(number) ? number + 0 : inRange(BigInt(value))
}

/**
 * Returns a double from a number or text (`NaN`, `Infinity`, `-Infinity`); undefined for anything
 * else.
 */
export function doubleOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || value.trim() === '') return undefined
  const number = Number(value)
  return Number.isNaN(number) && value !== 'NaN' ? undefined : number
}

function intOfNumber(value: number): number | bigint | undefined {
  if (Number.isSafeInteger(value)) return value + 0
  return Number.isInteger(value) ? inRange(BigInt(value)) : undefined
}

function inRange(value: bigint): bigint | undefined {
  return value >= int64Min && value <= int64Max ? value : undefined
}

const kinds = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER']
const codes = ['UNSET', 'OK', 'ERROR']
const severities = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL']
const severitySteps = [1, 2, 3, 4]

const kindNumbers = new Map(kinds.map((name, i) => [`SPAN_KIND_${name}`, i]))
const codeNumbers = new Map(codes.map((name, i) => [`STATUS_CODE_${name}`, i]))
const severityNumbers = new Map([
  ['SEVERITY_NUMBER_UNSPECIFIED', 0] as const,
  ...severities.flatMap((name, i) =>
    severitySteps.map(
      (step) => [`SEVERITY_NUMBER_${name}${step === 1 ? '' : step}`, i * 4 + step] as const,
    ),
  ),
])

/** Returns a SpanKind from its number or name. */
export function spanKindOf(value: unknown, tally: Tally): number {
  return spanKind(numberOf(value, kindNumbers), tally)
}

/** Returns a StatusCode from its number or name. */
export function statusCodeOf(value: unknown, tally: Tally): number {
  return statusCode(numberOf(value, codeNumbers), tally)
}

/** Returns a SeverityNumber from its number or name. */
export function severityNumberOf(value: unknown, tally: Tally): number {
  return severityNumber(numberOf(value, severityNumbers), tally)
}

/** Returns -1, which no enum has, for an invalid value; the caller warns. */
function numberOf(value: unknown, names: ReadonlyMap<string, number>): number {
  if (value === undefined || value === null) return 0
  if (typeof value === 'number') return Number.isInteger(value) ? value : -1
  if (typeof value !== 'string') return -1
  return names.get(value) ?? (/^[0-9]{1,9}$/.test(value) ? Number(value) : -1)
}

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
