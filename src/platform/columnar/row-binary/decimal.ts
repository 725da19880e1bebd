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
