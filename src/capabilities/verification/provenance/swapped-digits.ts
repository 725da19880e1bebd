import type { Value } from '../values/value.ts'
import type { NearCalculations } from './near-calculations.ts'
import type { SeenIndex } from './seen.ts'
import { figuresOf } from './seen-traits.ts'

const digits_min = 3
/** Minimum digits of a swap that weighs more than a calculation that fits. */
const digits_sure = 5
/** Expected numbers that are another one with a swap, by chance. */
const chance_max = 0.1

/** Tells whether a number is a seen one of its unit with two neighbouring digits swapped. */
export function isSwapped(
  value: Value,
  { traits: { figures } }: SeenIndex,
  near: NearCalculations,
): boolean {
  const digits = figuresOf(value)
  if (value.kind === 'percent' || digits.length < digits_min) return false
  const isYear = value.kind === 'number' && /^(?:1[89]|20)\d\d$/.test(value.text)
  if ((figures.size * digits.length) / 10 ** digits.length > chance_max && !isYear) return false
  if (!swapsOf(digits, isYear ? 2 : 0).some((one) => isSeen(one, value, figures))) return false
  return isYear || digits.length >= digits_sure || !near.explains(value)
}

function swapsOf(digits: string, from: number): string[] {
  return [...digits.slice(from + 1)].flatMap((two, step) => {
    const at = from + step
    const one = digits[at] ?? ''
    return one === two ? [] : [`${digits.slice(0, at)}${two}${one}${digits.slice(at + 2)}`]
  })
}

function isSeen(digits: string, { amount }: Value, figures: ReadonlySet<string>): boolean {
  return figures.has(`${amount?.unit ?? ''} ${digits}`) || figures.has(` ${digits}`)
}
