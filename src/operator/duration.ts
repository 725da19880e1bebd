const unit_ms = { s: 1_000, m: 60_000, h: 3_600_000 } as const

/** `30s`, `10m` and `1h` in milliseconds, as specs write them; anything else is 10 min. */
export function duration_ms(text: string): number {
  const [, count, unit] = /^([1-9][0-9]{0,4})([smh])$/.exec(text) ?? ['', '10', 'm']
  return Number(count) * unit_ms[unit as keyof typeof unit_ms]
}
