import { resolveInstant, type TimeRange } from '../browser/time-range.ts'
import { formatShortInstant } from '../ui/format.ts'

/** Describes a range that the frame does not offer: `Last 3 h`, or its ends in a zone. */
export function describeRange(
  { from, to }: Partial<TimeRange>,
  zone: string,
  now_ms: number,
): string {
  const [, count, unit] = /^-(\d{1,5})([mhd])$/.exec(from ?? '') ?? []
  if (count !== undefined && to === undefined) return `Last ${count} ${unit === 'm' ? 'min' : unit}`
  const [start = '', end] = [from, to].map((text) => {
    const instant = resolveInstant(text, now_ms)
    return instant === undefined ? text : formatShortInstant(instant, zone, now_ms)
  })
  return end === undefined ? `Since ${start}` : `${start} to ${end}`
}
