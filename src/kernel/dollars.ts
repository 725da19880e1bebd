const nanoPerDollar = 1_000_000_000n

/** Largest amount that the columns of sums hold: 11 digits before the point. */
export const dollars_max = 99_999_999_999

/**
 * Parses decimal USD (at most 9 digits after the point) as billionths of a dollar, so that sums are
 * exact. Throws RangeError for any other text.
 */
export function nanoDollarsFrom(decimal: string): bigint {
  const [, sign, whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d{0,9}))?$/.exec(decimal) ?? []
  if (whole === '') throw new RangeError(`"${decimal}" is no decimal with at most 9 digits`)
  const nano = BigInt(whole) * nanoPerDollar + BigInt(fraction.padEnd(9, '0'))
  return sign === '-' ? -nano : nano
}

/** Formats an amount as decimal text without trailing zeros: `0.0125`, `0`, `3`. */
export function dollarsFrom(nano: bigint): string {
  const amount = nano < 0n ? -nano : nano
  const fraction = (amount % nanoPerDollar).toString().padStart(9, '0').replace(/0+$/, '')
  const whole = `${nano < 0n ? '-' : ''}${amount / nanoPerDollar}`
  return fraction === '' ? whole : `${whole}.${fraction}`
}

/** Formats a stored amount for the API: the two stores spell the same amount differently. */
export function shownDollars(decimal: string): string {
  return dollarsFrom(nanoDollarsFrom(decimal))
}
