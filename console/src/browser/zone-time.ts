import { type DateOptions, dateFormat } from './date-format.ts'

/** Local times of a zone and the instants they name. Days of a change of the clock have 23 or 25 hours. */

const day_ms = 86_400_000

const localOptions: DateOptions = {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
}

/** Returns what clocks of a zone show at an instant, as the instant at which UTC shows the same. */
export function localMs(at_ms: number, zone: string): number {
  const parts = dateFormat(localOptions, zone).formatToParts(at_ms)
  const of = Object.fromEntries(parts.map(({ type, value }) => [type, Number(value)]))
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = of
  return Date.UTC(year, month - 1, day, hour, minute, second) + (((at_ms % 1000) + 1000) % 1000)
}

/** Returns the instants that a local time may name, by the offsets around it; ascending. */
function candidates(local_ms: number, zone: string): number[] {
  const offsets = [-day_ms, day_ms].map((away_ms) => {
    return localMs(local_ms + away_ms, zone) - (local_ms + away_ms)
  })
  return [...new Set(offsets)].map((offset_ms) => local_ms - offset_ms).sort((a, b) => a - b)
}

/** Returns the instants at which clocks show a local time: none, one or two. */
export function instantsAt(local_ms: number, zone: string): number[] {
  return candidates(local_ms, zone).filter((at_ms) => localMs(at_ms, zone) === local_ms)
}

/** Returns the first instant of a local time; one that is skipped is moved on by the change. */
export function firstInstant(local_ms: number, zone: string): number {
  return instantsAt(local_ms, zone)[0] ?? candidates(local_ms, zone).at(-1) ?? local_ms
}

/** Returns whether clocks show the local time of an instant twice, because summer time ends. */
export function isRepeated(at_ms: number, zone: string): boolean {
  return instantsAt(localMs(at_ms, zone), zone).length > 1
}

/** Returns the name of a zone at an instant: `GMT+2`, `EST`. */
export function zoneName(at_ms: number, zone: string): string {
  const parts = dateFormat({ timeZoneName: 'short' }, zone).formatToParts(at_ms)
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? zone
}

/** Formats an instant as `2026-11-29T14:00` in a zone, for an input of a local time. */
export function toLocal(instant: string, zone: string): string {
  const at_ms = Date.parse(instant)
  if (Number.isNaN(at_ms)) return ''
  return new Date(localMs(at_ms, zone)).toISOString().slice(0, 16)
}

/**
 * Returns the instant of a local time in a zone. A time that does not exist (the hour that summer time
 * skips) is moved on by an hour; of one that exists twice, the first counts. An unreadable text is
 * returned as it is, so that the API names its fault.
 */
export function toInstant(local: string, zone: string): string {
  const local_ms = Date.parse(`${local}Z`)
  return Number.isNaN(local_ms) ? local : new Date(firstInstant(local_ms, zone)).toISOString()
}
