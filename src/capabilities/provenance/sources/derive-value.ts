import type { Amount, Value } from '../values/index.ts'
import { deriveBetween, deriveDay } from './derive-day.ts'
import { type Derivation, deriveNumber, type Target } from './derive-number.ts'
import { toleranceOf } from './find-number.ts'
import type { Context, Operands } from './operands.ts'
import { type Entry, findWithin, type Seen, type SeenIndex } from './seen.ts'
import { deriveWritten } from './written-sum.ts'

/** Derives a value by one operation: from the calendar, or from numbers. */
export function derive(value: Value, context: Context, operands: Operands): Derivation | undefined {
  const { index, supported } = context
  const points = [...supported.filter(isPoint), ...index.points]
  const durations = [...supported.filter(isDuration), ...index.durations]
  if (value.kind === 'date') {
    const dates = points.filter(({ value: one }) => one.kind === 'date')
    return deriveDay(value, dates, durations)
  }
  if (value.second !== undefined) return deriveClock(value.second, points, durations)
  if (value.amount === undefined) return undefined
  const calculation = deriveWritten(value, context.text, supported)
  if (calculation !== undefined) return calculation
  return isYear(value) ? undefined : deriveAmount(value, context, { operands, points })
}

function isPoint({ value: { kind } }: Seen): boolean {
  return kind === 'date' || kind === 'time'
}

/** A time such as `1:37` is a time of day, or a difference in hours or minutes. */
function deriveClock(second: number, points: readonly Seen[], durations: readonly Seen[]) {
  return (
    deriveBetween(second, 1, points) ??
    deriveBetween(second / 60, 0.5, points) ??
    deriveTime(second, points, durations)
  )
}

type Material = { operands: Operands; points: readonly Seen[] }

function deriveAmount(value: Value, context: Context, { operands, points }: Material) {
  const { amount } = value
  if (amount === undefined) return undefined
  const factors = periodFactors(context.text, value)
  for (const [at, reading] of amount.readings.entries()) {
    const target = targetFrom(value, at, context.text)
    const found =
      deriveNumber(target, operands) ??
      deriveUnscaled(target, operands) ??
      deriveAge(value, context, context.index) ??
      deriveByPeriod(target, operands, factors) ??
      deriveLength(value, reading, points, context.index.hasTimeZone)
    if (found !== undefined) return found
  }
  return undefined
}

/** Returns a reading of a value in the unit as written; cents are counted in their currency. */
function targetFrom(value: Value & { amount?: Amount }, at: number, text: string): Target {
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
    isRatio: ratioAfter.test(text.slice(value.at[1], value.at[1] + 14)),
    cue: readCue(text, value),
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

const meanBefore =
  /\b(?:average|mean|median|durchschnitt\w*|mittel\w*|moyenne|media|promedio)\b[^.\n\d]{0,20}$/i

const meanAfter =
  /^[^.\n\d]{0,16}\b(?:on average|averaged?|im (?:Schnitt|Mittel|Durchschnitt)|en moyenne|de media|en promedio)\b/i

/** Reads which operation the words around a value name. */
function readCue(text: string, { at: [start, end] }: Value): 'mean' | undefined {
  const isMean =
    meanBefore.test(text.slice(Math.max(0, start - 40), start)) ||
    meanAfter.test(text.slice(end, end + 40))
  return isMean ? 'mean' : undefined
}

const ratioAfter = /^(?:[- ]?(?:times|mal|fois|veces|fold|fach)(?!\p{L})|[x×])/u

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
  [/\byear|annual|\bjahr|jähr|\ban\b|\bannée|\baño/i, [12, 52, 365]],
  [/\bmonth|monat|\bmois\b|\bmes\b/i, [12, 30]],
  [/\bweek|woche|semaine|semana/i, [7, 52]],
  [/\bday\b|daily|\btag\b|täglich|\bjour\b|\bdía\b/i, [7, 24, 30, 365]],
]

/** Returns by how much a value per day, month or year may be multiplied: the calendar is known. */
function periodFactors(text: string, { at: [, end] }: Value): number[] {
  const after = text.slice(end, end + 24)
  return periods.flatMap(([pattern, factors]) => (pattern.test(after) ? factors : []))
}

function deriveByPeriod(target: Target, operands: Operands, factors: readonly number[]) {
  const entries = operands.all.of(target.amount.unit, target.per_unit)
  for (const factor of factors.flatMap((one) => [one, 1 / one])) {
    const low = (target.n - target.tolerance) / factor
    const one = findWithin(entries, low, (target.n + target.tolerance) / factor)
    if (one === undefined || one.n === 0) continue
    const { evidence } = one.seen
    const sign = factor > 1 ? `× ${factor}` : `/ ${Math.round(1 / factor)}`
    return { operation: 'period', formula: `${evidence.quote} ${sign}`, operands: [evidence] }
  }
  return undefined
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

function deriveLength(
  value: Value,
  n: number,
  points: readonly Seen[],
  hasZone: boolean,
): Derivation | undefined {
  if (value.amount?.unit !== 'duration') return undefined
  return deriveBetween(n, Math.max(toleranceOf(value), 1), points, hasZone)
}

function deriveTime(second: number, points: readonly Seen[], durations: readonly Seen[]) {
  for (const one of points) {
    if (one.value.second === undefined) continue
    const gap = Math.abs(one.value.second - second)
    const other = durations.find(({ value }) => value.amount?.readings[0] === gap)
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

function isDuration({ value }: Seen): boolean {
  return value.amount?.unit === 'duration'
}
