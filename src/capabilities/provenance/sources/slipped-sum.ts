import type { Value } from '../values/index.ts'
import type { Context } from './operands.ts'
import { figuresOf } from './seen-traits.ts'
import { swapsOf } from './swapped-digits.ts'

/** Minimum digits of a result that is compared. */
const digits_min = 4
/** Maximum amounts of an answer that are added and subtracted. */
const operands_max = 12
/** Expected number of results that match another one with a slip by chance. */
const chance_max = 0.02

/**
 * Returns whether an amount is a sum of the answer's own amounts except for a slip: two
 * neighbouring digits are swapped, or a digit is wrong by one. `€23.35 + €1.70 = €26.05` is one.
 */
export function isSlippedSum(value: Value, { supported }: Context): boolean {
  if (value.kind !== 'money' || value.amount === undefined) return false
  if (value.isAbout === true || value.bound !== undefined) return false
  const { unit, written } = value.amount
  const [n = 0] = written
  const digits = figuresOf(value).length
  if (digits < digits_min) return false
  const amounts = supported.flatMap(({ value: { kind, amount } }) =>
    kind === 'money' && amount?.unit === unit ? [amount.written[0] ?? 0] : [],
  )
  if (amounts.length < 2 || amounts.length > operands_max) return false
  const results = resultsOf(amounts)
  if ((results.length * 2 * digits) / 10 ** digits > chance_max) return false
  const place = Number.isInteger(n) ? 1 : 100
  return results.some((result) => isSlip(Math.round(n * place), result * place))
}

function resultsOf(amounts: readonly number[]): number[] {
  const pairs = amounts.flatMap((one, at) =>
    amounts.slice(at + 1).flatMap((other) => [one + other, Math.abs(one - other)]),
  )
  return [...pairs, amounts.reduce((sum, one) => sum + one, 0)]
}

/** Compares two numbers without a fraction: a rounded result has no slip. */
function isSlip(wrong: number, result: number): boolean {
  const right = Math.round(result)
  if (Math.abs(right - result) > 1e-6) return false
  const digits = String(wrong)
  const other = String(right)
  if (digits.length !== other.length) return false
  if (/^10+$/.test(String(Math.abs(wrong - right)))) return true
  return swapsOf(digits).includes(other)
}
