import type { Range } from '../../text/index.ts'
import type { Amount, Evidence } from '../../values/index.ts'
import { anyUnit, type Group, type Operands } from '../lookup/operands.ts'
import { classOf } from '../seen/column-class.ts'
import { findTotal, isMoney } from '../seen/lists.ts'
import { type Entry, findWithin, firstOf } from '../seen/seen.ts'
import { anyOperation, type Operation } from './read-operations.ts'

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
  /** The operations that its sentence names. */
  named: ReadonlySet<Operation>
}

/** Finds one operation that the sentence names, over operands of one unit, that gives the target. */
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
  const { named } = target
  if (unit === '%') return derivePercent(target, group)
  const same = group.of(target.isInTable && unit === '' ? anyUnit : unit, target.per_unit)
  if (same.length === 0 || !isSafe(target, group, same)) return undefined
  if (named.has('mean')) return deriveQuotient(target, same, group)
  return (
    deriveSum(target, same, group) ??
    (named.has('part') ? deriveByPercent(target, same, group) : undefined) ??
    (named.has('product') ? deriveProduct(target, same, group) : undefined) ??
    (named.has('quotient') ? deriveQuotient(target, same, group) : undefined) ??
    (named.has('ratio') && unit === '' ? deriveRatio(target, group) : undefined)
  )
}

/** Number of results that may match the target by chance, up to which a match counts. */
const chance_max = 0.3

/**
 * Tells whether a match is hardly by chance: values of one record, line or sentence belong together,
 * but of many others some pair gives almost any small number.
 */
function isSafe(
  { n, tolerance, named }: Near & Pick<Target, 'named'>,
  group: Group,
  { length }: readonly Entry[],
): boolean {
  // A calculation that no words name is a doubt, not a source.
  if (!group.isLoose || named === anyOperation) return true
  const width = (2 * tolerance) / Math.max(Math.abs(n), tolerance)
  return length * Math.min(length, group.ownCount) * width <= chance_max
}

function explain(operation: string, sign: string, entries: readonly Entry[]): Derivation {
  const operands = entries.map(({ seen }) => seen.evidence)
  const formula = operands.map(({ quote }) => quote).join(` ${sign} `)
  return { operation, formula, operands }
}

const listed_max = 20

function deriveFromLists(target: Target, { lists }: Operands): Derivation | undefined {
  const { named } = target
  const wanted = { ...target, unit: target.amount.unit }
  const shown = (list: { entries: readonly Entry[] }) => list.entries.slice(0, listed_max)
  const mayBeSum = (named.has('sum') || named.has('list')) && !named.has('mean')
  for (const index of lists) {
    const sum = mayBeSum ? findTotal(index, 'sums', wanted) : undefined
    if (sum !== undefined) return explain('sum', '+', shown(sum))
    const mean = named.has('mean') ? findTotal(index, 'means', wanted) : undefined
    if (mean !== undefined) return explain('mean', ',', shown(mean))
  }
  return undefined
}

function deriveSum(
  { n, tolerance, named }: Near & Pick<Target, 'named'>,
  entries: readonly Entry[],
  group: Group,
): Derivation | undefined {
  const isSum = named.has('sum')
  const isDifference = named.has('difference')
  if (!isSum && !isDifference) return undefined
  for (const one of entries) {
    if (one.n === 0) continue
    const rest = n - one.n
    const other =
      isSum || rest < 0
        ? group.findPartner(entries, one, [rest - tolerance, rest + tolerance])
        : undefined
    if (other !== undefined) return explain('sum', '+', [one, other])
    const less = isDifference
      ? group.findPartner(entries, one, [-rest - tolerance, -rest + tolerance])
      : undefined
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
    for (const factor of [share, 1 + share, 1 - share, 1 / share, 1 / (1 + share)]) {
      if (factor <= 0) continue
      const range = [(n - tolerance) / factor, (n + tolerance) / factor] as const
      const one = group.findPartner(entries, percent, range)
      if (one !== undefined) return explain('percentage', '·', [percent, one])
    }
  }
  return undefined
}

/** A product of two counts has no unit, and may give any number: one factor is an amount or a rate. */
function deriveProduct(
  { n, tolerance, amount }: Target,
  entries: readonly Entry[],
  group: Group,
): Derivation | undefined {
  const isMeasured = amount.unit !== '' && amount.unit !== 'count'
  for (const count of group.counts) {
    // A rate such as 0.9382 multiplies too.
    if (count.n <= 0 || count.n === 1) continue
    const range = [(n - tolerance) / count.n, (n + tolerance) / count.n] as const
    const one = group.findPartner(entries, { ...count, isFactor: true }, range)
    if (one === undefined) continue
    if (isMeasured || isRate(count) || isRate(one)) return explain('product', '×', [count, one])
  }
  return undefined
}

function isRate({ seen, n }: Entry): boolean {
  return classOf(seen) === 'money' || !Number.isInteger(n) || seen.isRate === true
}

/** An amount of another currency times a rate that was seen: the rate is not a constant of this code. */
function deriveByRate({ amount, n, tolerance }: Target, group: Group): Derivation | undefined {
  if (!isMoney(amount.unit)) return undefined
  const rates = group.counts.filter((rate) => !Number.isInteger(rate.n) && rate.n > 0)
  for (const unit of pairUnits.filter(isMoney)) {
    const entries = group.of(unit).filter(({ seen }) => seen.value.amount?.unit === unit)
    for (const rate of rates) {
      const range = [(n - tolerance) / rate.n, (n + tolerance) / rate.n] as const
      const one = unit === amount.unit ? undefined : group.findPartner(entries, rate, range)
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
  return [group.wholes, ...pairUnits.map((unit) => group.of(unit))].filter(
    (entries) => entries.length > 1,
  )
}

const pairUnits =
  'EUR USD GBP CHF cent duration mass length area volume data energy power pressure speed KR SEK NOK DKK PLN JPY INR CAD AUD'.split(
    ' ',
  )

type Near = Pick<Target, 'n' | 'tolerance'>

function deriveRatio(target: Near & Pick<Target, 'named'>, group: Group): Derivation | undefined {
  const { n, tolerance } = target
  for (const entries of unitsOf(group)) {
    if (!isSafe(target, group, entries)) continue
    for (const divisor of entries) {
      if (divisor.n <= 0) continue
      const range = [(n - tolerance) * divisor.n, (n + tolerance) * divisor.n] as const
      const one = group.findPartner(entries, divisor, range)
      if (one !== undefined) return explain('ratio', '/', [one, divisor])
    }
  }
  return undefined
}

/** Words of a change: a percentage of change is not a share. */
function derivePercent(target: Target, group: Group): Derivation | undefined {
  const { n, tolerance, named } = target
  const shares = named.has('difference') ? [n, 100 - n, 100 + n] : [n]
  for (const share of n < 0 ? [n, 100 + n] : shares) {
    if (share === 0) continue
    const found = deriveRatio({ n: share / 100, tolerance: tolerance / 100, named }, group)
    if (found !== undefined) return { ...found, operation: 'percentage' }
  }
  return (
    deriveSum(target, group.percents, group) ??
    (named.has('difference') ? deriveComplement(target, group.percents) : undefined)
  )
}

function deriveComplement({ n, tolerance }: Target, percents: readonly Entry[]) {
  const rest = findWithin(percents, 100 - n - tolerance, 100 - n + tolerance)
  return rest === undefined ? undefined : explain('difference', '−', [rest])
}
