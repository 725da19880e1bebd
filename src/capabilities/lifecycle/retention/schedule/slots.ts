import { cronFault, lastCronTick, nextCronTick } from '../../../../kernel/cron.ts'
import { day_ms } from '../retention-policy/rules.ts'

/** Most characters of a schedule. */
export const maxScheduleChars = 100

/** Five cron fields; the minute is a single number, so a schedule is hourly at most. */
const scheduleForm = /^[0-5]?[0-9]( [0-9A-Za-z*,/-]+){4}$/

/** Returns the fault of a schedule; undefined for a valid one. */
export function scheduleFault(schedule: string): string | undefined {
  if (schedule.length > maxScheduleChars || !scheduleForm.test(schedule)) {
    return `got ${JSON.stringify(schedule.slice(0, 80))}, expected five cron fields (UTC) with a single minute, such as 0 4 * * *`
  }
  return cronFault({ cron: schedule, time_zone: 'UTC' })
}

/**
 * Returns the first time of a schedule after an instant, in ms since 1970; undefined without one.
 */
export function nextTick(schedule: string, after_ms: number): number | undefined {
  return nextCronTick({ cron: schedule, time_zone: 'UTC' }, after_ms)
}

/** Returns the last time of a schedule up to an instant, inclusive; undefined without one. */
export function lastTick(schedule: string, at_ms: number): number | undefined {
  return lastCronTick({ cron: schedule, time_zone: 'UTC' }, at_ms)
}

const hour_ms = 3_600_000

/**
 * Returns the first slot of the daily run after an instant; a slot is an hour of the day, in UTC.
 */
export function nextSlot(now_ms: number, hour: number): number {
  return lastSlot(now_ms, hour) + day_ms
}

/** Returns the last slot of the daily run up to an instant, inclusive. */
export function lastSlot(now_ms: number, hour: number): number {
  const of_day_ms = hour * hour_ms
  return Math.floor((now_ms - of_day_ms) / day_ms) * day_ms + of_day_ms
}

/** Delay after its slot above which a run is late. */
export const late_ms_min = 10 * 60_000
