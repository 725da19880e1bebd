import { findCurrency, numberWords, type SeenText, type Value } from '../../values/index.ts'
import { listsOf } from './lists.ts'
import { readSource } from './read-source.ts'
import { SearchableText } from './searchable-text.ts'
import type { Count, Entry, Schedule, Seen, SeenIndex } from './seen.ts'
import { SeenTraits } from './seen-traits.ts'
import { Subjects } from './subjects.ts'

/** Maximum characters indexed of all texts; beyond, no value is called unsupported. */
const chars_max = 8_000_000
/** Maximum values indexed of all texts, each about 1 kB; beyond, no value is called unsupported. */
const values_max = 100_000

/** Reads and arranges everything the agent saw, up to a number of values. */
export function indexSeen(sources: readonly SeenText[], max = values_max): SeenIndex {
  const found: Seen[][] = []
  const counts = new Map<number, Count[]>()
  const texts: SearchableText[] = []
  const ownTexts: SearchableText[] = []
  let isComplete = true
  let left = chars_max
  let valuesLeft = max
  for (const { source, text: whole, complete = true, isOwn = false } of sources) {
    const cut = cutAfterValues(whole.slice(0, left), valuesLeft)
    const { text } = cut
    left -= text.length
    valuesLeft -= cut.values
    if (!isOwn && (!complete || text.length < whole.length)) isComplete = false
    if (!isOwn) found.push(readSource({ source, text }, counts))
    const list = isOwn ? ownTexts : texts
    list.push(new SearchableText(source, text))
  }
  const values = found.flat()
  let subjects: Subjects | undefined
  return {
    values,
    get subjects() {
      subjects ??= new Subjects(values)
      return subjects
    },
    texts,
    ownTexts,
    isComplete,
    counts,
    traits: new SeenTraits(values),
    ...arrange(values, texts),
    ...marksOf(texts),
  }
}

/** Starts of what may be a value: digits, an e-mail address, a path. */
const valueMark = /\d+|[@/]/g

/**
 * Cuts a text behind its first `max` values, so that a table of millions of numbers takes bounded
 * time and memory. The count is an estimate: a date counts as three numbers.
 */
function cutAfterValues(text: string, max: number): { text: string; values: number } {
  const marks = countUpTo(text, valueMark, max)
  const words = countUpTo(marks.text, numberWords, max - marks.count)
  return { text: words.text, values: marks.count + words.count }
}

function countUpTo(text: string, pattern: RegExp, max: number): { text: string; count: number } {
  let count = 0
  for (const { index } of text.matchAll(pattern)) {
    if (count >= max) return { text: text.slice(0, index), count }
    count += 1
  }
  return { text, count }
}

type Arranged = Pick<
  SeenIndex,
  | 'numbers'
  | 'codes'
  | 'dates'
  | 'times'
  | 'points'
  | 'durations'
  | 'lists'
  | 'amounts'
  | 'schedules'
>

function arrange(values: readonly Seen[], texts: SeenIndex['texts']): Arranged {
  const times = values.filter(({ value }) => value.kind === 'time')
  const dates = values.filter(({ value }) => value.kind === 'date')
  return {
    numbers: arrangeNumbers(values, texts),
    codes: arrangeCodes(values),
    dates: arrangeDates(dates),
    times,
    points: distinct([...dates, ...times]),
    durations: distinct(values.filter(isDuration)),
    lists: listsOf(values),
    amounts: values.filter(({ value }) => value.amount !== undefined),
    schedules: texts.flatMap(schedulesOf).slice(0, schedules_max),
  }
}

const cron =
  /(?<![\w*/])(?<minute>\d{1,2}) (?<hour>\d{1,2}|\*\/(?<step>\d{1,2})) [\d*/,-]{1,20} [\d*/,A-Za-z-]{1,20} [\d*/,A-Za-z-]{1,20}/g
const schedules_max = 50

function schedulesOf({ source, text }: SeenIndex['texts'][number]): Schedule[] {
  return [...text.matchAll(cron).take(schedules_max)].map((match) => {
    const { minute, hour, step } = match.groups ?? {}
    const at = [match.index, match.index + match[0].length] as const
    const value: Value = { kind: 'time', text: match[0], at, normal: match[0] }
    const seen = { value, evidence: { source, quote: match[0], at }, scopes: [] }
    const every = step === undefined ? {} : { step: Number(step) }
    return { minute: Number(minute), hour: Number(hour), ...every, seen }
  })
}

/** Maximum distinct dates and times, and durations, that the calendar combines. */
const points_max = 60

function distinct(values: readonly Seen[]): Seen[] {
  const found = new Map<string, Seen>()
  for (const seen of values) {
    if (found.size >= points_max) break
    found.set(`${seen.value.kind} ${seen.value.normal}`, seen)
  }
  return [...found.values()]
}

function add<K, V>(map: Map<K, V[]>, key: K, item: V): void {
  const items = map.get(key)
  if (items === undefined) map.set(key, [item])
  else items.push(item)
}

function arrangeNumbers(values: readonly Seen[], texts: SeenIndex['texts']): Map<string, Entry[]> {
  const numbers = new Map<string, Entry[]>()
  for (const seen of values) {
    for (const [key, n] of keysOf(seen.value)) add(numbers, key, { n, seen })
  }
  for (const { source, text } of texts) {
    for (const entry of numbersInWords(source, text)) add(numbers, 'inside', entry)
  }
  for (const entries of numbers.values()) entries.sort((a, b) => a.n - b.n)
  return numbers
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

function arrangeCodes(values: readonly Seen[]): Map<string, Seen> {
  const codes = values.filter(
    ({ value }) => value.amount === undefined && !/^(?:date|time)$/.test(value.kind),
  )
  return new Map(codes.map((seen) => [seen.value.normal, seen]))
}

function arrangeDates(values: readonly Seen[]): Map<string, Seen[]> {
  const dates = new Map<string, Seen[]>()
  for (const seen of values) {
    for (const { month, day } of seen.value.days ?? []) {
      add(dates, `${month}-${day ?? ''}`, seen)
      if (day !== undefined) add(dates, `${month}-`, seen)
    }
  }
  return dates
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

const inWord = /(?<=[\p{L}_*])\d{1,9}(?:\.\d{1,6})?/gu

/** Returns the numbers that follow letters: 1.3 in `TLSv1.3`. */
function* numbersInWords(source: string, text: string): Generator<Entry> {
  for (const match of text.matchAll(inWord)) {
    const at = [match.index, match.index + match[0].length] as const
    const value: Value = { kind: 'number', text: match[0], at, normal: match[0] }
    yield {
      n: Number(match[0]),
      seen: { value, evidence: { source, quote: match[0], at }, scopes: [] },
    }
  }
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

const currencyWord =
  /[€$£¥₹]|(?<![\p{L}])(?:EUR|USD|GBP|CHF|SEK|NOK|DKK|PLN|INR|JPY|CAD|AUD|euros?|dollars?|pounds?|francs?|franken|crowns?|kroner|kronor|kr)(?![\p{L}])/giu
const timeZone =
  /\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})|\b(?:UTC|GMT|CES?T|[ECMP][SD]T|JST|ET|PT)\b/

const scaleWord = /\b(?:m|bn|k|million|billion|thousand|mio|mrd)\b/i

function marksOf(
  texts: SeenIndex['texts'],
): Pick<SeenIndex, 'currencies' | 'hasTimeZone' | 'hasScale'> {
  const currencies = new Set<string>()
  for (const { text } of texts) {
    for (const [word] of text.matchAll(currencyWord)) {
      const name = findCurrency(word)
      if (name !== undefined) currencies.add(name)
    }
  }
  return {
    currencies,
    hasTimeZone: texts.some(({ text }) => timeZone.test(text)),
    hasScale: texts.some(({ text }) => scaleWord.test(text)),
  }
}
