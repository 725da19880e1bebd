import type { Value } from '../values/index.ts'
import { toleranceOf } from './find-number.ts'
import type { Context } from './operands.ts'
import type { SeenIndex } from './seen.ts'

/** A period or a unit behind an amount: `€1.38 per day`, `0.5 % a month`, `3 EUR/night`. */
const behind =
  /^.{0,12}?(?:(?<!\p{L})(?:per|an?|pro|je|par|por|each|every)(?: \p{L}+)? \p{L}+|\/ ?\p{L}+|(?<!\p{L})(?:daily|weekly|monthly|yearly|annual\w*|hourly|nightly|interest|zins\w*|late fee)(?!\p{L}))/iu
/** Characters behind an amount that are read for its period. */
const behind_chars = 40
/** Periods that an answer may multiply a rate by: nights, days of a year, hours. */
const times_max = 366
/** Rates, and amounts that they are added to, of a calculation. */
const rates_max = 12
const parts_max = 24
/** Periods of a year: a yearly percentage of a month or a day. */
const yearParts = [1, 12, 52, 360, 365]

/**
 * Returns whether a seen rate gives an amount: a multiple of the rate, alone or added to another
 * amount. Only a rate with its number is a rate: the words `per month` calculate nothing.
 */
export function isReachedByRate(value: Value, { index, supported }: Context): boolean {
  const rates = readRates(index)
  const { amount } = value
  if (amount === undefined || (rates.amounts.length === 0 && rates.shares.length === 0))
    return false
  const all = [...supported, ...index.amounts].flatMap(
    ({ value: one }) => one.amount?.written ?? [],
  )
  const parts = [...new Set(all)].slice(0, parts_max)
  return amount.written.some((n, at) => {
    const tolerance = toleranceOf(value, at) / amount.scale
    return (
      rates.amounts.some((rate) => isByRate(n, { rate, parts, tolerance })) ||
      rates.shares.some((share) => parts.some((part) => isShare(n, { part, share, tolerance })))
    )
  })
}

type ByRate = { rate: number; parts: readonly number[]; tolerance: number }

/** Multiples of a rate and of another amount, and parts of a period. */
function isByRate(n: number, { rate, parts, tolerance }: ByRate): boolean {
  if (isMultiple(n, rate, tolerance)) return true
  if (periods.some((days) => isMultiple(n, rate / days, tolerance))) return true
  return parts.some((part) => few.some((times) => isMultiple(n - times * part, rate, tolerance)))
}

/** Days of a month and of a year, also of twelve months of 30 days. */
const periods = [28, 29, 30, 31, 360, 365]
/** How often the other amount counts: nights, people, not at all. */
const few = [-2, -1, 1, 2, 3, 4, 5, 6]

function isMultiple(n: number, rate: number, tolerance: number): boolean {
  const times = Math.round(n / rate)
  if (Math.abs(times) < 1 || Math.abs(times) > times_max) return false
  return Math.abs(n - times * rate) <= tolerance
}

type Share = { part: number; share: number; tolerance: number }

/** Simple and compound interest, of a part or with it, and the rate of a loan. */
function isShare(n: number, { part, share, tolerance }: Share): boolean {
  return yearParts.some((parts) => {
    if (isAnnuity(n, { part, share: share / parts, tolerance })) return true
    const simple = (part * share) / parts
    if (isMultiple(n, simple, tolerance) || isMultiple(n - part, simple, tolerance)) return true
    const growth = Math.log(1 + share / parts)
    const times = Math.round(Math.log(Math.abs(n / part)) / growth)
    if (times < 1 || times > times_max) return false
    return Math.abs(part * Math.exp(growth * times) - n) <= tolerance
  })
}

/** Tells whether equal payments of this size pay off a loan, in whole years of any number. */
function isAnnuity(n: number, { part, share, tolerance }: Share): boolean {
  // n = part · share / (1 − (1 + share)^−times), solved for the number of payments.
  const rest = 1 - (part * share) / n
  if (rest <= 0 || rest >= 1) return false
  const times = Math.round(-Math.log(rest) / Math.log(1 + share))
  if (times < 1 || times > payments_max) return false
  return Math.abs((part * share) / (1 - (1 + share) ** -times) - n) <= tolerance
}

/** Payments of a loan: 40 years of months. */
const payments_max = 480

type Rates = { amounts: readonly number[]; shares: readonly number[] }

/** Rates are read once of everything that was seen. */
const known = new WeakMap<SeenIndex, Rates>()

function readRates(index: SeenIndex): Rates {
  const read = known.get(index)
  if (read !== undefined) return read
  const texts = new Map(index.texts.map(({ source, text }) => [source, text]))
  const amounts = new Set<number>()
  const shares = new Set<number>()
  for (const { value, evidence, column = '' } of index.amounts) {
    const [n = 0] = value.amount?.written ?? []
    if (n === 0) continue
    const end = evidence.at[1]
    const after = texts.get(evidence.source)?.slice(end, end + behind_chars) ?? ''
    if (value.amount?.unit === '%') shares.add(Math.abs(n) / 100)
    else if (behind.test(after) || /per|rate|daily|night/i.test(column)) amounts.add(Math.abs(n))
  }
  const rates = {
    amounts: [...amounts].slice(0, rates_max),
    shares: [...shares].slice(0, rates_max),
  }
  known.set(index, rates)
  return rates
}
