import { type DateOptions, dateFormat } from '../browser/date-format.ts'
import { resolveInstant, type TimeRange } from '../browser/time-range.ts'
import { isRepeated } from '../browser/zone-time.ts'

/** Texts for people. Numbers use the English format, like the rest of the console. */

const whole = new Intl.NumberFormat('en')
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** Formats a count: `1,234`. */
export function formatCount(count: number): string {
  return whole.format(count)
}

/** Formats a count with its noun: `1 call`, `1,234 calls`. */
export function formatNumberOf(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** Formats a large count: `1.2K`. */
export function formatCompact(count: number): string {
  return compact.format(count)
}

/** Formats a decimal text of US dollars with the digits that matter: `$0.31`, `$0.0042`. */
export function formatUsd(decimal: string): string {
  const amount = Number(decimal)
  if (!Number.isFinite(amount)) return decimal
  if (amount === 0) return '$0'
  const digits =
    Math.abs(amount) >= 0.1 ? 2 : Math.min(8, 1 - Math.floor(Math.log10(Math.abs(amount))))
  return `$${amount.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: digits })}`
}

/** Formats a duration in milliseconds: `640 ms`, `2.4 s`, `3 min 5 s`, `2 h 10 min`. */
export function formatDuration(duration_ms: number): string {
  if (duration_ms < 1) return `${Math.round(duration_ms * 1000)} µs`
  if (duration_ms < 1_000) return `${Math.round(duration_ms)} ms`
  if (duration_ms < 59_950) return `${(duration_ms / 1000).toFixed(1)} s`
  const seconds = Math.round(duration_ms / 1000)
  if (seconds < 3_600) return twoUnits(Math.floor(seconds / 60), 'min', seconds % 60, 's')
  const minutes = Math.round(seconds / 60)
  if (minutes < 24 * 60) return twoUnits(Math.floor(minutes / 60), 'h', minutes % 60, 'min')
  const hours = Math.round(minutes / 60)
  return twoUnits(Math.floor(hours / 24), 'd', hours % 24, 'h')
}

function twoUnits(large: number, unit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smallUnit}`
}

/** Formats a share of 0 to 1: `93 %`. */
export function formatShare(share: number): string {
  const percent = share * 100
  return `${percent > 0 && percent < 1 ? percent.toFixed(1) : Math.round(percent)} %`
}

/** Formats bytes: `512 B`, `1.4 MB` (1 MB is 1,000,000 B). */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']
  let [size, at] = [bytes, 0]
  while (size >= 1_000 && at < units.length - 1) [size, at] = [size / 1_000, at + 1]
  return `${at === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[at]}`
}

/** Formats an instant in a zone: `Nov 29, 2026, 14:03:12.250 GMT+1`. */
export function formatInstant(instant: string, zone: string): string {
  const at = new Date(instant)
  if (Number.isNaN(at.getTime())) return instant
  return dateFormat(wholeInstant, zone).format(at)
}

const wholeInstant: DateOptions = {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hourCycle: 'h23',
  timeZoneName: 'short',
}

/**
 * Formats an instant as short as a list needs: `14:03:12` today, `Nov 28, 14:03` before, with the year
 * if it is another one. A time that clocks show twice, at the end of summer time, has its zone.
 */
export function formatShortInstant(instant: string, zone: string, now_ms: number): string {
  const at = new Date(instant)
  if (Number.isNaN(at.getTime())) return instant
  const day = dateFormat({ dateStyle: 'short' }, zone)
  const year = dateFormat({ year: 'numeric' }, zone)
  const isToday = day.format(at) === day.format(now_ms)
  const isThisYear = year.format(at) === year.format(now_ms)
  const options: DateOptions = {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    ...(isToday ? { second: '2-digit' } : { month: 'short', day: 'numeric' }),
    ...(!isThisYear && { year: 'numeric' }),
    ...(isRepeated(at.getTime(), zone) && { timeZoneName: 'short' }),
  }
  return dateFormat(options, zone).format(at)
}

/** Formats a day, as days since 1970 in UTC: `2026-11-29`. */
export function formatDay(day: number): string {
  return new Date(Math.floor(day) * 86_400_000).toISOString().slice(0, 10)
}

/** Formats how long ago an instant was: `12 min ago`. A clock that is behind gives `just now`. */
export function formatAgo(instant: string, now_ms: number): string {
  const ago_ms = now_ms - Date.parse(instant)
  if (Number.isNaN(ago_ms)) return instant
  if (ago_ms < 10_000) return 'just now'
  return `${formatDuration(ago_ms).split(' ').slice(0, 2).join(' ')} ago`
}

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
