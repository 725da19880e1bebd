import { firstInstant, localMs } from '../../browser/zone-time.ts'
import type { Body, Filter, GroupBy, Window } from './body.ts'
import type { Row } from './chart-rows.ts'
import { addTo } from './filter-tree.ts'

const units_ms = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const

/** Returns the width of a bucket such as `5m`; undefined for another text. */
export function bucketWidth(text: string): number | undefined {
  const [, count, unit] = /^([1-9]\d{0,4})([smhdw])$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * units_ms[unit as keyof typeof units_ms]
}

/**
 * Returns the query of the records that one row of an aggregate stands for, and its window if the
 * row is of a bucket. Undefined for the row of all other groups, which no filter describes.
 */
export function recordsOf(
  { entity, where, group_by = [], include_restored, allow_wide }: Body,
  row: Row,
): { body: Body; window: Window | undefined } | undefined {
  if (row['other'] === true) return undefined
  let filter: Filter | undefined = where
  let window: Window | undefined
  for (const group of group_by) {
    if (typeof group !== 'string') {
      window = windowOf(row['time_bucket'], group)
      continue
    }
    const value = row[group]
    const isKnown = value !== null && value !== undefined
    const condition = isKnown
      ? { field: group, op: 'eq' as const, value }
      : { field: group, op: 'exists' as const, value: false }
    filter = addTo(filter, condition)
  }
  const body: Body = {
    entity,
    ...(filter && { where: filter }),
    ...(include_restored && { include_restored }),
    ...(allow_wide && { allow_wide }),
  }
  return { body, window }
}

/** Returns the window of a bucket. A day of a time zone may have 23 or 25 hours. */
function windowOf(
  start: unknown,
  { time_bucket, time_zone }: Exclude<GroupBy, string>,
): Window | undefined {
  const [from_ms, width_ms] = [Date.parse(String(start)), bucketWidth(time_bucket)]
  if (Number.isNaN(from_ms) || width_ms === undefined) return undefined
  const to_ms =
    time_zone === undefined
      ? from_ms + width_ms
      : firstInstant(localMs(from_ms, time_zone) + width_ms, time_zone)
  return { from: new Date(from_ms).toISOString(), to: new Date(to_ms).toISOString() }
}

/** Returns whether buckets of a width are whole days, which time zones count differently. */
export function isOfDays(width: string): boolean {
  return /[dw]$/.test(width)
}

/** Widths of buckets that are offered, from narrow to wide. */
export const bucketWidths = ['1m', '5m', '15m', '1h', '3h', '12h', '1d', '1w'] as const

const buckets_aim = 60

/** Returns the narrowest offered width that divides a window into about 60 buckets at most. */
export function widthFor(window: { from: string; to: string }): string {
  const length_ms = Date.parse(window.to) - Date.parse(window.from)
  return bucketWidths.find((each) => length_ms / (bucketWidth(each) ?? 1) <= buckets_aim) ?? '1w'
}
