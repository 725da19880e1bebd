import { traceIdFrom } from '../../../kernel/ids.ts'
import { isStorable, nsFromIso } from '../../../model/list-query.ts'
import type { FieldType } from './field.ts'
import { queryLimits } from './limits.ts'

/** A value that a statement is given apart; times are nanoseconds since 1970. */
export type Scalar = string | number | bigint | boolean

/** How to read a value of a type from JSON, and what to say when it is none. */
type Reader = { read: (value: unknown) => Scalar | undefined; expected: string }

/** Reads values by the type of the field that they are compared with. */
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
    read: decimal,
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

/** Exponents are written out: a number of JSON may have been 1e-7. */
function decimal(value: unknown): string | undefined {
  const text = typeof value === 'number' ? plain(value) : value
  if (typeof text !== 'string' || !/^-?\d{1,18}(\.\d{1,9})?$/.test(text)) return undefined
  return text
}

function plain(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(9).replace(/0+$/, '')
}
