import type { Range } from '../../text/index.ts'
import { compact } from '../../text/index.ts'
import type { Day, Value } from '../../values/index.ts'
import { firstOf, type SeenIndex } from '../seen/seen.ts'
import type { Derivation } from './derive-number.ts'

const names = [
  'sunday|sun|sonntag|dimanche|domingo',
  'monday|mon|montag|lundi|lunes',
  'tuesday|tues|tue|dienstag|mardi|martes',
  'wednesday|wed|mittwoch|mercredi|miércoles',
  'thursday|thurs|thur|thu|donnerstag|jeudi|jueves',
  'friday|fri|freitag|vendredi|viernes',
  'saturday|sat|samstag|sonnabend|samedi|sábado',
]
const weekdayByName = new Map(
  names.flatMap((list, at) => list.split('|').map((name) => [name, at] as const)),
)
const name = `(?<name>${[...weekdayByName.keys()].join('|')})(?!\\p{L})`

const before = new RegExp(`(?<!\\p{L})${name}[.,]{0,2} (?:the |den |dem |el |le )?$`, 'iu')
const behind = new RegExp(
  `^ ?\\(${name}\\.?\\)|^,? (?:(?:is|was|which is|ist|war) )?(?:a|ein) ${name.replace('name', 'name2')}`,
  'iu',
)
const weekday_chars_max = 24

/** A weekday that an answer puts beside a date. */
export type Weekday = { text: string; at: Range; weekday: number; date: Value }

/** Reads the weekdays beside the dates of a text: "Tuesday, 9 March", "9 March (Tue)". */
export function readWeekdays(text: string, values: readonly Value[]): Weekday[] {
  return values.flatMap((date) => (date.kind === 'date' ? (weekdayBeside(text, date) ?? []) : []))
}

function weekdayBeside(text: string, date: Value): Weekday | undefined {
  const [start, end] = date.at
  const from = Math.max(0, start - weekday_chars_max)
  const first = before.exec(text.slice(from, start))
  if (first !== null) return weekdayFrom(text, from + first.index, first.groups?.['name'], date)
  const next = behind.exec(text.slice(end, end + weekday_chars_max))
  const written = next?.groups?.['name'] ?? next?.groups?.['name2'] ?? ''
  if (next === null) return undefined
  return weekdayFrom(text, end + next[0].lastIndexOf(written), written, date)
}

function weekdayFrom(text: string, start: number, written = '', date: Value): Weekday | undefined {
  const weekday = weekdayByName.get(written.toLowerCase())
  if (weekday === undefined) return undefined
  const at = [start, start + written.length] as const
  return { text: text.slice(...at), at, weekday, date }
}

/**
 * Finds where a weekday beside a supported date comes from: it was seen there, or it follows from
 * the calendar. Returns `contradicted` if it does not, and undefined if no year is known.
 */
export function explainWeekday(
  { text, at, weekday, date }: Weekday,
  index: SeenIndex,
): Derivation | 'contradicted' | undefined {
  const letters = compact(at[0] < date.at[0] ? text + date.text : date.text + text)
  const seen = firstOf(index.texts, (one) => one.findCompact(letters, true))
  if (seen !== undefined) return { operation: 'weekday', formula: seen.quote, operands: [seen] }
  const days = datesWithYear(date, index)
  if (days.length === 0) return undefined
  if (!days.some((day) => weekdayOf(day) === weekday)) return 'contradicted'
  const evidence = index.dates.get(keyOf(date.days?.[0]))?.[0]?.evidence
  const operands = evidence === undefined ? [] : [evidence]
  return { operation: 'weekday', formula: date.text, operands }
}

function keyOf(day: Day | undefined): string {
  return `${day?.month}-${day?.day ?? ''}`
}

type FullDay = { year: number; month: number; day: number }

/** Returns the readings of a date with their own year, or with each year that was seen. */
function datesWithYear({ days = [] }: Value, { numbers }: SeenIndex): FullDay[] {
  const written = (numbers.get('written') ?? []).filter(({ n }) => n >= 1900 && n <= 2100)
  const seenYears = [...(numbers.get('year') ?? []), ...written].map(({ n }) => n)
  return days.flatMap(({ year, month, day }) => {
    if (day === undefined) return []
    const years = year !== undefined ? [year] : seenYears
    return [...new Set(years)].map((one) => ({ year: one, month, day }))
  })
}

function weekdayOf({ year, month, day }: FullDay): number {
  return new Date(Date.UTC(year, month - 1, day)).getUTCDay()
}
