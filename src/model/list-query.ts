import { z } from 'zod'
import { decodeCursor, encodeCursor } from '../kernel/pages.ts'
import { problem } from '../kernel/problem.ts'
import { instantsEnd_ms, isoFromNs } from '../kernel/time.ts'

/** Items of one page: 1 to 1,000, 50 when the client says nothing. */
export const limitParameter = integerParameter({
  minimum: 1,
  maximum: 1000,
  default: 50,
  description: 'Items of a page, 1 to 1,000.',
})

/** Where the next page begins; a page's `next_cursor`. */
export const cursorParameter = z
  .string()
  .min(1)
  .max(2000)
  .optional()
  .describe('The `next_cursor` of the page before, for the same sort and order.')

/** Which end of a sorted list comes first. */
export const orderParameter = z
  .enum(['asc', 'desc'], { error: expected('asc or desc') })
  .default('desc')
  .describe('`asc`: smallest or earliest first, `desc`: largest or latest first.')

/** `true` or `false`, as text in a query. */
export function flagParameter(description: string) {
  const values = new Map([
    ['true', true],
    ['false', false],
  ])
  return parameter({ read: (text) => values.get(text), expected: 'true or false' })
    .optional()
    .meta({ description, type: 'boolean' })
}

/** A whole number in a query. */
export function integerParameter(about: {
  minimum: number
  maximum: number
  default: number
  description: string
}) {
  const { minimum, maximum } = about
  const read = (text: string) => {
    const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= minimum && value <= maximum ? value : undefined
  }
  // JSON Schema has no default for what is read from text, so the description says it.
  const description = `${about.description} ${about.default} when left out.`
  return parameter({ read, expected: `an integer from ${minimum} to ${maximum}` })
    .default(about.default)
    .meta({ minimum, maximum, description, type: 'integer' })
}

/** An instant in a query, as nanoseconds since 1970. */
export function instantParameter(description: string) {
  return parameter({
    read: nsFromIso,
    expected: 'an ISO 8601 instant from 1970 to 2261 with Z or an offset',
  })
    .optional()
    .meta({ description, type: 'string', format: 'date-time' })
}

/** Text in a query that is compared with stored text; PostgreSQL can hold any but U+0000. */
export function textParameter(description: string, length_max = 256) {
  return z
    .string()
    .min(1)
    .max(length_max, { error: expected(`at most ${length_max} characters`) })
    .refine(isStorable, { error: expected('text without U+0000') })
    .optional()
    .describe(description)
}

/** From inclusive, to exclusive, in nanoseconds since 1970; undefined leaves that side open. */
type Window = { from?: bigint | undefined; to?: bigint | undefined }

/** A window whose end is not after its start holds nothing: the client has mixed them up. */
export function checkWindow({ from, to }: Window): void {
  if (from === undefined || to === undefined || from < to) return
  throw problem('invalid_request', {
    detail: `query.from: got ${isoFromNs(from)}, expected an instant before to, ${isoFromNs(to)}`,
    faults: [{ pointer: 'query.from', detail: 'expected an instant before to' }],
  })
}

/** The window as ISO 8601, for the relational store; checked like `checkWindow` does. */
export function isoWindow(window: Window): { from: string | undefined; to: string | undefined } {
  checkWindow(window)
  const { from, to } = window
  return {
    from: from === undefined ? undefined : isoFromNs(from),
    to: to === undefined ? undefined : isoFromNs(to),
  }
}

/** True for text that PostgreSQL can store and compare with. */
export function isStorable(text: string): boolean {
  return !text.includes('\u0000')
}

/** The message of a schema's fault: what came, cut to 80 characters, and what was expected. */
export function expected(what: string): (issue: { input?: unknown }) => string {
  return ({ input }) => `got ${JSON.stringify(input)?.slice(0, 80)}, expected ${what}`
}

/** How the values of a sort column read: what a cursor may hold of them. */
export type SortKind = 'instant' | 'count' | 'decimal'

/** A list, what it is sorted by, and which way. */
export type SortedList = { list: string; sort: string; kind: SortKind; order: 'asc' | 'desc' }

/** The sort value and the id of a page's last item. */
export type SortPosition = { value: string | number; id: string }

/** The cursor after an item of the list. */
export function cursorAt(sorted: SortedList, { value, id }: SortPosition): string {
  return encodeCursor(nameOf(sorted), [value, id])
}

/** The position in a cursor. Throws `invalid_cursor` for one of another list, sort or order. */
export function positionIn(
  sorted: SortedList,
  cursor: string,
  isId: (id: string) => boolean,
): SortPosition {
  const [value, id] = decodeCursor(nameOf(sorted), cursor, 2)
  if (typeof id === 'string' && isId(id) && value != null && holds[sorted.kind](value)) {
    return { value, id }
  }
  throw problem('invalid_cursor', {
    detail: `cursor: got "${cursor.slice(0, 80)}", expected a next_cursor as it was given`,
  })
}

const holds: Record<SortKind, (value: string | number) => boolean> = {
  instant: (value) => typeof value === 'string' && nsFromIso(value) !== undefined,
  count: (value) => Number.isSafeInteger(value),
  decimal: (value) => typeof value === 'string' && /^-?\d{1,11}(\.\d{1,9})?$/.test(value),
}

function nameOf({ list, sort, order }: SortedList): string {
  return `${list} by ${sort} ${order}`
}

function parameter<T>(about: { read: (text: string) => T | undefined; expected: string }) {
  return z.string().transform((text, context): T => {
    const value = about.read(text)
    if (value !== undefined) return value
    context.addIssue({ code: 'custom', message: expected(about.expected)({ input: text }) })
    return z.NEVER
  })
}

const isoPattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/

/** Reads an instant of the years 1970 to 2261 (ClickHouse's range at nanoseconds), else undefined. */
export function nsFromIso(text: string): bigint | undefined {
  const [, seconds, fraction = '', zone] = isoPattern.exec(text) ?? []
  const ms = Date.parse(`${seconds}${zone}`)
  if (!(ms >= 0 && ms < instantsEnd_ms)) return undefined
  return BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, '0'))
}
