/** A UTC day, counted from 1970. */
export type Day = number

const day_ms = 86_400_000
const day_ns = BigInt(day_ms) * 1_000_000n

/** From inclusive, to exclusive, in nanoseconds since 1970. */
export type NsWindow = { from: bigint; to: bigint }

/** Returns the day of an instant. */
export function dayOf(instant_ns: bigint): Day {
  return Number(instant_ns / day_ns)
}

/** Returns the part of a window in a day. */
export function windowIn(day: Day, { from, to }: NsWindow): NsWindow {
  const begin = BigInt(day) * day_ns
  const end = begin + day_ns
  return { from: from > begin ? from : begin, to: to < end ? to : end }
}

/** Formats a day, such as `2026-09-21`. */
export function dayText(day: Day): string {
  return new Date(day * day_ms).toISOString().slice(0, 10)
}

/** Parses the text of a day; NaN for other text. */
export function dayFrom(text: string): Day {
  return Date.parse(`${text}T00:00:00Z`) / day_ms
}
