/** A whole number with commas between thousands. */
export function thousands(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

/** Whether a time is within its goal. */
export function within(value_ms: number, goal_ms: number): string {
  return verdict(value_ms <= goal_ms)
}

/** The text of a column that reports whether a goal was met. */
export function verdict(isMet: boolean): string {
  return isMet ? 'met' : '**missed**'
}

/** Whether answers were the same. */
export function sameness(equal: boolean): string {
  return equal ? 'yes' : '**no**'
}

/** The minimum and maximum of some times. */
export function spreadOf([low, high]: readonly [number, number]): string {
  return low < 10 ? `${low.toFixed(1)}–${high.toFixed(1)}` : `${low.toFixed(0)}–${high.toFixed(0)}`
}
