import type { Range } from '../../src/capabilities/provenance/text/index.ts'

/** An answer with one value altered, and where the value is. */
export type AlteredAnswer = { text: string; at: Range }

/** Replaces one digit of a value by another; undefined for a value with fewer than two digits. */
export function alterDigit(answer: string, [start, end]: Range): AlteredAnswer | undefined {
  const digits = [...answer.slice(start, end).matchAll(/\d/g)]
  const place = mix(start, end) % Math.max(1, digits.length)
  const digit = digits[place]
  if (digits.length < 2 || digit === undefined) return undefined
  // The first digit of a number is not a zero.
  const other = 1 + ((Number(digit[0]) + (mix(end, start) % 8)) % 9)
  const next = other === Number(digit[0]) ? (other % 9) + 1 : other
  const at = start + digit.index
  return { text: `${answer.slice(0, at)}${next}${answer.slice(at + 1)}`, at: [start, end] }
}

/** Replaces all digits of a value by others; undefined for a value with fewer than two digits. */
export function replaceValue(answer: string, [start, end]: Range): AlteredAnswer | undefined {
  const value = answer.slice(start, end)
  if ((value.match(/\d/g) ?? []).length < 2) return undefined
  const next = value.replace(/\d/g, (digit, at: number) =>
    String(1 + ((Number(digit) + (mix(at, start) % 8)) % 9)),
  )
  return { text: `${answer.slice(0, start)}${next}${answer.slice(end)}`, at: [start, end] }
}

/** Returns a number that depends on two others alone. */
function mix(one: number, other: number): number {
  const mixed = Math.imul(one + 1, 2_654_435_761) ^ Math.imul(other + 7, 1_597_334_677)
  return (mixed ^ (mixed >>> 15)) >>> 0
}
