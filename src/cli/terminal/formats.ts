import type { CommandIo, Style } from '../command.ts'

/** Formats a whole number with separators: `3,980`. */
export function countText(count: number): string {
  return count.toLocaleString('en-US')
}

/** Formats dollars given as decimal text: `$12.30`, `$0.0123`, `$0.000496`. Empty for unknown ones. */
export function costText(decimal: string | null): string {
  if (decimal === null) return ''
  const dollars = Number(decimal)
  if (dollars === 0) return '$0'
  if (dollars < 0.000_001) return '<$0.000001'
  return `$${dollars.toFixed(dollars >= 1 ? 2 : dollars >= 0.01 ? 4 : 6)}`
}

const second_ms = 1_000
const minute_ms = 60_000
const hour_ms = 3_600_000

/** Formats a duration: `0.4 ms`, `108 ms`, `1.39 s`, `2 min 5 s`, `3 h 12 min`. Empty for unknown ones. */
export function durationText(ms: number | null): string {
  if (ms === null) return ''
  if (ms < 10) return `${Number(ms.toFixed(1))} ms`
  if (ms < second_ms) return `${Math.round(ms)} ms`
  if (ms < minute_ms) return `${(ms / second_ms).toFixed(2)} s`
  const [large, small] =
    ms < hour_ms
      ? [`${Math.floor(ms / minute_ms)} min`, `${Math.floor((ms % minute_ms) / second_ms)} s`]
      : [`${Math.floor(ms / hour_ms)} h`, `${Math.floor((ms % hour_ms) / minute_ms)} min`]
  return `${large} ${small}`
}

/** Formats an instant in the local time zone: `2026-11-29 08:40:58`. Empty for an unknown one. */
export function timeText(instant: string | null, { time_zone }: Pick<CommandIo, 'time_zone'>) {
  const ms = instant === null ? Number.NaN : Date.parse(instant)
  return Number.isNaN(ms) ? '' : dateFormat(time_zone).format(ms)
}

/** Formats an instant in the local time zone, with the zone: `2026-11-29 08:40:58 Europe/Berlin`. */
export function zonedTimeText(instant: string | null, io: Pick<CommandIo, 'time_zone'>): string {
  const text = timeText(instant, io)
  return text === '' ? '' : `${text} ${io.time_zone}`
}

const formats = new Map<string, Intl.DateTimeFormat>()

function dateFormat(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone)
  if (known !== undefined) return known
  // The Swedish form is that of ISO 8601, without the T.
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  })
  formats.set(timeZone, format)
  return format
}

const severityStyles: Readonly<Record<string, Style>> = {
  critical: 'red',
  high: 'red',
  medium: 'yellow',
  low: 'dim',
  info: 'dim',
}

/** Returns the style of a severity, or of the word of another state. */
export function severityStyle(severity: string): Style {
  return severityStyles[severity] ?? 'dim'
}
