import { firstInstant, instantsAt, localMs } from '../browser/zone-time.ts'

const [hour_ms, day_ms] = [3_600_000, 86_400_000]

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
