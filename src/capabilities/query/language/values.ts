import { traceIdFrom } from '../../../kernel/ids.ts'
import { isStorable, nsFromIso } from '../../../model/list-query.ts'
import type { FieldType } from './field.ts'
import { queryLimits } from './limits.ts'

/** A parameter of a statement; times are nanoseconds since 1970. */
export type Scalar = string | number | bigint | boolean

/** Reads a value of one type from JSON; undefined when it is not `expected`. */
type Reader = { read: (value: unknown) => Scalar | undefined; expected: string }

/** The readers of values, by the type of the field that they are compared with. */
export const valueReaders: Readonly<Record<FieldType, Reader>> = {
  text: {
    read: (value) => (isText(value) ? value : undefined),
    expected: `text of at most ${queryLimits.text_characters_max} characters, no U+0000`,
  },
  uuid: {
    read: (value) => (typeof value === 'string' ? traceIdFrom(value) : undefined),
    expected: 'a trace id: a UUID or 32 hex digits',
  },
  integer: {
    read: (value) => (Number.isSafeInteger(value) ? Number(value) : undefined),
    expected: 'a whole number',
  },
  decimal: {
    read: readDecimal,
    expected: 'a decimal as text or a number, at most 9 digits after the point',
  },
  float: {
    read: (value) => (typeof value === 'number' ? value : undefined),
    expected: 'a number',
  },
  time: {
    read: (value) => (typeof value === 'string' ? nsFromIso(value) : undefined),
    expected: 'an ISO 8601 instant from 1970 to 2261 with Z or an offset',
  },
  bool: {
    read: (value) => (typeof value === 'boolean' ? value : undefined),
    expected: 'true or false',
  },
  list: {
    read: (value) => (isText(value) ? value : undefined),
    expected: `text of at most ${queryLimits.text_characters_max} characters, no U+0000`,
  },
  json: { read: () => undefined, expected: 'no value' },
}

function isText(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length <= queryLimits.text_characters_max &&
    isStorable(value) &&
    value.isWellFormed()
  )
}

/** Reads a decimal. Writes exponents out: JSON may hold 1e-7. */
function readDecimal(value: unknown): string | undefined {
  const text = typeof value === 'number' ? withoutExponent(value) : value
  if (typeof text !== 'string' || !/^-?\d{1,18}(\.\d{1,9})?$/.test(text)) return undefined
  return text
}

function withoutExponent(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(9).replace(/0+$/, '')
}

/** The operators of conditions. */
export const operators = [
  'eq',
  'ne',
  'gt',
  'gte',
  'lt',
  'lte',
  'in',
  'not_in',
  'contains',
  'starts_with',
  'exists',
] as const

export type Operator = (typeof operators)[number]

const ordered = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte'] as const

/** The operators that fields of each type take. */
export const operatorsByType: Readonly<Record<FieldType, readonly Operator[]>> = {
  text: operators,
  uuid: ['eq', 'ne', 'in', 'not_in', 'exists'],
  integer: [...ordered, 'in', 'not_in', 'exists'],
  decimal: [...ordered, 'exists'],
  float: [...ordered, 'exists'],
  time: [...ordered, 'exists'],
  bool: ['eq', 'ne', 'exists'],
  list: ['contains', 'exists'],
  json: ['exists'],
}
