import type { Range } from '../text/index.ts'
import type { Bound } from './hedges.ts'

/** The kind of a value; values of different kinds do not support each other. */
export type ValueKind =
  | 'number'
  | 'money'
  | 'percent'
  | 'quantity'
  | 'date'
  | 'time'
  | 'weekday'
  | 'id'
  | 'version'
  | 'path'
  | 'url'
  | 'email'
  | 'quote'

/** The numeric reading of a value, in the base unit of its dimension. */
export type Amount = {
  /** The readings: `1.234` is 1234 in German and 1.234 in English. */
  readings: readonly number[]
  /** The readings in the unit as written: 30 for "30 days". */
  written: readonly number[]
  /** A currency, `%`, a dimension (`mass`), `count` (a noun follows) or '' (unit unknown). */
  unit: string
  /** The factor of a scale word: 1e6 for "million". */
  scale: number
  /** Half of the last written digit: what rounding may hide. */
  half: number
  /** Offset of the first figure or number word: a currency's sign may precede it. */
  from: number
  /** The word after a number whose unit is unknown: `seats`. */
  noun?: string | undefined
  /** Whether the last written digits are zeros, a fraction or a scale word ("2.3 million"). */
  isRounded: boolean
}

/** Where a value was seen. */
export type Evidence = { source: string; quote: string; at: Range }

/** The calendar day of a value; parts that the text leaves out are undefined. */
export type Day = { year?: number; month: number; day?: number }

/** A value read from a text. */
export type Value = {
  kind: ValueKind
  text: string
  at: Range
  /** The form in which two spellings of one value are equal. */
  normal: string
  amount?: Amount
  /** All readings of a date: `2/4/2025` has two. */
  days?: readonly Day[]
  /** Second of the day. */
  second?: number
  /** Seconds by which the zone of a time is ahead of UTC, if it is named. */
  zone_s?: number
  /** Whether a time may be meant in 12 hours, without saying which half. */
  isHalfOpen?: boolean
  /** "at least", "more than" and the like precede the number. */
  bound?: Bound | undefined
  /** "about" and the like precede the number. */
  isAbout?: boolean
}

/** Text that the agent saw: a tool result, or a system or user message. */
export type SeenText = {
  source: string
  text: string
  /** False if a part is missing: cut contents, images, contents that are not recorded. */
  complete?: boolean
  /** True for arguments of the agent's own calls: they support nothing and raise no doubt. */
  isOwn?: boolean
}
