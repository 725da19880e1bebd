import type { IncidentSuppression } from '../../api/schema.gen.d.ts'
import { toInstant, toLocal } from '../../browser/zone-time.ts'

/** A part of a day in which a suppression mutes, as shares of the day from 0 to 1. */
export type CalendarBar = { from: number; to: number; starts: string; ends: string }

/** A day of the calendar: its date `2026-11-29` in the zone, and its length in the zone. */
export type CalendarDay = { date: string; from_ms: number; to_ms: number }

const days_max = 14

/** Returns the next days in a zone. A day of a change of the clock has 23 or 25 hours. */
export function calendarDays(now_ms: number, zone: string, count = days_max): CalendarDay[] {
  const today = toLocal(new Date(now_ms).toISOString(), zone).slice(0, 10)
  const dates = Array.from({ length: count + 1 }, (_, at) =>
    new Date(Date.parse(`${today}T00:00:00Z`) + at * 86_400_000).toISOString().slice(0, 10),
  )
  const starts = dates.map((date) => Date.parse(toInstant(`${date}T00:00`, zone)))
  return dates
    .slice(0, count)
    .map((date, at) => ({ date, from_ms: starts[at] ?? 0, to_ms: starts[at + 1] ?? 0 }))
}

/** Returns the parts of a day in which a suppression mutes. */
export function barsOf(
  { next_windows }: Pick<IncidentSuppression, 'next_windows'>,
  { from_ms, to_ms }: CalendarDay,
): CalendarBar[] {
  const share = (at_ms: number) => (at_ms - from_ms) / (to_ms - from_ms)
  return next_windows.flatMap(({ from, to }) => {
    const [start_ms, end_ms] = [Date.parse(from), Date.parse(to)]
    if (end_ms <= from_ms || start_ms >= to_ms) return []
    return [
      {
        from: share(Math.max(start_ms, from_ms)),
        to: share(Math.min(end_ms, to_ms)),
        starts: from,
        ends: to,
      },
    ]
  })
}
