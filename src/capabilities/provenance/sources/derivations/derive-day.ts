import type { Day, Value } from '../../values/index.ts'
import { findWithin, firstOf, type Seen, type SeenIndex } from '../seen/seen.ts'
import type { Derivation } from './derive-number.ts'
import type { Operation } from './read-operations.ts'

const day_ms = 86_400_000
const day_s = 86_400
const month_s = 30.4375 * day_s

/** Returns the day's number since 1970; undefined if a part is missing or the day does not exist. */
function dayNumber({ year, month, day }: Day, defaultYear?: number): number | undefined {
  const full = year ?? defaultYear
  if (full === undefined || day === undefined) return undefined
  const time_ms = Date.UTC(full, month - 1, day)
  return new Date(time_ms).getUTCMonth() === month - 1 ? time_ms / day_ms : undefined
}

/** Finds a seen date that is the same day; a year missing on one side is not compared. */
export function findDay(index: SeenIndex, value: Value): Seen | undefined {
  for (const day of value.days ?? []) {
    const seen = index.dates.get(`${day.month}-${day.day ?? ''}`) ?? []
    const found = seen.find(({ value: other }) =>
      other.days?.some(
        (one) => one.year === undefined || day.year === undefined || one.year === day.year,
      ),
    )
    // The year may have been seen apart from the day.
    const isYearSeen = index.numbers.get('year')?.some(({ n }) => n === day.year) === true
    if (found !== undefined) return found
    if (isYearSeen && seen[0] !== undefined && day.day !== undefined && !hasOtherYear(seen, day))
      return seen[0]
  }
  return undefined
}

function hasOtherYear(seen: readonly Seen[], { year }: Day): boolean {
  return seen.every(({ value }) =>
    value.days?.every((one) => one.year !== undefined && one.year !== year),
  )
}

/** Dates and durations that a value may be derived from. */
export type Calendar = { dates: readonly Seen[]; durations: readonly Seen[] }

/** Finds a seen date and a seen duration that give the date, or the day beside a seen one. */
export function deriveDay(
  value: Value,
  { dates, durations }: Calendar,
  named: ReadonlySet<Operation>,
): Derivation | undefined {
  const years = dates.flatMap(({ value: { days } }) => days?.[0]?.year ?? [])
  const bases = [...new Set(years)].slice(-years_max)
  for (const base of bases.length === 0 ? [any_year] : bases) {
    const found = firstOf(value.days ?? [], (day) =>
      firstOf(dates, (one) => {
        const start = dayNumber(one.value.days?.[0] ?? { month: 1 }, base)
        const target = dayNumber(day, base)
        if (start === undefined || target === undefined) return undefined
        return deriveFrom({ one, start, target }, durations, named)
      }),
    )
    if (found !== undefined) return found
  }
  return undefined
}

/** The year of dates of which none says its year; it has no leap day. */
const any_year = 2027

/** Maximum years that a date without year is taken to be in. */
const years_max = 4

type Way = { one: Seen; start: number; target: number }

function deriveFrom(
  { one, start, target }: Way,
  durations: readonly Seen[],
  named: ReadonlySet<Operation>,
): Derivation | undefined {
  const days = Math.abs(target - start)
  if (days === 1 && named.has('next_day'))
    return { operation: 'next day', formula: one.evidence.quote, operands: [one.evidence] }
  if (!named.has('date')) return undefined
  const duration = durations.find(({ value }) => isGap(value, start, target))
  if (duration === undefined) return undefined
  const operands = [one.evidence, duration.evidence]
  return { operation: 'date', formula: operands.map(({ quote }) => quote).join(' ± '), operands }
}

/** Months and years are those of the calendar; a term of months may end the day before. */
function isGap({ amount }: Value, start: number, target: number): boolean {
  const seconds =
    amount?.unit === '' ? (amount.written[0] ?? 0) * day_s : (amount?.readings[0] ?? 0)
  const months = seconds / month_s
  if (months >= 1 && Math.abs(months - Math.round(months)) < 1e-6) {
    return [Math.round(months), -Math.round(months)].some((count) => {
      const moved = addMonths(start, count)
      return target === moved || target === moved - 1
    })
  }
  return seconds >= day_s && Math.abs(target - start) * day_s === seconds
}

function addMonths(day: number, months: number): number {
  const date = new Date(day * day_ms)
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months + 1, 0))
  const inMonth = Math.min(date.getUTCDate(), last.getUTCDate())
  return Date.UTC(last.getUTCFullYear(), last.getUTCMonth(), inMonth) / day_ms
}

type Point = { at: number; isDay: boolean; seen: Seen }

/** Finds two seen dates or times between which a duration of the answer lies. */
export function deriveBetween(
  seconds: number,
  tolerance_s: number,
  values: readonly Seen[],
): Derivation | undefined {
  const points = pointsFrom(values)
  for (const a of points) {
    for (const b of points) {
      if (a.isDay !== b.isDay || a === b) continue
      if (!isBetween(a, b, { seconds, tolerance_s })) continue
      const operands = [a.seen.evidence, b.seen.evidence]
      const formula = `${b.seen.evidence.quote} − ${a.seen.evidence.quote}`
      return { operation: 'difference', formula, operands }
    }
  }
  return undefined
}

function pointsFrom(values: readonly Seen[]): Point[] {
  const year = values.find(({ value: { days } }) => days?.[0]?.year !== undefined)?.value.days?.[0]
    ?.year
  return values.flatMap((seen): Point[] => {
    const { days, second, zone_s = 0 } = seen.value
    const at = days?.[0] === undefined ? undefined : dayNumber(days[0], year)
    if (at !== undefined) return [{ at: at * day_s, isDay: true, seen }]
    return second === undefined ? [] : [{ at: second - zone_s, isDay: false, seen }]
  })
}

type Length = { seconds: number; tolerance_s: number }

/** The end may be on the next day, and `1:37` may be minutes. */
function isBetween(a: Point, b: Point, { seconds, tolerance_s }: Length): boolean {
  const gap = b.at - a.at
  const isNear = (length: number) => length > 0 && Math.abs(length - seconds) <= tolerance_s
  if (isNear(gap)) return true
  return !a.isDay && (isNear(gap + day_s) || isNear(gap / 60))
}

/** Finds the schedule of a crontab that runs at this second of the day. */
function findSchedule(target: number, { schedules }: SeenIndex): Seen | undefined {
  const found = schedules.find(({ minute, hour, step }) => {
    const rest = target - minute * 60
    return step === undefined ? rest === hour * 3600 : rest % (step * 3600) === 0
  })
  return found?.seen
}

/** Finds a seen time of day that is the same: in 12 hours, without seconds, in a named zone. */
export function findTime(value: Value, index: SeenIndex): Seen | undefined {
  const target = value.second ?? 0
  const hour = target / 3600
  // "9 am" may have been seen as a bare 9.
  if (Number.isInteger(hour) && !value.text.includes(':')) {
    const hours = hour > 12 ? [hour, hour - 12] : [hour]
    const bare = hours.map((n) => findWithin(index.numbers.get('written'), n, n))
    const found = bare.find((entry) => entry !== undefined && entry.n > 0)
    if (found !== undefined) return found.seen
  }
  const scheduled = findSchedule(target, index)
  if (scheduled !== undefined) return scheduled
  return index.times.find(({ value: other }) => isSameTime(value, other))
}

function isSameTime(one: Value, other: Value): boolean {
  const target = one.second ?? 0
  const seen = other.second ?? 0
  const gap = Math.abs((target % 60 === 0 ? seen - (seen % 60) : seen) - target)
  const isInOneZone = one.zone_s === undefined || other.zone_s === undefined
  if (isInOneZone || one.zone_s === other.zone_s)
    return (
      gap === 0 || (gap === day_s / 2 && (one.isHalfOpen === true || other.isHalfOpen === true))
    )
  const shift = (one.zone_s ?? 0) - (other.zone_s ?? 0)
  const moved = (((seen - (seen % 60) + shift) % day_s) + day_s) % day_s
  return moved === target - (target % 60)
}
