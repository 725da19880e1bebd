import type { Amount, Value } from '../values/index.ts'
import { toleranceOf } from './find-number.ts'
import { isMoney, listsOfAnswer } from './lists.ts'
import type { Context } from './operands.ts'
import type { Seen } from './seen.ts'

/** Operands of one unit, and of the others, beyond which any number has some calculation. */
const operands_max = 30
/** Factors that need no source: small counts, parts of a year or a day, percent, VAT. */
const factors = [2, 3, 4, 5, 6, 7, 10, 12, 24, 30, 52, 60, 100, 365, 1000, 1.19, 1.2, 1.1, 1.07]
/** Parts of time and of data, and units that are not read. */
const conversions = [
  3600,
  86_400,
  1440,
  8760,
  1024,
  1024 ** 2,
  1024 ** 3,
  1e6,
  1e9,
  3.785,
  4.546,
  1.852,
  1.609,
  0.4536,
  2.2046,
  3.281,
  2.54,
  0.3861,
  28.35,
  1.8,
]
/** Bare numbers below this one may be percentages. */
const rate_max = 30
const taxes = [1.05, 1.07, 1.1, 1.19, 1.2, 1.21, 1.25]
const sizes_max = 14

/**
 * Returns whether two or three operations over seen values give a value. Such a calculation is no
 * evidence, since some match by chance, but the value may not be invented.
 */
export class NearCalculations {
  readonly #context: Context
  readonly #byUnit = new Map<string, Calculations>()

  constructor(context: Context) {
    this.#context = context
  }

  explains(value: Value): boolean {
    const { amount } = value
    if (amount === undefined) return false
    const known = this.#byUnit.get(amount.unit) ?? this.#read(amount.unit)
    this.#byUnit.set(amount.unit, known)
    const scales = amount.scale > 1 ? [1, 1 / amount.scale] : [1]
    return amount.readings.some((n, at) =>
      scales.some((scale) => isReached(n * scale, toleranceOf(value, at) * scale, known)),
    )
  }

  #read(unit: string): Calculations {
    const { index, supported } = this.#context
    const all = [...supported, ...index.amounts]
    const parts = distinct(all.flatMap((seen) => termsOf(seen, unit)))
    const rates = distinct(all.flatMap((seen) => ratesOf(seen, unit)))
    if (parts.length > operands_max || rates.length > 2 * operands_max) return 'any'
    const runs = runsOf(this.#context, unit)
    return calculate({ parts, rates, runs }, isMoney(unit) ? factors : [...factors, ...conversions])
  }
}

/** Sorted products and quotients, and all results; `any` if there are too many to tell. */
type Calculations =
  | 'any'
  | { parts: readonly number[]; shares: Float64Array; results: Float64Array }

function isUnknown(unit: string): boolean {
  return unit === '' || unit === 'count'
}

function isSame(one: string, other: string): boolean {
  if (one === other || (isUnknown(one) && isUnknown(other))) return true
  return isMoney(one) && isMoney(other) && (one === 'cent' || other === 'cent')
}

/** Numbers that may be added up to one of a unit. */
function termsOf({ value: { amount } }: Seen, unit: string): number[] {
  if (amount === undefined) return []
  if (isSame(amount.unit, unit)) return [...amount.readings]
  if (!isUnknown(amount.unit) && !isUnknown(unit)) return []
  // The name of a column may say that amounts are in cents.
  return isMoney(unit) ? amount.written.flatMap((n) => [n, n / 100]) : [...amount.written]
}

/** Numbers that may multiply or divide one of a unit. */
function ratesOf({ value: { amount } }: Seen, unit: string): number[] {
  if (amount === undefined) return []
  const { written, readings } = amount satisfies Amount
  if (amount.unit === '%') return written.flatMap((n) => [n / 100, 1 + n / 100, 1 - n / 100])
  if (!isUnknown(amount.unit) && isSame(amount.unit, unit)) return []
  // A rate of tax may have no sign, or be a fraction.
  const shares = written.flatMap((n) => (n < 1 ? [n] : n < rate_max ? [n / 100] : []))
  const taxed = shares.flatMap((share) => [1 + share, 1 - share])
  return [...written, ...readings, ...taxed]
}

function distinct(numbers: readonly number[]): number[] {
  return [...new Set(numbers)].filter((n) => n !== 0 && Number.isFinite(n))
}

type Terms = { parts: readonly number[]; rates: readonly number[]; runs: readonly number[] }

function calculate({ parts, rates, runs }: Terms, constants: readonly number[]): Calculations {
  const by = (numbers: readonly number[], all: readonly number[]) =>
    numbers.flatMap((n) => all.flatMap((k) => [n * k, n / k]))
  const pairs = [...parts, ...rates].slice(0, operands_max)
  const products = pairs.flatMap((a, at) => pairs.slice(at + 1).map((b) => a * b))
  const shares = [...by(parts, rates), ...products]
  const sums = parts.flatMap((a, at) => parts.slice(at + 1).flatMap((b) => [a + b, a - b]))
  const few = [...new Set([...rates.slice(0, sizes_max), 2, 12, 100])]
  return {
    parts,
    shares: sorted([...shares, ...by(parts, [2, 12])]),
    results: sorted([
      ...parts,
      ...runs,
      ...by(parts, constants),
      ...by([...shares, ...sums], few),
      ...by(sums, taxes),
      ...signedSums(parts),
      ...sumsOfFew(parts),
      ...sharesOfPeriods(parts),
      ...shares,
      ...sums,
    ]),
  }
}

/** Parts whose signed sums are all tried. */
const signed_max = 8

/** Sums and differences of any of few parts: a deposit without two costs. */
function signedSums(parts: readonly number[]): number[] {
  if (parts.length > signed_max) return []
  return parts.reduce((sums, part) => sums.flatMap((n) => [n, n + part, n - part]), [0])
}

/** Parts of which sums of any four are tried. */
const summed_max = 14

/** Sums of up to four of some parts: the lines of a bill that the answer leaves out. */
function sumsOfFew(parts: readonly number[]): number[] {
  if (parts.length > summed_max) return []
  const sums: { n: number; count: number }[] = [{ n: 0, count: 0 }]
  for (const part of parts) {
    for (const { n, count } of [...sums])
      if (count < 4) sums.push({ n: n + part, count: count + 1 })
  }
  return sums.map(({ n }) => n)
}

/** Parts of a month or a year, in days. */
function sharesOfPeriods(parts: readonly number[]): number[] {
  if (parts.length > signed_max) return []
  return [28, 29, 30, 31, 365].flatMap((length) =>
    Array.from({ length }, (_, day) => day).flatMap((day) => parts.map((n) => (n * day) / length)),
  )
}

/** Sums of neighbours in a column or in the answer: months of a quarter, the lines of a bill. */
function runsOf({ index, supported, text }: Context, unit: string): number[] {
  const columns = Map.groupBy(index.amounts, ({ column, evidence }) => column ?? evidence.source)
  const totals = [...listsOfAnswer(text, supported)]
    .filter(([other]) => isSame(other, unit) || isUnknown(other))
    .flatMap(([, { sums }]) => sums.map(({ n }) => n))
  return [...totals, ...[...columns.values()].flatMap((list) => sumsOfNeighbours(list, unit))]
}

function sumsOfNeighbours(list: readonly Seen[], unit: string): number[] {
  // A cell whose unit is in the name of its column is there twice.
  const cells = new Map(list.slice(0, list_max).map((seen) => [seen.evidence.at[0], seen]))
  const parts = [...cells.values()].map((seen) => termsOf(seen, unit)[0])
  return parts.flatMap((_, from) => {
    let sum = 0
    return parts.slice(from).flatMap((n) => {
      sum += n ?? 0
      return n === undefined ? [] : isMoney(unit) ? [sum, sum / 100] : [sum]
    })
  })
}

/** Numbers of a list whose neighbours are added up. */
const list_max = 60

function sorted(numbers: readonly number[]): Float64Array {
  const sizes = new Float64Array(numbers)
  for (let at = 0; at < sizes.length; at += 1) sizes[at] = Math.abs(sizes[at] ?? 0)
  return sizes.sort()
}

function isReached(n: number, tolerance: number, known: Calculations): boolean {
  if (known === 'any') return true
  const { parts, shares, results } = known
  const has = (sizes: Float64Array, target: number) =>
    hasWithin(sizes, Math.abs(target) - tolerance, Math.abs(target) + tolerance)
  if (has(results, n)) return true
  // A part is added to a product or taken away; then two products are added.
  return (
    parts.some((part) => has(shares, n - part) || has(shares, n + part)) ||
    (shares.length <= pairs_max && shares.some((one) => one < n && has(shares, n - one)))
  )
}

/** Reports whether sorted numbers have one in the range from `low` to `high`, both included. */
function hasWithin(numbers: Float64Array, low: number, high: number): boolean {
  let from = 0
  let to = numbers.length
  while (from < to) {
    const middle = (from + to) >> 1
    if ((numbers[middle] ?? 0) < low) from = middle + 1
    else to = middle
  }
  const first = numbers[from]
  return first !== undefined && !(first > high)
}

/** Products up to which any two are added. */
const pairs_max = 4000
