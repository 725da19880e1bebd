import { z } from 'zod'
import { decodeCursor, encodeCursor } from '../kernel/pages.ts'
import { problem } from '../kernel/problem.ts'
import { instantsEndMs, isoFromNs } from '../kernel/time.ts'

/** Maximum items per page: 1 to 1,000, 50 by default. */
export const limitParameter = integerParameter({
  minimum: 1,
  maximum: 1000,
  default: 50,
  description: 'Maximum items per page, 1–1,000.',
})

/** Start of the next page: the `next_cursor` of the page before. */
export const cursorParameter = z
  .string()
  .min(1)
  .max(2000)
  .optional()
  .describe('The `next_cursor` of the previous page, with the same sort and order.')

/** Order of a sorted list. */
export const orderParameter = z
  .enum(['asc', 'desc'], { error: expected('asc or desc') })
  .default('desc')
  .describe('`asc`: smallest or earliest first, `desc`: largest or latest first.')

/** Defines a query parameter that is `true` or `false`. */
export function flagParameter(description: string) {
  const values = new Map([
    ['true', true],
    ['false', false],
  ])
  return parameter({ read: (text) => values.get(text), expected: 'true or false' })
    .optional()
    .meta({ description, type: 'boolean' })
}

/** Defines a query parameter that is one or several of some words, separated by commas. */
export function wordsParameter<Word extends string>(words: readonly Word[], description: string) {
  const read = (text: string) => {
    const given = text.split(',').map((one) => words.find((word) => word === one))
    return given.includes(undefined) ? undefined : given.filter((word) => word !== undefined)
  }
  return parameter({ read, expected: `some of ${words.join(', ')}, separated by commas` })
    .optional()
    .describe(description)
}

/** Defines a query parameter that is a whole number. */
export function integerParameter(definition: {
  minimum: number
  maximum: number
  default: number
  description: string
}) {
  // JSON Schema has no default for a number that is sent as text, so the description names it.
  const description = `${definition.description} Default: ${definition.default}.`
  const { minimum, maximum } = definition
  return wholeNumber({ minimum, maximum })
    .default(definition.default)
    .meta({ minimum, maximum, description, type: 'integer' })
}

/** Defines a query parameter that is a whole number, or is left out. */
export function optionalIntegerParameter(definition: {
  minimum: number
  maximum: number
  description: string
}) {
  return wholeNumber(definition)
    .optional()
    .meta({ ...definition, type: 'integer' })
}

function wholeNumber({ minimum, maximum }: { minimum: number; maximum: number }) {
  const read = (text: string) => {
    const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= minimum && value <= maximum ? value : undefined
  }
  return parameter({ read, expected: `an integer from ${minimum} to ${maximum}` })
}

/** Defines a query parameter that is a score: a decimal number from 0 to 1. */
export function scoreParameter(description: string) {
  const read = (text: string) => {
    const value = /^\d(\.\d{1,17})?$/.test(text) ? Number(text) : Number.NaN
    return value <= 1 ? value : undefined
  }
  return parameter({ read, expected: 'a number from 0 to 1' })
    .optional()
    .meta({ minimum: 0, maximum: 1, description, type: 'number' })
}

/** Defines a query parameter that is an instant, parsed to nanoseconds since 1970. */
export function instantParameter(description: string) {
  return parameter({
    read: nsFromIso,
    expected: 'an ISO 8601 instant from 1970 to 2261 with Z or an offset',
  })
    .optional()
    .meta({ description, type: 'string', format: 'date-time' })
}

/** Defines a query parameter that is compared with stored text. PostgreSQL rejects U+0000. */
export function textParameter(description: string, length_max = 256) {
  return z
    .string()
    .min(1)
    .max(length_max, { error: expected(`at most ${length_max} characters`) })
    .refine(isStorable, { error: expected('text without U+0000') })
    .optional()
    .describe(description)
}

/** A time window in nanoseconds since 1970: `from` inclusive, `to` exclusive, undefined is open. */
type Window = { from?: bigint | undefined; to?: bigint | undefined }

/** Throws `invalid_request` for a window that does not end after its start. */
export function checkWindow({ from, to }: Window): void {
  if (from === undefined || to === undefined || from < to) return
  throw problem('invalid_request', {
    detail: `query.from: got ${isoFromNs(from)}, expected an instant before to, ${isoFromNs(to)}`,
    faults: [{ pointer: 'query.from', detail: 'expected an instant before to' }],
  })
}

/** The bounds of a window that a request may leave out. */
export type WindowBounds = { now_ms: number; days_default: number; days_max: number }

/**
 * Returns the window of a request; it ends now, and starts `days_default` before its end, unless the
 * request says otherwise. Throws `invalid_request` for one that is empty or longer than `days_max`.
 */
export function windowWithin(
  { from, to }: Window,
  { now_ms, days_default, days_max }: WindowBounds,
): { from: bigint; to: bigint } {
  const to_ns = to ?? BigInt(now_ms) * 1_000_000n
  const from_ns = from ?? to_ns - BigInt(days_default) * day_ns
  checkWindow({ from: from_ns, to: to_ns })
  if (to_ns - from_ns <= BigInt(days_max) * day_ns) return { from: from_ns, to: to_ns }
  const detail = `got a window of more than ${days_max} days, expected ${days_max} days at most`
  throw problem('invalid_request', {
    detail: `query.from: ${detail}`,
    faults: [{ pointer: 'query.from', detail }],
  })
}

const day_ns = 86_400_000_000_000n

/** Formats the window as ISO 8601, for the relational store. Throws like `checkWindow`. */
export function isoWindow(window: Window): { from: string | undefined; to: string | undefined } {
  checkWindow(window)
  const { from, to } = window
  return {
    from: from === undefined ? undefined : isoFromNs(from),
    to: to === undefined ? undefined : isoFromNs(to),
  }
}

/** Returns whether PostgreSQL can store the text. */
export function isStorable(text: string): boolean {
  return !text.includes('\u0000')
}

/**
 * Builds the message of a schema fault: the received value, at most 80 characters, and the
 * expectation.
 */
export function expected(what: string): (issue: { input?: unknown }) => string {
  return ({ input }) => `got ${JSON.stringify(input)?.slice(0, 80)}, expected ${what}`
}

/**
 * Kind of values in a sort column. A cursor must have a value of the kind. A score is from 0 to 1,
 * or `noScore`.
 */
export type SortKind = 'instant' | 'count' | 'decimal' | 'score'

/** Value in cursors of rows without a score, which come last in either order. */
export const noScore = -1

/** A list with its sort column and order. */
export type SortedList = { list: string; sort: string; kind: SortKind; order: 'asc' | 'desc' }

/** Sort value and id of a page's last item. */
export type SortPosition = { value: string | number; id: string }

/** Returns the cursor after an item of the list. */
export function cursorAt(sorted: SortedList, { value, id }: SortPosition): string {
  return encodeCursor(nameOf(sorted), [value, id])
}

/** Reads the position from a cursor. Throws `invalid_cursor` for another list, sort or order. */
export function positionIn(
  sorted: SortedList,
  cursor: string,
  isId: (id: string) => boolean,
): SortPosition {
  const [value, id] = decodeCursor(nameOf(sorted), cursor, 2)
  if (typeof id === 'string' && isId(id) && value != null && isOfKind[sorted.kind](value)) {
    return { value, id }
  }
  throw problem('invalid_cursor', {
    detail: `cursor: got "${cursor.slice(0, 80)}", expected an unchanged next_cursor`,
  })
}

const isOfKind: Record<SortKind, (value: string | number) => boolean> = {
  instant: (value) => typeof value === 'string' && nsFromIso(value) !== undefined,
  count: (value) => Number.isSafeInteger(value),
  decimal: (value) => typeof value === 'string' && /^-?\d{1,11}(\.\d{1,9})?$/.test(value),
  score: (value) => typeof value === 'number' && (value === noScore || (value >= 0 && value <= 1)),
}

function nameOf({ list, sort, order }: SortedList): string {
  return `${list} by ${sort} ${order}`
}

function parameter<T>(definition: { read: (text: string) => T | undefined; expected: string }) {
  return z.string().transform((text, context): T => {
    const value = definition.read(text)
    if (value !== undefined) return value
    context.addIssue({ code: 'custom', message: expected(definition.expected)({ input: text }) })
    return z.NEVER
  })
}

const isoPattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/

/**
 * Parses an instant from 1970 to 2261, the range of ClickHouse at nanoseconds. Otherwise undefined.
 */
export function nsFromIso(text: string): bigint | undefined {
  const [, seconds, fraction = '', zone] = isoPattern.exec(text) ?? []
  const ms = Date.parse(`${seconds}${zone}`)
  if (!(ms >= 0 && ms < instantsEndMs)) return undefined
  return BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, '0'))
}
