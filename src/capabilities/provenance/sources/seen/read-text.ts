import { findCurrency, numberWords, type SeenText, type Value } from '../../values/index.ts'
import { readSource } from './read-source.ts'
import { SearchableText } from './searchable-text.ts'
import type { Count, Entry, Schedule, Seen } from './seen.ts'

/** The values and marks of one text, before they are arranged with those of others. */
export type TextReading = {
  searchable: SearchableText
  values: readonly Seen[]
  /** Lengths of its lists and counts of its equal cells. */
  counts: ReadonlyMap<number, readonly Count[]>
  /** Its numbers by the unit or the name of their list; `inside` are those that follow letters, too. */
  numbers: readonly (readonly [key: string, entry: Entry])[]
  durations: readonly Seen[]
  schedules: readonly Schedule[]
  currencies: ReadonlySet<string>
  hasTimeZone: boolean
  /** Whether a heading may say "million". */
  hasScale: boolean
  /** An estimate of its values: a date counts as three numbers. */
  size: number
}

/** Bound of the memory of remembered texts, in kB: a value takes about one. */
const remembered_kb_max = 20_000
const remembered = new Map<string, TextReading>()
let remembered_kb = 0

/**
 * Reads a text, or its beginning if it has more characters or values than are left. Each answer of a task
 * is compared with all texts before it, so the texts of the tasks at work are remembered.
 */
export function readText(
  { source, text }: SeenText,
  left: { chars: number; values: number },
): TextReading {
  const known = remembered.get(text)
  const isWhole = known !== undefined && text.length <= left.chars && known.size <= left.values
  if (isWhole && known.searchable.source === source) return known
  const cut = cutAfterValues(text.slice(0, left.chars), left.values)
  const reading = read(source, cut)
  remember(cut.text, reading)
  return reading
}

function remember(text: string, reading: TextReading): void {
  const kb = 1 + reading.values.length + text.length / 500
  if (kb > remembered_kb_max) return
  if (remembered_kb + kb > remembered_kb_max) {
    remembered.clear()
    remembered_kb = 0
  }
  remembered.set(text, reading)
  remembered_kb += kb
}

function read(source: string, { text, size }: Cut): TextReading {
  const counts = new Map<number, Count[]>()
  const values = readSource({ source, text }, counts)
  return {
    searchable: new SearchableText(source, text),
    values,
    counts,
    numbers: [...values.flatMap(entriesOf), ...numbersInWords(source, text)],
    durations: values.filter(isDuration),
    schedules: schedulesOf(source, text),
    currencies: currenciesOf(text),
    hasTimeZone: timeZone.test(text),
    hasScale: scaleWord.test(text),
    size,
  }
}

/** A text, and an estimate of its values. */
type Cut = { text: string; size: number }

/** Starts of what may be a value: digits, an e-mail address, a path. */
const valueMark = /\d+|[@/]/g

/**
 * Cuts a text behind its first `max` values, so that a table of millions of numbers takes bounded
 * time and memory.
 */
function cutAfterValues(text: string, max: number): Cut {
  const marks = countUpTo(text, valueMark, max)
  const words = countUpTo(marks.text, numberWords, max - marks.count)
  return { text: words.text, size: marks.count + words.count }
}

function countUpTo(text: string, pattern: RegExp, max: number): { text: string; count: number } {
  let count = 0
  for (const { index } of text.matchAll(pattern)) {
    if (count >= max) return { text: text.slice(0, index), count }
    count += 1
  }
  return { text, count }
}

const cron =
  /(?<![\w*/])(?<minute>\d{1,2}) (?<hour>\d{1,2}|\*\/(?<step>\d{1,2})) [\d*/,-]{1,20} [\d*/,A-Za-z-]{1,20} [\d*/,A-Za-z-]{1,20}/g
/** Maximum schedules of a text, and of all. */
export const schedules_max = 50

function schedulesOf(source: string, text: string): Schedule[] {
  return [...text.matchAll(cron).take(schedules_max)].map((match) => {
    const { minute, hour, step } = match.groups ?? {}
    const at = [match.index, match.index + match[0].length] as const
    const value: Value = { kind: 'time', text: match[0], at, normal: match[0] }
    const seen = { value, evidence: { source, quote: match[0], at }, scopes: [] }
    const every = step === undefined ? {} : { step: Number(step) }
    return { minute: Number(minute), hour: Number(hour), ...every, seen }
  })
}

const inWord = /(?<=[\p{L}_*])\d{1,9}(?:\.\d{1,6})?/gu

/** Returns the numbers that follow letters: 1.3 in `TLSv1.3`. */
function* numbersInWords(source: string, text: string): Generator<readonly [string, Entry]> {
  for (const match of text.matchAll(inWord)) {
    const at = [match.index, match.index + match[0].length] as const
    const value: Value = { kind: 'number', text: match[0], at, normal: match[0] }
    const seen = { value, evidence: { source, quote: match[0], at }, scopes: [] }
    yield ['inside', { n: Number(match[0]), seen }]
  }
}

const currencyWord =
  /[€$£¥₹]|(?<![\p{L}])(?:EUR|USD|GBP|CHF|SEK|NOK|DKK|PLN|INR|JPY|CAD|AUD|euros?|dollars?|pounds?|francs?|franken|crowns?|kroner|kronor|kr)(?![\p{L}])/giu
const timeZone =
  /\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})|\b(?:UTC|GMT|CES?T|[ECMP][SD]T|JST|ET|PT)\b/
const scaleWord = /\b(?:m|bn|k|million|billion|thousand|mio|mrd)\b/i

function currenciesOf(text: string): Set<string> {
  const currencies = new Set<string>()
  for (const [word] of text.matchAll(currencyWord)) {
    const name = findCurrency(word)
    if (name !== undefined) currencies.add(name)
  }
  return currencies
}

function entriesOf(seen: Seen): (readonly [key: string, entry: Entry])[] {
  return keysOf(seen.value).map(([key, n]) => [key, { n, seen }])
}

function keysOf(value: Value): (readonly [key: string, n: number])[] {
  const { amount, days = [], text } = value
  const years = days.flatMap(({ year }) => (year === undefined ? [] : [['year', year] as const]))
  const dayKeys = days.flatMap(({ day }) => (day === undefined ? [] : [['day', day] as const]))
  if (amount === undefined) {
    // A day without separators may also be a number.
    const n = Number(text)
    if (/^\d{8}$/.test(text)) return [...years, ...dayKeys, ['', n], ['written', n]]
    return [...years, ...dayKeys, ...numbersInside(value).map((n) => ['inside', n] as const)]
  }
  const { readings, written, unit } = amount
  // "401 512" may be two numbers.
  const inside = text.includes(' ') ? (text.match(/\d{1,15}(?:\.\d{1,6})?/g) ?? []).map(Number) : []
  return [
    ...readings.map((n) => [unit, n] as const),
    ...written.map((n) => ['written', n] as const),
    ...inside.map((n) => ['inside', n] as const),
  ]
}

/** Digits of a number inside a longer id or URL; a short one alone is the number of a thing. */
const inside_digits_min = 3

/**
 * Returns the numbers inside an id, a version or an address: line 88 of `pages.ts:88`, 12 of `A12`.
 * The parts of dates and times do not count as numbers of their own.
 */
function numbersInside({ text, kind }: Value): number[] {
  if (kind === 'quote' || kind === 'date' || kind === 'time') return []
  const all = text.match(/\d{1,15}(?:\.\d{1,6})?/g) ?? []
  const isPlain = kind === 'version' || /^[^\d]*\d+(?:[.:]\d+)?$|:\d+$/.test(text)
  return all
    .filter((one, at) => one.length >= inside_digits_min || (isPlain && at === all.length - 1))
    .map(Number)
}

const lengthColumn = /day|night|week|month|term|period|notice|window|valid|within|lead/i

/** A duration, or a whole number of a column that counts days by its name. */
function isDuration({ value: { amount }, column = '' }: Seen): boolean {
  if (amount?.unit === 'duration') return true
  const [n = 0] = amount?.written ?? []
  return (
    amount?.unit === '' && Number.isInteger(n) && n > 1 && n <= 366 && lengthColumn.test(column)
  )
}
