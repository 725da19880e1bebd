/** Decimal text of US dollars (at most 9 digits after the point) as whole nano-dollars. */
export function nanoDollarsFrom(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.')
  return BigInt(whole) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0').slice(0, 9))
}

/** Nano-dollars, from 0 up, as decimal text of dollars without needless zeros. */
export function dollarsText(nanoDollars: bigint): string {
  const digits = nanoDollars.toString().padStart(10, '0')
  const fraction = digits.slice(-9).replace(/0+$/, '')
  const whole = digits.slice(0, -9)
  return fraction === '' ? whole : `${whole}.${fraction}`
}
