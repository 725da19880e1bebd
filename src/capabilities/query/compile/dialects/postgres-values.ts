import type { QueryWindow } from '../../language/check-query.ts'

/** The float whose bits these are, as the digits of an unsigned number. */
export function floatFrom(digits: string): number {
  const view = new DataView(new ArrayBuffer(8))
  view.setBigUint64(0, BigInt.asUintN(64, BigInt(digits)))
  return view.getFloat64(0)
}

const ns_per_ms = 1_000_000n

/** From the start of the month of the window's first instant to the end of that of its last. */
export function monthsAround({ from, to }: QueryWindow): QueryWindow {
  return { from: monthAt(from, 0), to: monthAt(to, 1) }
}

function monthAt(instant: bigint, months: number): bigint {
  const date = new Date(Number(instant / ns_per_ms))
  return BigInt(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months)) * ns_per_ms
}
