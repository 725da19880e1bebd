import type { SeenText } from '../../values/index.ts'
import { listsOf } from './lists.ts'
import { readText, schedules_max, type TextReading } from './read-text.ts'
import { SearchableText } from './searchable-text.ts'
import type { Count, Entry, Seen, SeenIndex } from './seen.ts'
import { SeenTraits } from './seen-traits.ts'
import { counts_max } from './seen-value.ts'
import { Subjects } from './subjects.ts'

/** Maximum characters indexed of all texts; beyond, no value is called unsupported. */
const chars_max = 8_000_000
/** Maximum values indexed of all texts, each about 1 kB; beyond, no value is called unsupported. */
const values_max = 100_000

/** Reads and arranges everything the agent saw, up to a number of values. */
export function indexSeen(sources: readonly SeenText[], max = values_max): SeenIndex {
  const readings: TextReading[] = []
  const ownTexts: SearchableText[] = []
  let isComplete = true
  let left = chars_max
  let valuesLeft = max
  for (const { source, text: whole, complete = true, isOwn = false } of sources) {
    if (isOwn) {
      ownTexts.push(new SearchableText(source, whole.slice(0, left)))
      left = Math.max(0, left - whole.length)
      continue
    }
    const reading = readText({ source, text: whole }, { chars: left, values: valuesLeft })
    const { text } = reading.searchable
    left -= text.length
    valuesLeft -= reading.size
    if (!complete || text.length < whole.length) isComplete = false
    readings.push(reading)
  }
  const values = readings.flatMap((reading) => reading.values)
  let subjects: Subjects | undefined
  return {
    values,
    get subjects() {
      subjects ??= new Subjects(values)
      return subjects
    },
    texts: readings.map(({ searchable }) => searchable),
    ownTexts,
    isComplete,
    counts: joinCounts(readings),
    traits: new SeenTraits(values),
    ...arrange(values, readings),
    currencies: new Set(readings.flatMap(({ currencies }) => [...currencies])),
    hasTimeZone: readings.some(({ hasTimeZone }) => hasTimeZone),
    hasScale: readings.some(({ hasScale }) => hasScale),
  }
}

function joinCounts(readings: readonly TextReading[]): Map<number, Count[]> {
  const joined = new Map<number, Count[]>()
  for (const { counts } of readings) {
    for (const [length, more] of counts) {
      const known = joined.get(length) ?? []
      joined.set(length, [...known, ...more].slice(0, counts_max))
    }
  }
  return joined
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

function arrange(values: readonly Seen[], readings: readonly TextReading[]): Arranged {
  const times = values.filter(({ value }) => value.kind === 'time')
  const dates = values.filter(({ value }) => value.kind === 'date')
  return {
    numbers: arrangeNumbers(readings),
    codes: arrangeCodes(values),
    dates: arrangeDates(dates),
    times,
    points: distinct([...dates, ...times]),
    durations: distinct(readings.flatMap((reading) => reading.durations)),
    lists: listsOf(values),
    amounts: values.filter(({ value }) => value.amount !== undefined),
    schedules: readings.flatMap((reading) => reading.schedules).slice(0, schedules_max),
  }
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

function arrangeNumbers(readings: readonly TextReading[]): Map<string, Entry[]> {
  const numbers = new Map<string, Entry[]>()
  for (const reading of readings) {
    for (const [key, entry] of reading.numbers) add(numbers, key, entry)
  }
  for (const entries of numbers.values()) entries.sort((a, b) => a.n - b.n)
  return numbers
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
