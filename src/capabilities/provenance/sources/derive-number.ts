import type { Range } from '../text/index.ts'
import type { Amount, Evidence } from '../values/index.ts'
import { findTotal, isMoney } from './lists.ts'
import { anyUnit, type Group, type Operands } from './operands.ts'
import { type Entry, findWithin, firstOf } from './seen.ts'

/** One operation over seen values that gives a value of the answer. */
export type Derivation = { operation: string; formula: string; operands: readonly Evidence[] }

export type Target = {
  amount: Amount
  at: Range
  /** In the unit as written, like its tolerance and the operands. */
  n: number
  tolerance: number
  /** Base units in one written unit. */
  per_unit: number
  /** Whether it is in a row of a table, whose heading may have the unit. */
  isInTable: boolean
  /** Whether "times" follows. */
  isRatio: boolean
  /** The operation that the words before name. */
  cue: 'mean' | undefined
}

/** Finds one operation over the operands that gives the target. */
export function deriveNumber(target: Target, operands: Operands): Derivation | undefined {
  const isPercent = target.amount.unit === '%'
  return (
    (isPercent ? undefined : deriveFromLists(target, operands)) ??
    firstOf(operands.groupsAt(target.at), (group) => deriveInGroup(target, group)) ??
    (isPercent ? undefined : deriveByRate(target, operands.all))
  )
}

function deriveInGroup(target: Target, group: Group): Derivation | undefined {
  const { unit } = target.amount
  if (unit === '%') return derivePercent(target, group)
  const same = group.of(target.isInTable && unit === '' ? anyUnit : unit, target.per_unit)
  if (same.length === 0) return undefined
  if (target.cue === 'mean') return deriveQuotient(target, same, group)
  const byPercent = deriveByPercent(target, same, group)
  if (group.isLoose)
    return byPercent ?? (isKnown(unit) ? deriveSum(target, same, group) : undefined)
  return (
    deriveSum(target, same, group) ??
    byPercent ??
    deriveProduct(target, same, group) ??
    deriveQuotient(target, same, group) ??
    deriveComplement(target, isKnown(unit) ? [] : group.percents) ??
    (target.isRatio ? deriveRatio(target, group) : undefined)
  )
}

function isKnown(unit: string): boolean {
  return unit !== '' && unit !== 'count'
}

function explain(operation: string, sign: string, entries: readonly Entry[]): Derivation {
  const operands = entries.map(({ seen }) => seen.evidence)
  const formula = operands.map(({ quote }) => quote).join(` ${sign} `)
  return { operation, formula, operands }
}

const listed_max = 20

function deriveFromLists(target: Target, { lists }: Operands): Derivation | undefined {
  const wanted = { ...target, unit: target.amount.unit }
  const shown = (list: { entries: readonly Entry[] }) => list.entries.slice(0, listed_max)
  for (const index of lists) {
    const sum = target.cue === 'mean' ? undefined : findTotal(index, 'sums', wanted)
    if (sum !== undefined) return explain('sum', '+', shown(sum))
    const mean = target.cue === 'mean' ? findTotal(index, 'means', wanted) : undefined
    if (mean !== undefined) return explain('mean', ',', shown(mean))
  }
  return undefined
}

function deriveSum(
  { n, tolerance }: Near,
  entries: readonly Entry[],
  group: Group,
): Derivation | undefined {
  for (const one of entries) {
    if (one.n === 0) continue
    const rest = n - one.n
    const other = group.findPartner(entries, one, [rest - tolerance, rest + tolerance])
    if (other !== undefined) return explain('sum', '+', [one, other])
    const less = group.findPartner(entries, one, [-rest - tolerance, -rest + tolerance])
    if (less !== undefined) return explain('difference', '−', [one, less])
  }
  return undefined
}

function deriveByPercent(
  { n, tolerance }: Near,
  entries: readonly Entry[],
  group: Group,
): Derivation | undefined {
  for (const percent of group.percents) {
    const share = percent.n / 100
    for (const factor of [share, 1 + share, 1 - share, 1 / share]) {
      if (factor <= 0) continue
      const range = [(n - tolerance) / factor, (n + tolerance) / factor] as const
      const one = group.findPartner(entries, percent, range)
      if (one !== undefined) return explain('percentage', '·', [percent, one])
    }
  }
  return undefined
}

function deriveProduct(
  { n, tolerance }: Near,
  entries: readonly Entry[],
  group: Group,
): Derivation | undefined {
  for (const count of group.counts) {
    // A rate such as 0.9382 multiplies too.
    if (count.n <= 0 || count.n === 1) continue
    const range = [(n - tolerance) / count.n, (n + tolerance) / count.n] as const
    const one = group.findPartner(entries, count, range)
    if (one !== undefined) return explain('product', '×', [count, one])
  }
  return undefined
}

/** An amount of another currency times a rate that was seen: the rate is not a constant of this code. */
function deriveByRate({ amount, n, tolerance }: Target, group: Group): Derivation | undefined {
  if (!isMoney(amount.unit)) return undefined
  const rates = group.counts.filter((rate) => !Number.isInteger(rate.n) && rate.n > 0)
  for (const unit of pairUnits.filter(isMoney)) {
    const entries = group.of(unit)
    for (const rate of rates) {
      const range = [(n - tolerance) / rate.n, (n + tolerance) / rate.n] as const
      const one = group.findPartner(entries, rate, range)
      if (one !== undefined) return explain('product', '×', [rate, one])
    }
  }
  return undefined
}

function deriveQuotient(
  { n, tolerance }: Near,
  entries: readonly Entry[],
  group: Group,
): Derivation | undefined {
  for (const count of group.counts) {
    if (count.n < 2) continue
    const range = [(n - tolerance) * count.n, (n + tolerance) * count.n] as const
    const one = group.findPartner(entries, count, range)
    if (one !== undefined) return explain('quotient', '/', [one, count])
  }
  return undefined
}

function unitsOf(group: Group): (readonly Entry[])[] {
  return [group.counts, ...pairUnits.map((unit) => group.of(unit))].filter(
    (entries) => entries.length > 1,
  )
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

type Near = Pick<Target, 'n' | 'tolerance'>

function deriveRatio({ n, tolerance }: Near, group: Group): Derivation | undefined {
  for (const entries of unitsOf(group)) {
    for (const divisor of entries) {
      if (divisor.n <= 0) continue
      const range = [(n - tolerance) * divisor.n, (n + tolerance) * divisor.n] as const
      const one = group.findPartner(entries, divisor, range)
      if (one !== undefined) return explain('ratio', '/', [one, divisor])
    }
  }
  return undefined
}

function derivePercent(target: Target, group: Group): Derivation | undefined {
  const { n, tolerance } = target
  for (const share of n < 0 ? [n, 100 + n] : [n, 100 - n, 100 + n]) {
    if (share === 0) continue
    const found = deriveRatio({ n: share / 100, tolerance: tolerance / 100 }, group)
    if (found !== undefined) return { ...found, operation: 'percentage' }
  }
  return deriveSum(target, group.percents, group) ?? deriveComplement(target, group.percents)
}

function deriveComplement({ n, tolerance }: Target, percents: readonly Entry[]) {
  const rest = findWithin(percents, 100 - n - tolerance, 100 - n + tolerance)
  return rest === undefined ? undefined : explain('difference', '−', [rest])
}
