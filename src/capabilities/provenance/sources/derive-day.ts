import type { Day, Value } from '../values/index.ts'
import type { Derivation } from './derive-number.ts'
import { findWithin, type Seen, type SeenIndex } from './seen.ts'

const day_ms = 86_400_000
const day_s = 86_400

/** Maximum dates, times and durations that are combined with each other. */
const operands_max = 80

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

/** Finds a seen date and a seen duration that give the date. */
export function deriveDay(
  value: Value,
  dates: readonly Seen[],
  durations: readonly Seen[],
): Derivation | undefined {
  const years = dates.flatMap(({ value: { days } }) => days?.[0]?.year ?? [])
  const bases = [...new Set(years)].slice(-years_max)
  for (const base of bases.length === 0 ? [undefined] : bases) {
    const found = deriveInYear(value, { dates, durations, base })
    if (found !== undefined) return found
  }
  return undefined
}

/** Maximum years that a date without year is taken to be in. */
const years_max = 4

type Parts = { dates: readonly Seen[]; durations: readonly Seen[]; base: number | undefined }

function deriveInYear(value: Value, { dates, durations, base }: Parts): Derivation | undefined {
  for (const day of value.days ?? []) {
    const target = dayNumber(day, base)
    if (target === undefined) continue
    for (const one of dates.slice(0, operands_max)) {
      const start = dayNumber(one.value.days?.[0] ?? { month: 1 }, base)
      if (start === undefined) continue
      const found = deriveFrom(one, Math.abs(target - start), durations)
      if (found !== undefined) return found
    }
  }
  return undefined
}

function deriveFrom(one: Seen, days: number, durations: readonly Seen[]): Derivation | undefined {
  if (days <= 1)
    return { operation: 'next day', formula: one.evidence.quote, operands: [one.evidence] }
  for (const duration of durations.slice(0, operands_max)) {
    const { amount } = duration.value
    const length =
      amount?.unit === '' ? (amount.written[0] ?? 0) : (amount?.readings[0] ?? 0) / day_s
    // Months and years have no fixed number of days.
    const slack = length >= 28 ? 1 + length * 0.003 : 1
    if (length >= 1 && Math.abs(days - length) <= slack) {
      const operands = [one.evidence, duration.evidence]
      return {
        operation: 'date',
        formula: operands.map(({ quote }) => quote).join(' ± '),
        operands,
      }
    }
  }
  return undefined
}

type Point = { at: number; isDay: boolean; seen: Seen }

/** Finds two seen dates or times between which a duration of the answer lies. */
export function deriveBetween(
  seconds: number,
  tolerance_s: number,
  values: readonly Seen[],
  hasZone = false,
): Derivation | undefined {
  const points = pointsFrom(values.slice(0, operands_max))
  for (const a of points) {
    for (const b of points) {
      if (a.isDay !== b.isDay || a === b) continue
      if (!isBetween(a, b, { seconds, tolerance_s, hasZone })) continue
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
    const { days, second } = seen.value
    const at = days?.[0] === undefined ? undefined : dayNumber(days[0], year)
    if (at !== undefined) return [{ at: at * day_s, isDay: true, seen }]
    return second === undefined ? [] : [{ at: second, isDay: false, seen }]
  })
}

type Length = { seconds: number; tolerance_s: number; hasZone: boolean }

/** The end may count, the next day may be meant, `1:37` may be minutes, and zones may differ. */
function isBetween(a: Point, b: Point, { seconds, tolerance_s, hasZone }: Length): boolean {
  const gap = b.at - a.at
  const isNear = (length: number) => length > 0 && Math.abs(length - seconds) <= tolerance_s
  if (isNear(gap) || isNear(gap + day_s)) return true
  if (a.isDay) return false
  return isNear(gap / 60) || (hasZone && Math.abs(gap - seconds) % 3600 === 0)
}

/** Finds the schedule of a crontab that runs at this second of the day. */
function findSchedule(target: number, { schedules }: SeenIndex): Seen | undefined {
  const found = schedules.find(({ minute, hour, step }) => {
    const rest = target - minute * 60
    return step === undefined ? rest === hour * 3600 : rest % (step * 3600) === 0
  })
  return found?.seen
}

/** Finds a seen time of day that is the same: in 12 hours, without seconds, in another zone. */
export function findTime(value: Value, index: SeenIndex, answerHasZone: boolean): Seen | undefined {
  const target = value.second ?? 0
  const hour = target / 3600
  if (Number.isInteger(hour)) {
    const bare = [hour, hour - 12].flatMap((n) =>
      ['written', 'inside'].map((key) => findWithin(index.numbers.get(key), n, n)),
    )
    const found = bare.find((entry) => entry !== undefined && entry.n > 0)
    if (found !== undefined) return found.seen
  }
  const scheduled = findSchedule(target, index)
  if (scheduled !== undefined) return scheduled
  const isToMinute = target % 60 === 0
  const hasZone = index.hasTimeZone || answerHasZone
  return index.times.find(({ value: { second = 0 } }) => {
    const other = isToMinute ? second - (second % 60) : second
    const gap = Math.abs(other - target)
    return gap === 0 || gap === day_s / 2 || (hasZone && gap % 3600 === 0)
  })
}
