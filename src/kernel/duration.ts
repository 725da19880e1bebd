/** Milliseconds of each unit of a duration. */
const unit_ms = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/**
 * A duration as text: whole numbers with a unit, such as `90s`, `10m` or `1h30m`. CRDs contain the
 * pattern, so it has only what RE2 supports.
 */
export const durationPattern = /^([0-9]{1,6}[smhd]){1,4}$/

/** Returns a duration in milliseconds; NaN if the text is not a duration. */
export function durationMs(text: string): number {
  if (!durationPattern.test(text)) return Number.NaN
  let total_ms = 0
  for (const [, count, unit] of text.matchAll(/(\d+)([smhd])/g)) {
    total_ms += Number(count) * unit_ms[unit as keyof typeof unit_ms]
  }
  return total_ms
}
