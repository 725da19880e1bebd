import { Cron } from 'croner'

/** A schedule's longest text. */
export const scheduleChars_max = 100

/** Its form, before it is read: five fields of cron, the minute one number, so at most hourly. */
export const scheduleForm = /^[0-5]?[0-9]( [0-9A-Za-z*,/-]+){4}$/

/** What is wrong with a schedule; undefined when it comes again and again. */
export function scheduleFault(schedule: string): string | undefined {
  if (schedule.length > scheduleChars_max || !scheduleForm.test(schedule)) {
    return `got ${JSON.stringify(schedule.slice(0, 80))}, expected the five fields of cron (UTC), the minute one number: 0 4 * * *`
  }
  try {
    if (cronOf(schedule).nextRun() !== null) return undefined
    return `got ${JSON.stringify(schedule)}, which never comes`
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it is none'
    return `got ${JSON.stringify(schedule)}, expected a cron: ${why.replace(/^CronPattern: /, '')}`
  }
}

/** The first instant after this one at which the schedule comes, in ms since 1970, if it does. */
export function nextTick(schedule: string, after_ms: number): number | undefined {
  return readable(schedule)?.nextRun(new Date(after_ms))?.getTime()
}

/** The last instant at which the schedule came, this one included, if it did. */
export function lastTick(schedule: string, at_ms: number): number | undefined {
  // What comes at the very instant is not before it.
  return readable(schedule)
    ?.previousRuns(1, new Date(at_ms + 1))[0]
    ?.getTime()
}

/** Undefined for what stands in a store and was never checked. */
function readable(schedule: string): Cron | undefined {
  try {
    return cronOf(schedule)
  } catch {
    return undefined
  }
}

function cronOf(schedule: string): Cron {
  return new Cron(schedule, { timezone: 'UTC', mode: '5-part', paused: true })
}
