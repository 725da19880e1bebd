import { isoFromNs } from '../../../kernel/time.ts'
import { instantParameter, windowWithin } from '../../../model/list-query.ts'

/** Longest window of statistics and patterns, in days. */
export const maxWindowDays = 90
const defaultWindowDays = 30
const hour_ns = 3_600_000_000_000n

/** Query parameters of the window of a route. */
export const windowQuery = {
  from: instantParameter(
    'Start of the window, inclusive, rounded down to the hour. Default: 30 days before `to`.',
  ),
  to: instantParameter(
    'End of the window, exclusive, rounded up to the hour; at most 90 days after `from`. ' +
      'Default: now.',
  ),
}

/** A window of whole hours, ISO 8601: `from` inclusive, `to` exclusive. */
export type HourWindow = { from: string; to: string }

/** Returns the window of a request. Throws `invalid_request` for one that is empty or too long. */
export function hourWindow(
  query: { from?: bigint | undefined; to?: bigint | undefined },
  now_ms: number,
): HourWindow {
  const bounds = { now_ms, days_default: defaultWindowDays, days_max: maxWindowDays }
  const { from, to } = windowWithin(query, bounds)
  const end = to % hour_ns === 0n ? to : to - (to % hour_ns) + hour_ns
  return { from: isoFromNs(from - (from % hour_ns)), to: isoFromNs(end) }
}

/** Returns the days (UTC) that a window touches, `YYYY-MM-DD`, in order. */
export function daysOf({ from, to }: HourWindow): string[] {
  const days: string[] = []
  const end_ms = Date.parse(to)
  for (let at_ms = Date.parse(`${from.slice(0, 10)}T00:00:00Z`); at_ms < end_ms; ) {
    days.push(new Date(at_ms).toISOString().slice(0, 10))
    at_ms += 86_400_000
  }
  return days
}
