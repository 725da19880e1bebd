import { type DateOptions, dateFormat } from './date-format.ts'

/** Local times of a zone and the instants they name. Days of a change of the clock have 23 or 25 hours. */

const [hour_ms, day_ms] = [3_600_000, 86_400_000]

const localOptions: DateOptions = {
  ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' },
  ...{ second: '2-digit', hourCycle: 'h23' },
}

/** Returns what clocks of a zone show at an instant, as the instant at which UTC shows the same. */
function localMs(at_ms: number, zone: string): number {
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
function instantsAt(local_ms: number, zone: string): number[] {
  return candidates(local_ms, zone).filter((at_ms) => localMs(at_ms, zone) === local_ms)
}

/** Returns the first instant of a local time; one that is skipped is moved on by the change. */
function firstInstant(local_ms: number, zone: string): number {
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

/**
 * Returns the ticks of an axis of time: round local times of a zone, a step apart. Steps of up to an
 * hour mark a repeated hour twice; longer ones mark its first. A day begins where its midnight is, or
 * where the day begins without one. Steps of 28 days and more are months.
 */
export function timeTicks(from_ms: number, to_ms: number, step_ms: number, zone: string): number[] {
  if (!(step_ms > 0) || !(to_ms >= from_ms)) return []
  const locals = roundLocals(from_ms, to_ms, step_ms, zone)
  const ticks = locals.flatMap((local_ms) => {
    if (step_ms >= day_ms) return [firstInstant(local_ms, zone)]
    return instantsAt(local_ms, zone).slice(0, step_ms > hour_ms ? 1 : 2)
  })
  return ticks.filter((at_ms) => at_ms >= from_ms && at_ms <= to_ms).sort((a, b) => a - b)
}

const ticks_max = 1_000

function roundLocals(from_ms: number, to_ms: number, step_ms: number, zone: string): number[] {
  const [start, end] = [localMs(from_ms, zone), localMs(to_ms, zone)]
  // Clocks that went back show earlier times than at the start, and later ones than at the end.
  const back_ms = Math.max(0, to_ms - from_ms - (end - start))
  const [first, last] = [start - back_ms, end + back_ms]
  const months = step_ms < 28 * day_ms ? 0 : monthsOf(step_ms)
  const round = (at: number) => (months > 0 ? startOfMonth(at * months) : at * step_ms)
  const index = months > 0 ? Math.floor(monthIndex(first) / months) : Math.floor(first / step_ms)
  const locals: number[] = []
  for (let at = index; round(at) <= last && locals.length < ticks_max; at += 1)
    locals.push(round(at))
  return locals
}

function monthsOf(step_ms: number): number {
  const days = step_ms / day_ms
  return days >= 365 ? 12 * Math.round(days / 365) : Math.round(days / 30)
}

function monthIndex(local_ms: number): number {
  const date = new Date(local_ms)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

function startOfMonth(index: number): number {
  return Date.UTC(Math.floor(index / 12), index % 12)
}
