/** Milliseconds of each unit of a duration. */
const unit_ms = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** A duration as text: one or more whole numbers with a unit, such as `90s`, `10m` or `1h30m`. */
export const durationPattern = /^(?=\d)(?:\d{1,6}d)?(?:\d{1,6}h)?(?:\d{1,6}m)?(?:\d{1,6}s)?$/

/** Returns a duration in milliseconds; NaN if the text is no duration. */
export function durationMs(text: string): number {
  if (!durationPattern.test(text)) return Number.NaN
  let total_ms = 0
  for (const [, count, unit] of text.matchAll(/(\d+)([smhd])/g)) {
    total_ms += Number(count) * unit_ms[unit as keyof typeof unit_ms]
  }
  return total_ms
}
