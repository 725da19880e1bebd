import type { Amount, Evidence, Value } from '../values/index.ts'
import { findWithin, firstOf, type SeenIndex } from './seen.ts'

const exact = 1e-9

/** Returns what rounding may hide: half of the last digit that is written, or that counts. */
export function toleranceOf({ amount, isAbout = false }: Value, reading = 0): number {
  if (amount === undefined) return 0
  // The second reading has another separator: 1.234 instead of 1234.
  const ratio = reading === 0 ? 1 : (amount.readings[reading] ?? 1) / (amount.readings[0] ?? 1)
  const half = amount.half * ratio
  if (!isAbout && !amount.isRounded) return half * 1.0001
  const written = Math.abs(amount.written[0] ?? 0)
  const perUnit = written === 0 ? 1 : Math.abs((amount.readings[0] ?? 0) / written)
  let digit = 1
  while (digit < written && written % (digit * 10) === 0) digit *= 10
  const rounded = isAbout ? (digit / 2) * perUnit : half
  return Math.max(half, rounded) * 1.0001
}

/** Finds a seen number that the value restates: same, in another unit, rounded, or a bound. */
export function findNumber(value: Value, index: SeenIndex): Evidence | undefined {
  const { amount } = value
  if (amount === undefined) return undefined
  for (const [key, numbers, factor] of candidates(amount, index)) {
    const entries = index.numbers.get(key)
    for (const [at, n] of numbers.entries()) {
      const tolerance = toleranceOf(value, at)
      const slack = Math.abs(n) * exact
      const same = findWithin(entries, n - slack, n + slack)
      const near = same ?? findWithin(entries, n - tolerance * factor, n + tolerance * factor)
      const found = near ?? findBound(value, n, (low, high) => findWithin(entries, low, high))
      if (found !== undefined) return found.seen.evidence
    }
  }
  return (
    countOf(amount, index) ??
    findUnscaled(value, index) ??
    findClock(amount, index) ??
    findFigures(value, index)
  )
}

type Candidate = readonly [key: string, numbers: readonly number[], factor: number]

/** Maps a unit to the indexes that may support it. A number of another kind supports nothing. */
function candidates(amount: Amount, index: SeenIndex): Candidate[] {
  const { unit, readings, written } = amount
  const perUnit = written[0] ? Math.abs((readings[0] ?? 0) / written[0]) : 1
  const own: Candidate = [unit, readings, 1]
  const bare: Candidate = ['', written, 1 / (perUnit || 1)]
  if (unit === '')
    return [own, ['written', written, 1], ['year', written, 0], ['inside', written, 0]]
  if (unit === 'count') return [own, ['', written, 1], ['inside', written, 0]]
  if (unit === '%') return [own, bare, ['', written.map((n) => n / 100), 0.01]]
  if (/^[A-Z]{2,3}$|^cent$/.test(unit)) return moneyCandidates(amount, index)
  return [own, bare, ...thousands(amount, perUnit || 1)]
}

/** A number without unit may be in a unit that is a thousand times larger or smaller. */
function thousands({ unit, written }: Amount, perUnit: number): Candidate[] {
  if (unit === 'duration' || unit === 'temperature') return []
  return [1e3, 1e6, 1e9, 1e-3].map((factor) => [
    '',
    written.map((n) => n * factor),
    factor / perUnit,
  ])
}

const crowns = new Set(['SEK', 'NOK', 'DKK', 'CZK', 'KR'])

function moneyCandidates(
  { unit, readings, written }: Amount,
  { currencies }: SeenIndex,
): Candidate[] {
  const own: Candidate[] = [
    [unit, readings, 1],
    ['cent', readings, 1],
  ]
  if (unit === 'cent') own.push(...[...currencies].map((name): Candidate => [name, readings, 1]))
  if (crowns.has(unit)) own.push(...[...crowns].map((name): Candidate => [name, readings, 1]))
  // A number without unit is an amount, unless only other currencies were seen.
  const isOther =
    currencies.size > 0 && !currencies.has(unit) && unit !== 'cent' && !crowns.has(unit)
  if (isOther) return own
  return [...own, ['', readings, 1], ['', written, 1], ['', readings.map((n) => n * 100), 0]]
}

/** The factor up to which a number is still "more than" a bound. */
const bound_factor = 1.35

function findBound<T>(
  { bound }: Value,
  n: number,
  within: (low: number, high: number) => T | undefined,
): T | undefined {
  if (bound === undefined) return undefined
  const isMinimum = bound === 'at least' || bound === 'more than'
  const other = isMinimum === n > 0 ? n * bound_factor : n / bound_factor
  return within(Math.min(n, other), Math.max(n, other))
}

/** Finds the number without its scale word: the heading of a table says "million". */
function findUnscaled(value: Value, index: SeenIndex): Evidence | undefined {
  const { amount } = value
  if (amount === undefined || amount.scale < 1e3 || !index.hasScale) return undefined
  const down = (numbers: readonly number[]) => numbers.map((n) => n / amount.scale)
  const half = amount.half / amount.scale
  const unscaled = {
    ...amount,
    readings: down(amount.readings),
    written: down(amount.written),
    half,
    scale: 1,
  }
  return findNumber({ ...value, amount: unscaled }, index)
}

/** Finds a duration that was seen as a time such as `2:27:33`, or `1:37` in minutes. */
function findClock({ unit, readings }: Amount, { times }: SeenIndex): Evidence | undefined {
  if (unit !== 'duration') return undefined
  const found = times.find(
    ({ value: { second } }) => second === readings[0] || (second ?? 0) / 60 === readings[0],
  )
  return found?.evidence
}

/** Finds five digits or more in a text: a code whose separators were dropped. */
function findFigures({ text, amount }: Value, { texts }: SeenIndex): Evidence | undefined {
  if ((amount?.unit !== '' && amount?.unit !== 'count') || !/^\d{5,}$/.test(text)) return undefined
  return firstOf(texts, (one) => one.findCompact(text))
}

function countOf({ unit, written }: Amount, { counts }: SeenIndex): Evidence | undefined {
  if (unit !== '' && unit !== 'count') return undefined
  return counts.get(written[0] ?? -1)
}
