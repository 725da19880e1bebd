import { Cron } from 'croner'
import { day_ms } from '../retention-policy/rules.ts'

/** Most characters of a schedule. */
export const scheduleChars_max = 100

/** Five cron fields; the minute is a single number, so a schedule is hourly at most. */
const scheduleForm = /^[0-5]?[0-9]( [0-9A-Za-z*,/-]+){4}$/

/** Returns the fault of a schedule; undefined for a valid one. */
export function scheduleFault(schedule: string): string | undefined {
  if (schedule.length > scheduleChars_max || !scheduleForm.test(schedule)) {
    return `got ${JSON.stringify(schedule.slice(0, 80))}, expected five cron fields (UTC) with a single minute, such as 0 4 * * *`
  }
  try {
    if (cronOf(schedule).nextRun() !== null) return undefined
    return `got ${JSON.stringify(schedule)}, expected a schedule that occurs`
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it is invalid'
    return `got ${JSON.stringify(schedule)}, expected a cron schedule: ${why.replace(/^CronPattern: /, '')}`
  }
}

/**
 * Returns the first time of a schedule after an instant, in ms since 1970; undefined without one.
 */
export function nextTick(schedule: string, after_ms: number): number | undefined {
  return parseSchedule(schedule)?.nextRun(new Date(after_ms))?.getTime()
}

/** Returns the last time of a schedule up to an instant, inclusive; undefined without one. */
export function lastTick(schedule: string, at_ms: number): number | undefined {
  // `previousRuns` excludes the given instant.
  return parseSchedule(schedule)
    ?.previousRuns(1, new Date(at_ms + 1))[0]
    ?.getTime()
}

/** Parses a stored schedule, which may be unvalidated; undefined for an invalid one. */
function parseSchedule(schedule: string): Cron | undefined {
  try {
    return cronOf(schedule)
  } catch {
    return undefined
  }
}

function cronOf(schedule: string): Cron {
  return new Cron(schedule, { timezone: 'UTC', mode: '5-part', paused: true })
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
