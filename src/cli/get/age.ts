const units: readonly [string, number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
]

/** How long ago an instant was: `3d`, `25h`, `90s`, as kubectl says it; empty for no instant. */
export function ageOf(instant: unknown, now_ms: number): string {
  const then_ms = typeof instant === 'string' ? Date.parse(instant) : Number.NaN
  if (Number.isNaN(then_ms)) return ''
  const passed_ms = Math.max(0, now_ms - then_ms)
  // Two of a unit tell more than one of the next: 90s, not 1m.
  const [unit, length_ms] = units.find(([, ms]) => passed_ms >= 2 * ms) ?? ['s', 1_000]
  return `${Math.floor(passed_ms / length_ms)}${unit}`
}
