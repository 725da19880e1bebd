import { Cron } from 'croner'
import { isTimeZone } from './time-zone.ts'

/** Five cron fields, read in a time zone of the IANA database. */
export type CronSchedule = { cron: string; time_zone: string }

/** Returns the fault of a schedule; undefined for one that occurs. */
export function cronFault(schedule: CronSchedule): string | undefined {
  const got = `got ${JSON.stringify(schedule.cron)}`
  if (!isTimeZone(schedule.time_zone)) {
    return `got time zone ${JSON.stringify(schedule.time_zone)}, expected a name of the IANA database, such as Europe/Berlin`
  }
  try {
    if (cronOf(schedule).nextRun() !== null) return undefined
    return `${got}, expected a schedule that occurs`
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it is invalid'
    return `${got}, expected a cron schedule: ${why.replace(/^CronPattern: /, '')}`
  }
}

/** Returns the first time after an instant, in ms since 1970; undefined without one. */
export function nextCronTick(schedule: CronSchedule, after_ms: number): number | undefined {
  return parse(schedule)?.nextRun(new Date(after_ms))?.getTime()
}

/** Returns the first times after an instant, in ms since 1970, at most `count`. */
export function nextCronTicks(schedule: CronSchedule, after_ms: number, count: number): number[] {
  const ticks = parse(schedule)?.nextRuns(count, new Date(after_ms)) ?? []
  return ticks.map((tick) => tick.getTime())
}

/** Returns the last time up to an instant, inclusive; undefined without one. */
export function lastCronTick(schedule: CronSchedule, at_ms: number): number | undefined {
  // `previousRuns` excludes the given instant.
  return parse(schedule)
    ?.previousRuns(1, new Date(at_ms + 1))[0]
    ?.getTime()
}

/** Parses a stored schedule, which may be unvalidated; undefined for an invalid one. */
function parse(schedule: CronSchedule): Cron | undefined {
  try {
    return cronOf(schedule)
  } catch {
    return undefined
  }
}

function cronOf({ cron, time_zone }: CronSchedule): Cron {
  return new Cron(cron, { timezone: time_zone, mode: '5-part', paused: true })
}
