import type { Amount, Value } from '../../values/index.ts'
import { toleranceOf } from '../lookup/find-number.ts'
import type { Context, Operands } from '../lookup/operands.ts'
import { type Entry, findWithin, firstOf, type Seen, type SeenIndex } from '../seen/seen.ts'
import { type Calendar, deriveBetween, deriveDay } from './derive-day.ts'
import { type Derivation, deriveNumber, type Target } from './derive-number.ts'
import type { Operation } from './read-operations.ts'
import { deriveWritten } from './written-sum.ts'

/** The operands of a value, and the operations that its sentence names. */
export type Means = { operands: Operands; named: ReadonlySet<Operation> }

/** Derives a value by one named operation: from the calendar, or from numbers. */
export function derive(value: Value, context: Context, means: Means): Derivation | undefined {
  const calendar = calendarOf(value, context)
  if (value.kind === 'date') return deriveDay(value, calendar, means.named)
  if (value.second !== undefined) return deriveClock(value.second, calendar)
  if (value.amount === undefined) return undefined
  const calculation = deriveWritten(value, context.text, context.supported)
  if (calculation !== undefined) return calculation
  return isYear(value) ? undefined : deriveAmount(value, context, { ...means, calendar })
}

/** Characters of the answer before and behind a value whose dates and durations belong to it. */
const near_chars = 240
/** Dates, times and durations that are all combined with each other; of more, those named nearby. */
const points_max = 6

/** Dates, times and durations that the answer names nearby, or that are all that was seen. */
function calendarOf({ at: [start] }: Value, { index, supported }: Context): Calendar {
  const near = supported.filter(({ value }) => Math.abs(value.at[0] - start) <= near_chars)
  const points = near.filter(isPoint)
  const durations = near.filter(isDuration)
  return {
    dates: index.points.length <= points_max ? [...points, ...index.points] : points,
    durations:
      index.durations.length <= points_max ? [...durations, ...index.durations] : durations,
  }
}

function isPoint({ value: { kind } }: Seen): boolean {
  return kind === 'date' || kind === 'time'
}

function isDuration({ value }: Seen): boolean {
  return value.amount?.unit === 'duration'
}

/** A time such as `1:37` is a time of day, or a difference in hours or minutes. */
function deriveClock(second: number, { dates, durations }: Calendar) {
  return (
    deriveBetween(second, 1, dates) ??
    deriveBetween(second / 60, 0.5, dates) ??
    deriveTime(second, dates, durations)
  )
}

type Material = Means & { calendar: Calendar }

function deriveAmount(value: Value, context: Context, { operands, named, calendar }: Material) {
  const { amount } = value
  if (amount === undefined) return undefined
  const factors = periodFactors(context.text, value)
  for (const [at, reading] of amount.readings.entries()) {
    const target = { ...targetFrom(value, at, context.text), named }
    const found =
      deriveNumber(target, operands) ??
      deriveUnscaled(target, operands) ??
      deriveAge(value, context, context.index) ??
      deriveByPeriod(target, operands, { factors, index: context.index }) ??
      deriveLength(value, reading, calendar, context.index)
    if (found !== undefined) return found
  }
  return undefined
}

/** Returns a reading of a value in the unit as written; cents are counted in their currency. */
function targetFrom(value: Value, at: number, text: string): Omit<Target, 'named'> {
  const amount = value.amount ?? noAmount
  const reading = amount.readings[at] ?? 0
  const n = amount.written[at] ?? reading
  const isCent = amount.unit === 'cent'
  const per_unit = n === 0 || isCent ? 1 : Math.abs(reading / n)
  return {
    amount,
    at: value.at,
    isInTable: isInTable(text, value),
    n: isCent ? reading : n,
    tolerance: toleranceOf(value, at) / per_unit,
    per_unit,
  }
}

function isInTable(text: string, { at: [start] }: Value): boolean {
  return text
    .slice(text.lastIndexOf('\n', start) + 1, start)
    .trimStart()
    .startsWith('|')
}

const noAmount: Amount = {
  from: 0,
  readings: [],
  written: [],
  unit: '',
  scale: 1,
  half: 0,
  isRounded: false,
}

function isYear({ amount, text }: Value): boolean {
  return amount?.unit === '' && /^(?:19|20)\d{2}$/.test(text)
}

/** The heading of a table may say "million". */
function deriveUnscaled(target: Target, operands: Operands): Derivation | undefined {
  const { scale } = target.amount
  if (scale < 1e3) return undefined
  return deriveNumber(
    { ...target, n: target.n / scale, tolerance: target.tolerance / scale },
    operands,
  )
}

const periods: readonly (readonly [pattern: RegExp, factors: readonly number[]])[] = [
  [/\bdecade|jahrzehnt|décennie|década/i, [10]],
  [/\byear|annual|\bjahr|jähr|\ban\b|\bannée|\baño/i, [4, 12, 52, 365]],
  [/\bmonth|monat|\bmois\b|\bmes\b/i, [12, 30]],
  [/\bweek|woche|semaine|semana/i, [7, 52]],
  [/\bday\b|daily|\btag\b|täglich|\bjour\b|\bdía\b/i, [7, 24, 30, 365]],
]

/** Returns by how much a value per day, month or year may be multiplied: the calendar is known. */
function periodFactors(text: string, { at: [, end] }: Value): number[] {
  const after = text.slice(end, end + 24)
  return periods.flatMap(([pattern, factors]) => (pattern.test(after) ? factors : []))
}

type Factors = { factors: readonly number[]; index: SeenIndex }

function deriveByPeriod(target: Target, operands: Operands, { factors, index }: Factors) {
  if (factors.length === 0) return undefined
  const entries = operands.all.of(target.amount.unit, target.per_unit)
  for (const factor of factors.flatMap((one) => [one, 1 / one])) {
    const low = (target.n - target.tolerance) / factor
    const high = (target.n + target.tolerance) / factor
    const one = findWithin(entries, low, high, ({ seen, n }) => n !== 0 && hasPeriod(seen, index))
    if (one === undefined) continue
    const { evidence } = one.seen
    const sign = factor > 1 ? `× ${factor}` : `/ ${Math.round(1 / factor)}`
    return { operation: 'period', formula: `${evidence.quote} ${sign}`, operands: [evidence] }
  }
  return undefined
}

const rate =
  /(?:year|annual|quarter|month|week|day|daily|night|hour|jahr|jähr|monat|woche|tag|an(?:née)?\b|mois|semaine|jour|año|mes\b|semana|día)/iu

/** Tells whether a seen number is a rate: a period is in the name of its column or behind it. */
function hasPeriod({ evidence, column = '' }: Seen, { texts }: SeenIndex): boolean {
  const [, end] = evidence.at
  const source = texts.find((one) => one.source === evidence.source)
  return rate.test(column) || rate.test(source?.text.slice(end, end + 32) ?? '')
}

const ageBefore = /(?:\(|\bturn(?:s|ed)? |\baged? |\bage of |\bis |\bwird |\bist )$/i
const age_max = 120

/** Finds two seen years between which an age lies. */
function deriveAge({ amount, at: [start] }: Value, { text }: Context, { numbers }: SeenIndex) {
  const [age = 0] = amount?.written ?? []
  if (
    amount?.unit !== '' ||
    age > age_max ||
    !ageBefore.test(text.slice(Math.max(0, start - 10), start))
  )
    return undefined
  const years = [...(numbers.get('year') ?? []), ...yearsIn(numbers.get('') ?? [])]
  for (const one of years) {
    const other = years.find(({ n }) => n - one.n === age || n - one.n === age + 1)
    if (other !== undefined) {
      const operands = [other.seen.evidence, one.seen.evidence]
      return { operation: 'age', formula: `${other.n} − ${one.n}`, operands }
    }
  }
  return undefined
}

function yearsIn(entries: readonly Entry[]): Entry[] {
  return entries.filter(({ n }) => Number.isInteger(n) && n >= 1900 && n <= 2100)
}

/** Finds two points in time, of one record or line, or of the answer, between which a length lies. */
function deriveLength(
  value: Value,
  n: number,
  { dates }: Calendar,
  { points }: SeenIndex,
): Derivation | undefined {
  if (value.amount?.unit !== 'duration') return undefined
  const tolerance_s = Math.max(toleranceOf(value), 1)
  const near = deriveBetween(n, tolerance_s, dates)
  if (near !== undefined || points.length <= points_max) return near
  const scopes = Map.groupBy(
    points.flatMap((seen) => seen.scopes.map((scope) => ({ scope, seen }))),
    ({ scope }) => scope,
  )
  return firstOf(scopes.values(), (group) =>
    group.length > points_max || group.length < 2
      ? undefined
      : deriveBetween(
          n,
          tolerance_s,
          group.map(({ seen }) => seen),
        ),
  )
}

function deriveTime(second: number, points: readonly Seen[], durations: readonly Seen[]) {
  for (const one of points) {
    if (one.value.second === undefined) continue
    const gap = Math.abs(one.value.second - second)
    const other = durations.find(({ value }) => {
      const length = value.amount?.readings[0]
      return length === gap || length === day_s - gap
    })
    if (other !== undefined) {
      const operands = [one.evidence, other.evidence]
      return {
        operation: 'time',
        formula: operands.map(({ quote }) => quote).join(' ± '),
        operands,
      }
    }
  }
  return undefined
}

const day_s = 86_400
