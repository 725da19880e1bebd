import type { Evidence, Value } from '../../values/index.ts'
import type { Context } from '../lookup/operands.ts'
import { figuresOf } from '../seen/seen-traits.ts'
import { sentenceBefore } from './doubt.ts'

/** Expected number of values that match another one with a slip by chance. */
const chance_max = 0.02
/** Minimum digits of a number that is compared. */
const digits_min = 4
/** Maximum amounts of an answer that are added and subtracted. */
const operands_max = 12

/**
 * Finds what a number is a slip of: a seen number of its unit, or a sum of the answer's own amounts,
 * with two neighbouring digits swapped or one digit altered. A number that the answer also states is
 * no slip.
 */
export function findSlip(value: Value, context: Context): Evidence | undefined {
  const { amount, kind } = value
  if (amount === undefined || !/^(?:number|money|quantity|percent)$/.test(kind)) return undefined
  if (value.isAbout === true || value.bound !== undefined) return undefined
  const digits = figuresOf(value)
  if (stated(digits) < digits_min || calculated.test(sentenceBefore(context.text, value)))
    return undefined
  return findSlipOfSeen(value, digits, context) ?? findSlipOfSum(value, digits, context)
}

/** Counts the digits that a number states: zeros at its end are places. */
function stated(digits: string): number {
  return digits.replace(/0+$/, '').length
}

/** Words of results that are near the numbers that they are calculated from. */
const calculated =
  /(?<!\p{L})(?:median|mean|average\w*|range|between|limits?|up to|mittel\w*|moyenne|media)(?!\p{L})/iu

function findSlipOfSeen(value: Value, digits: string, { index, supported }: Context) {
  const { unit } = value.amount ?? { unit: '' }
  const said = new Set(supported.map((seen) => figuresOf(seen.value)))
  const rivals = new Map<string, Evidence>()
  for (const { value: other, evidence } of index.amounts) {
    if (other.amount?.unit !== unit && other.amount?.unit !== '') continue
    const figures = figuresOf(other)
    if (figures.length === digits.length) rivals.set(figures, evidence)
  }
  const numbers = 9 * 10 ** (stated(digits) - 1)
  const isSwapRare = (rivals.size * digits.length) / numbers <= chance_max
  const isOtherRare = (rivals.size * 9 * digits.length) / numbers <= chance_max
  const isLong = stated(digits) > digits_min
  for (const [figures, evidence] of rivals) {
    const slip = said.has(figures) ? undefined : slipBetween(digits, figures)
    if ((slip === 'swap' && isSwapRare) || (slip === 'digit' && isOtherRare && isLong))
      return evidence
  }
  return undefined
}

/** `€23.35 + €1.70 = €26.05` is a sum with a slip: a digit is wrong by one, or two are swapped. */
function findSlipOfSum(value: Value, digits: string, { supported }: Context) {
  if (value.kind !== 'money' || value.amount === undefined) return undefined
  const { unit, written } = value.amount
  const [n = 0] = written
  const own = supported.filter(
    ({ value: { kind, amount } }) => kind === 'money' && amount?.unit === unit,
  )
  const isExact = stated(digits) > digits_min || !Number.isInteger(n)
  if (own.length < 2 || own.length > operands_max || !isExact) return undefined
  const results = resultsOf(own.map(({ value: { amount } }) => amount?.written[0] ?? 0))
  if ((results.length * 2 * digits.length) / 10 ** digits.length > chance_max) return undefined
  const place = Number.isInteger(n) ? 1 : 100
  const isSlip = results.some((result) => isSlipOf(Math.round(n * place), result * place))
  return isSlip ? own[0]?.evidence : undefined
}

function resultsOf(amounts: readonly number[]): number[] {
  const pairs = amounts.flatMap((one, at) =>
    amounts.slice(at + 1).flatMap((other) => [one + other, Math.abs(one - other)]),
  )
  return [...pairs, amounts.reduce((sum, one) => sum + one, 0)]
}

/** Compares two numbers without a fraction: a rounded result has no slip. */
function isSlipOf(wrong: number, result: number): boolean {
  const right = Math.round(result)
  if (Math.abs(right - result) > 1e-6 || String(wrong).length !== String(right).length) return false
  if (/^10+$/.test(String(Math.abs(wrong - right)))) return true
  return slipBetween(String(wrong), String(right)) === 'swap'
}

/** Maximum letters and digits of an id whose slips are compared. */
const code_chars_max = 64

/** Letters and digits of an id that is not another one of a series. */
const code_digits_min = 8

/** Returns whether an id is a seen one with two neighbours swapped, or with one other sign. */
export function isSlip(letters: string, codes: ReadonlySet<string>): boolean {
  if (letters.length > code_chars_max) return false
  for (const code of codes) {
    const slip = /\d/.test(code) ? slipBetween(letters, code) : undefined
    if (slip === 'swap' || (slip === 'digit' && letters.length >= code_digits_min)) return true
  }
  return false
}

/** Returns how two equally long texts differ: in two swapped neighbours, or in one sign. */
export function slipBetween(one: string, other: string): 'swap' | 'digit' | undefined {
  if (one.length !== other.length || one === other) return undefined
  const places: number[] = []
  for (let at = 0; at < one.length; at += 1) {
    if (one[at] !== other[at] && places.push(at) > 2) return undefined
  }
  const [first = 0, second] = places
  if (second === undefined) return 'digit'
  const isSwap =
    second === first + 1 && one[first] === other[second] && one[second] === other[first]
  return isSwap ? 'swap' : undefined
}
