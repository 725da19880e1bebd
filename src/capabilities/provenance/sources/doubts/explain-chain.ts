import type { Value } from '../../values/index.ts'
import type { Group } from '../lookup/operands.ts'
import { classOf } from '../seen/column-class.ts'
import { isMoney } from '../seen/lists.ts'
import { findWithin } from '../seen/seen.ts'
import { slipBetween } from './slips.ts'

/**
 * Tells whether several operations over seen numbers give an amount: a price times counts, with a
 * discount or a tax (18 × 7.20 − 12 %), or two such lines (6 × 9.90 + 6 × 8.50 − 5 % − 10). That is not
 * a source, because many numbers give nearly any amount: a chain counts if it is hardly by chance.
 */
export function isChained({ amount }: Value, group: Group): boolean {
  const [n = 0] = amount?.written ?? []
  if (amount === undefined || !isMoney(amount.unit) || n <= 0) return false
  const numbers = readNumbers(group, amount.unit)
  // An amount with two digits swapped is more likely a slip.
  if (numbers.amounts.some((one) => slipBetween(centsOf(one), centsOf(n)) === 'swap')) return false
  return isProduct(n, numbers) || isOfTwoLines(n, numbers)
}

/** The different seen numbers, by their part in a chain. */
type Numbers = {
  amounts: readonly number[]
  counts: readonly number[]
  /** Factors of discounts, surcharges and taxes. */
  shares: readonly number[]
  /** The same for a rate that each of some months adds. */
  rates: readonly number[]
}

function readNumbers(group: Group, unit: string): Numbers {
  const amounts = distinct(group.of(unit).map(({ n }) => Math.abs(n)))
  const counts = distinct(
    group.counts.flatMap(({ n, seen }) =>
      Number.isInteger(n) && n > 1 && n <= count_max && classOf(seen) !== 'money' ? [n] : [],
    ),
  )
  const percents = distinct(group.percents.map(({ n }) => Math.abs(n) / 100))
  const periods = counts.filter((count) => count <= periods_max)
  const rates = percents.flatMap((share) => periods.map((count) => count * share))
  return { amounts, counts, shares: toFactors(percents), rates: toFactors(rates) }
}

function toFactors(shares: readonly number[]): number[] {
  return distinct(shares.flatMap((share) => [share, 1 - share, 1 + share]))
}

const count_max = 5_000
/** Maximum months or years of a rate. */
const periods_max = 60
/** Maximum numbers of each part. */
const numbers_max = 32

function distinct(numbers: readonly number[]): number[] {
  return [...new Set(numbers)].filter((n) => n > 0).slice(0, numbers_max)
}

/** Factors without a source: both ways, a half, a quarter, the months of a year. */
const wellKnown = [2, 1 / 2, 4, 1 / 4, 12, 1 / 12]

function isProduct(n: number, { amounts, counts, shares, rates }: Numbers): boolean {
  const factors = distinct([1, ...counts, ...shares, ...wellKnown, ...rates])
  const sorted = toSorted(amounts)
  if (!isRare(n, (amounts.length * factors.length ** 3) / 6)) return false
  return factors.some((a, at) =>
    factors
      .slice(at)
      .some((b, next) =>
        factors.slice(at + next).some((c) => has(sorted, n / (a * b * c), a * b * c)),
      ),
  )
}

function isOfTwoLines(n: number, { amounts, counts, shares }: Numbers): boolean {
  const lines = amounts.flatMap((amount) => [amount, ...counts.map((count) => amount * count)])
  const sorted = toSorted(lines)
  const ends = [0, ...amounts.flatMap((amount) => [amount, -amount])]
  const factors = [1, ...shares]
  if (!isRare(n, lines.length ** 2 * factors.length * ends.length)) return false
  return factors.some((factor) =>
    ends.some((end) => {
      const sum = (n - end) / factor
      return lines.some((line) => has(sorted, Math.abs(sum - line), factor))
    }),
  )
}

/** Number of chains that may give an amount by chance, up to which one counts. */
const chance_max = 0.5

/** Tells whether a chain is hardly by chance: results lie within about two powers of ten. */
function isRare(n: number, chains: number): boolean {
  return (chains * 2 * half_cent) / (n * Math.log(100)) <= chance_max
}

const half_cent = 0.005

function toSorted(numbers: readonly number[]): { n: number }[] {
  return numbers.map((n) => ({ n })).sort((a, b) => a.n - b.n)
}

/** Tells whether a number is one of these, once it is multiplied and rounded to cents. */
function has(sorted: readonly { n: number }[], n: number, factor: number): boolean {
  const half = half_cent / factor + 1e-9
  return findWithin(sorted, n - half, n + half) !== undefined
}

function centsOf(n: number): string {
  return Math.round(n * 100).toString()
}
