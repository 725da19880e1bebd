import type { Value } from '../values/index.ts'
import type { NearCalculations } from './near-calculations.ts'
import type { SeenIndex } from './seen.ts'
import { figuresOf } from './seen-traits.ts'

/** Expected number of values that match another one with a swap by chance. */
const chance_max = 0.1

/**
 * Returns whether a number is a seen one of its unit with two neighbouring digits swapped. It has
 * `digits_min` digits without the zeros at its end: fewer are swapped by chance.
 */
export function isSwapped(
  value: Value,
  { traits: { figures } }: SeenIndex,
  near: NearCalculations,
  digits_min: number,
): boolean {
  if (value.kind !== 'number' && value.kind !== 'money') return false
  const digits = figuresOf(value)
  if (digits.replace(/0+$/, '').length < digits_min) return false
  if ((figures.size * digits.length) / 10 ** digits.length > chance_max) return false
  if (!swapsOf(digits).some((one) => isSeen(one, value, figures))) return false
  return !near.explains(value)
}

/** Returns a text with each pair of different neighbouring characters swapped. */
export function swapsOf(digits: string): string[] {
  return [...digits.slice(1)].flatMap((two, at) => {
    const one = digits[at] ?? ''
    return one === two ? [] : [`${digits.slice(0, at)}${two}${one}${digits.slice(at + 2)}`]
  })
}

function isSeen(digits: string, { amount }: Value, figures: ReadonlySet<string>): boolean {
  return figures.has(`${amount?.unit ?? ''} ${digits}`) || figures.has(` ${digits}`)
}

/** Maximum letters and digits of an id whose swaps are compared. */
const code_chars_max = 64

/** Returns whether an id is a seen one with two neighbouring letters or digits swapped. */
export function isSwappedCode(letters: string, { traits: { codes } }: SeenIndex): boolean {
  if (letters.length > code_chars_max) return false
  return swapsOf(letters).some((one) => /\d/.test(one) && codes.has(one))
}
