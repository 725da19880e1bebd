const decimalText = /^([+-]?)(\d+)(?:\.(\d+))?$/

/**
 * Decimal text as a whole number of the last digit's unit: "1.5" at scale 9 is 1,500,000,000.
 * Exact: throws RangeError when digits would be lost or the number has more than `precision`.
 */
export function decimalTicks(text: string, precision: number, scale: number): bigint {
  const match = decimalText.exec(text)
  if (!match) throw new RangeError(`got "${text.slice(0, 80)}", expected a decimal number`)
  const [, sign, whole = '', fraction = ''] = match
  if (/[1-9]/.test(fraction.slice(scale))) {
    throw new RangeError(
      `got "${text.slice(0, 80)}", expected at most ${scale} digits after the point`,
    )
  }
  const digits = whole + fraction.slice(0, scale).padEnd(scale, '0')
  const ticks = BigInt(digits)
  if (ticks >= 10n ** BigInt(precision)) {
    throw new RangeError(`got "${text.slice(0, 80)}", expected at most ${precision} digits`)
  }
  return sign === '-' ? -ticks : ticks
}

/** Whole digits and digits after the point that surely make a number below 2^53. */
const fewWhole_digits = 6
const scale_digits = 9

/** Plain decimal text of a small amount in billionths; -1 for any other, which takes longer. */
export function fewTicks(text: string): number {
  let ticks = 0
  let index = 0
  for (; index < text.length && text.charCodeAt(index) !== 0x2e; index++) {
    ticks = ticks * 10 + digitAt(text, index)
  }
  if (index === 0 || index > fewWhole_digits || index === text.length - 1) return -1
  const end = index + scale_digits
  if (text.length > end + 1) return -1
  for (let place = index + 1; place <= end; place++) {
    ticks = ticks * 10 + (place < text.length ? digitAt(text, place) : 0)
  }
  return ticks >= 0 ? ticks : -1
}

/** NaN for what is no digit, which spoils the sum. */
function digitAt(text: string, index: number): number {
  const digit = text.charCodeAt(index) - 0x30
  return digit >= 0 && digit <= 9 ? digit : Number.NaN
}
