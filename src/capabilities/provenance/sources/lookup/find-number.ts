import { grammarWords } from '../../text/index.ts'
import type { Amount, Evidence, Value } from '../../values/index.ts'
import { classOf } from '../seen/column-class.ts'
import { isMoney } from '../seen/lists.ts'
import { type Entry, findWithin, firstOf, type SeenIndex } from '../seen/seen.ts'

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
export function findNumber(value: Value, index: SeenIndex, answer = ''): Evidence | undefined {
  return findEntry(value, index)?.seen.evidence ?? findElsewhere(value, index, answer)
}

/** Finds the seen number that the value restates, by its unit. */
function findEntry(
  value: Value,
  index: SeenIndex,
  isWanted: (entry: Entry) => boolean = () => true,
): Entry | undefined {
  const { amount } = value
  if (amount === undefined) return undefined
  for (const { key, numbers, factor, fits = any } of candidates(amount, index)) {
    const entries = index.numbers.get(key)
    const isFit = (entry: Entry) => fits(entry) && isWanted(entry)
    for (const [at, n] of numbers.entries()) {
      const tolerance = toleranceOf(value, at)
      const slack = Math.abs(n) * exact
      const same = findWithin(entries, n - slack, n + slack, isFit)
      const near =
        same ?? findWithin(entries, n - tolerance * factor, n + tolerance * factor, isFit)
      const found =
        near ?? findBound(value, n, (low, high) => findWithin(entries, low, high, isFit))
      if (found !== undefined) return found
    }
  }
  return undefined
}

function findElsewhere(value: Value, index: SeenIndex, answer: string): Evidence | undefined {
  const { amount } = value
  if (amount === undefined) return undefined
  return (
    countOf(value, index, answer) ??
    findUnscaled(value, index, answer) ??
    findClock(amount, index) ??
    findFigures(value, index)
  )
}

type Candidate = {
  key: string
  numbers: readonly number[]
  /** Base units of the entries in a base unit of the value; 0: the number must be the same. */
  factor: number
  fits?: (entry: Entry) => boolean
}

const any = () => true

/** Maps a unit to the indexes that may support it. A number of another kind supports nothing. */
function candidates(amount: Amount, index: SeenIndex): Candidate[] {
  const { unit, readings, written, noun } = amount
  const perUnit = written[0] ? Math.abs((readings[0] ?? 0) / written[0]) : 1
  const own: Candidate = { key: unit, numbers: readings, factor: 1 }
  const bare: Candidate = { key: '', numbers: written, factor: 1 / (perUnit || 1), fits: isBare }
  const inside: Candidate = { key: 'inside', numbers: written, factor: 0 }
  if (unit === '') {
    const all = { key: 'written', numbers: written, factor: 1 }
    return [own, all, { key: 'year', numbers: written, factor: 0 }, inside]
  }
  if (unit === 'count') {
    const days = noun === undefined ? [{ key: 'day', numbers: written, factor: 0 }] : []
    return [own, { key: '', numbers: written, factor: 1 }, inside, ...days]
  }
  if (unit === '%') {
    const shares = { key: '', numbers: written.map((n) => n / 100), factor: 0.01, fits: isBare }
    return [own, { ...bare, factor: 0 }, { ...bare, fits: isUnclassed }, shares]
  }
  if (isMoney(unit)) return moneyCandidates(amount, index)
  return [own, bare, ...thousands(amount, perUnit || 1)]
}

/** A number of prose that has a noun of its own behind it counts that: 120 Nm are not 120 ft. */
function isBare({ seen: { value, column } }: Entry): boolean {
  const noun = value.amount?.noun
  return column !== undefined || noun === undefined || grammarWords.has(noun.toLowerCase())
}

function isUnclassed(entry: Entry): boolean {
  return isBare(entry) && classOf(entry.seen) === undefined
}

/** Seats are not dollars. */
function isAmount(entry: Entry): boolean {
  return isBare(entry) && classOf(entry.seen) !== 'count'
}

/** A number without unit may be in a unit that is a thousand times larger or smaller. */
function thousands({ unit, written }: Amount, perUnit: number): Candidate[] {
  if (unit === 'duration' || unit === 'temperature') return []
  return [1e3, 1e6, 1e9, 1e-3].map((factor) => ({
    key: '',
    numbers: written.map((n) => n * factor),
    factor: factor / perUnit,
    fits: isBare,
  }))
}

const crowns = new Set(['SEK', 'NOK', 'DKK', 'CZK', 'KR'])

function moneyCandidates(
  { unit, readings, written }: Amount,
  { currencies }: SeenIndex,
): Candidate[] {
  const own = [unit, 'cent'].map((key): Candidate => ({ key, numbers: readings, factor: 1 }))
  const others = [...(unit === 'cent' ? currencies : []), ...(crowns.has(unit) ? crowns : [])]
  own.push(...others.map((key): Candidate => ({ key, numbers: readings, factor: 1 })))
  // A number without unit is an amount, unless only other currencies were seen.
  const isOther =
    currencies.size > 0 && !currencies.has(unit) && unit !== 'cent' && !crowns.has(unit)
  if (isOther) return own
  const cents = readings.map((n) => n * 100)
  return [
    ...own,
    { key: '', numbers: readings, factor: 1, fits: isAmount },
    { key: '', numbers: written, factor: 1, fits: isAmount },
    { key: '', numbers: cents, factor: 0, fits: isAmount },
  ]
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
function findUnscaled(value: Value, index: SeenIndex, answer: string): Evidence | undefined {
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
  return findNumber({ ...value, amount: unscaled }, index, answer)
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

/** Characters around a count that name what is counted. */
const counted_chars = 90

/** Finds a list of this length, or cells of this number that have one text that the answer names. */
function countOf(
  { amount, at: [start, end] }: Value,
  { counts }: SeenIndex,
  answer: string,
): Evidence | undefined {
  if (amount?.unit !== '' && amount?.unit !== 'count') return undefined
  const around = answer.slice(Math.max(0, start - counted_chars), end + counted_chars).toLowerCase()
  const found = counts
    .get(amount.written[0] ?? -1)
    ?.find(({ label }) => label === undefined || around.includes(label))
  return found?.evidence
}
