const nanoPerDollar = 1_000_000_000n

/**
 * Decimal USD (≤ 9 digits after the point, as the stores hold them) in billionths of a dollar:
 * whole numbers, so that sums are exact.
 */
export function nanoDollarsFrom(decimal: string): bigint {
  const [, sign, whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d{0,9}))?$/.exec(decimal) ?? []
  if (whole === '') throw new RangeError(`"${decimal}" is no decimal with at most 9 digits`)
  const nano = BigInt(whole) * nanoPerDollar + BigInt(fraction.padEnd(9, '0'))
  return sign === '-' ? -nano : nano
}

/** The decimal string of an amount, without zeros at its end: `0.0125`, `0`, `3`. */
export function dollarsFrom(nano: bigint): string {
  const amount = nano < 0n ? -nano : nano
  const fraction = (amount % nanoPerDollar).toString().padStart(9, '0').replace(/0+$/, '')
  const whole = `${nano < 0n ? '-' : ''}${amount / nanoPerDollar}`
  return fraction === '' ? whole : `${whole}.${fraction}`
}

/** A stored amount as the API shows it: both stores' spellings of an amount become the same. */
export function shownDollars(decimal: string): string {
  return dollarsFrom(nanoDollarsFrom(decimal))
}
