/** The kind of a value; values of different kinds do not support each other. */
export type ValueKind =
  | 'number'
  | 'money'
  | 'percent'
  | 'quantity'
  | 'date'
  | 'time'
  | 'id'
  | 'version'
  | 'path'
  | 'url'
  | 'email'
  | 'quote'

/** Offsets in UTF-16 units: start, end. */
export type Span = readonly [start: number, end: number]

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
  /** Whether the last written digits are zeros, a fraction or a scale word ("2.3 million"). */
  isRounded: boolean
}

/** Where a value was seen. */
export type Evidence = { source: string; quote: string; at: Span }

/** The calendar day of a value; parts that the text leaves out are undefined. */
export type Day = { year?: number; month: number; day?: number }

/** A value read from a text. */
export type Value = {
  kind: ValueKind
  text: string
  at: Span
  /** The form in which two spellings of one value are equal. */
  normal: string
  amount?: Amount
  /** All readings of a date: `2/4/2025` has two. */
  days?: readonly Day[]
  /** Second of the day. */
  second?: number
  /** "about", "more than" or "less than" precedes the number. */
  hint?: 'about' | 'over' | 'under'
}

/** Text that the agent saw: a tool result, or a system or user message. */
export type SeenText = { source: string; text: string }

/** Returns a text in lower case without anything but letters and digits. */
export function compact(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
}

/** Returns a text as quotations are compared: no case, one kind of quotes, dashes and spaces. */
export function foldQuote(text: string): string {
  return text
    .toLowerCase()
    .replace(/[‘’‚‛`´]/g, "'")
    .replace(/[“”„«»]/g, '"')
    .replace(/[‐-―−]/g, '-')
    .replace(/[\s\u00a0\u202f]+/g, ' ')
    .replace(/[*_]/g, '')
    .trim()
}
