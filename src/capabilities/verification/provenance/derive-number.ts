import type { Amount, Evidence } from '../values/value.ts'
import { type Entry, findWithin, type List, type Seen } from './seen.ts'

/** One operation over seen values that gives a value of the answer. */
export type Derivation = { operation: string; formula: string; operands: readonly Evidence[] }

/** Operands of derivations, sorted by number, by unit. */
export type Operands = {
  /** Returns the operands of a unit, including those whose unit is unknown. */
  of: (unit: string, per_unit?: number) => readonly Entry[]
  /** Counts and numbers without unit. */
  counts: readonly Entry[]
  percents: readonly Entry[]
  /** Whole columns, and runs of the answer's own values. */
  lists: readonly List[]
}

export type Target = {
  amount: Amount
  /** In the unit as written, like its tolerance and the operands. */
  n: number
  tolerance: number
  /** Base units in one written unit. */
  per_unit: number
  /** Whether "times" follows. */
  isRatio: boolean
  /** The operation that the words before name. */
  cue: 'mean' | undefined
}

/** Finds one operation over the operands that gives the target. */
export function deriveNumber(target: Target, operands: Operands): Derivation | undefined {
  const { unit } = target.amount
  if (unit === '%') return derivePercent(target, operands)
  const same = operands.of(unit, target.per_unit)
  if (target.cue === 'mean')
    return deriveFromLists(target, operands) ?? deriveQuotient(target, same, operands.counts)
  return (
    deriveFromLists(target, operands) ??
    deriveSum(target, same) ??
    deriveByPercent(target, same, operands.percents) ??
    deriveProduct(target, same, operands.counts) ??
    deriveByRate(target, operands) ??
    deriveQuotient(target, same, operands.counts) ??
    deriveComplement(target, unit === '' || unit === 'count' ? operands.percents : []) ??
    (target.isRatio ? deriveRatio(target, operands) : undefined)
  )
}

function explain(operation: string, sign: string, entries: readonly Entry[]): Derivation {
  const operands = entries.map(({ seen }) => seen.evidence)
  const formula = operands.map(({ quote }) => quote).join(` ${sign} `)
  return { operation, formula, operands }
}

const listed_max = 20

function deriveFromLists({ n, tolerance, amount, per_unit, cue }: Target, { lists }: Operands) {
  for (const { unit, sum, entries } of lists) {
    if (!isCompatible(amount.unit, unit)) continue
    // Numbers without unit are in the unit that the answer writes.
    const total = unit === '' ? sum : sum / per_unit
    const shown = entries.slice(0, listed_max)
    if (cue !== 'mean' && Math.abs(total - n) <= tolerance) return explain('sum', '+', shown)
    if (Math.abs(total / entries.length - n) <= tolerance) return explain('mean', ',', shown)
  }
  return undefined
}

function isCompatible(unit: string, other: string): boolean {
  return unit === other || unit === '' || other === '' || (isMoney(unit) && other === 'cent')
}

function deriveSum({ n, tolerance }: Target, entries: readonly Entry[]): Derivation | undefined {
  for (const one of entries) {
    if (one.n === 0) continue
    const other = findWithin(entries, n - one.n - tolerance, n - one.n + tolerance)
    if (other !== undefined && other.n > 0 && other.seen !== one.seen)
      return explain('sum', '+', [one, other])
    const less = findWithin(entries, one.n - n - tolerance, one.n - n + tolerance)
    if (less !== undefined && less.n > 0 && less.seen !== one.seen)
      return explain('difference', '−', [one, less])
  }
  return undefined
}

function deriveByPercent(
  { n, tolerance }: Target,
  entries: readonly Entry[],
  percents: readonly Entry[],
): Derivation | undefined {
  for (const percent of percents) {
    const share = percent.n / 100
    for (const factor of [share, 1 + share, 1 - share, 1 / share]) {
      if (factor <= 0) continue
      const one = findWithin(entries, (n - tolerance) / factor, (n + tolerance) / factor)
      if (one !== undefined && one.seen !== percent.seen)
        return explain('percentage', '·', [percent, one])
    }
  }
  return undefined
}

function deriveProduct(
  { n, tolerance }: Target,
  entries: readonly Entry[],
  counts: readonly Entry[],
): Derivation | undefined {
  for (const count of counts) {
    // A rate such as 0.9382 multiplies too.
    if (count.n <= 0 || count.n === 1) continue
    const one = findWithin(entries, (n - tolerance) / count.n, (n + tolerance) / count.n)
    if (one !== undefined && one.n !== 0) return explain('product', '×', [count, one])
  }
  return undefined
}

/** An amount of another currency times a rate that was seen: the rate is no constant of ours. */
function deriveByRate(target: Target, operands: Operands): Derivation | undefined {
  if (!isMoney(target.amount.unit)) return undefined
  const rates = operands.counts.filter(({ n }) => !Number.isInteger(n))
  for (const unit of pairUnits.filter(isMoney)) {
    const found = deriveProduct(target, operands.of(unit), rates)
    if (found !== undefined) return found
  }
  return undefined
}

function deriveQuotient(
  { n, tolerance }: Target,
  entries: readonly Entry[],
  counts: readonly Entry[],
): Derivation | undefined {
  for (const count of counts) {
    if (count.n < 2) continue
    const one = findWithin(entries, (n - tolerance) * count.n, (n + tolerance) * count.n)
    if (one !== undefined && one.n !== 0) return explain('quotient', '/', [one, count])
  }
  return undefined
}

function unitsOf({ of, counts }: Operands): (readonly Entry[])[] {
  return [counts, ...pairUnits.map((unit) => of(unit))].filter((entries) => entries.length > 1)
}

const pairUnits = [
  'EUR',
  'USD',
  'GBP',
  'CHF',
  'cent',
  'duration',
  'mass',
  'length',
  'area',
  'volume',
  'data',
  'energy',
  'power',
  'pressure',
  'speed',
  'KR',
  'SEK',
  'NOK',
  'DKK',
  'PLN',
  'JPY',
  'INR',
  'CAD',
  'AUD',
]

function deriveRatio({ n, tolerance }: Target, operands: Operands): Derivation | undefined {
  for (const entries of unitsOf(operands)) {
    for (const divisor of entries) {
      if (divisor.n <= 0) continue
      const low = (n - tolerance) * divisor.n
      const one = findWithin(entries, low, (n + tolerance) * divisor.n)
      if (one !== undefined && one.seen !== divisor.seen)
        return explain('ratio', '/', [one, divisor])
    }
  }
  return undefined
}

function derivePercent(target: Target, operands: Operands): Derivation | undefined {
  const { n, tolerance } = target
  const shares = [n, 100 - n, 100 + n]
  for (const entries of unitsOf(operands)) {
    for (const share of shares) {
      if (share <= 0) continue
      const found = deriveRatio(
        { ...target, n: share / 100, tolerance: tolerance / 100 },
        { ...operands, of: () => [], counts: entries },
      )
      if (found !== undefined) return { ...found, operation: 'percentage' }
    }
  }
  return deriveSum(target, operands.percents) ?? deriveComplement(target, operands.percents)
}

function deriveComplement({ n, tolerance }: Target, percents: readonly Entry[]) {
  const rest = findWithin(percents, 100 - n - tolerance, 100 - n + tolerance)
  return rest === undefined ? undefined : explain('difference', '−', [rest])
}

function isMoney(unit: string): boolean {
  return /^[A-Z]{2,3}$|^cent$/.test(unit)
}

/** Returns the seen values as operands in a unit's base, or as written. */
export function operandsFrom(seen: readonly Seen[], unit: string, per_unit: number): Entry[] {
  return seen.flatMap((one) => {
    const amount = one.value.amount
    if (amount === undefined) return []
    const isOwn =
      amount.unit === unit ||
      (isMoney(unit) && isMoney(amount.unit) && (unit === 'cent' || amount.unit === 'cent'))
    const isBare = unit === '' || amount.unit === ''
    const scaled = amount.readings.map((n) => n / per_unit)
    const numbers = isOwn ? scaled : isBare ? amount.written : []
    return numbers.map((n) => ({ n, seen: one }))
  })
}
