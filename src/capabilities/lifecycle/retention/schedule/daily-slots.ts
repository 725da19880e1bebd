import { day_ms } from '../policy/rules.ts'

const hour_ms = 3_600_000

/** The first slot of the daily run after an instant: the hour of a day, in UTC. */
export function nextSlot(now_ms: number, hour: number): number {
  return lastSlot(now_ms, hour) + day_ms
}

/** The last slot of the daily run, which may be this very instant. */
export function lastSlot(now_ms: number, hour: number): number {
  const of_day_ms = hour * hour_ms
  return Math.floor((now_ms - of_day_ms) / day_ms) * day_ms + of_day_ms
}

/** A run that is asked for later than this after its slot is late. */
export const late_ms_min = 10 * 60_000
