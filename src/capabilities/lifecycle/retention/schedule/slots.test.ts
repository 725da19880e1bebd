import { expect, test } from 'vitest'
import { lastTick, nextTick, scheduleFault } from './slots.ts'

const at = (text: string) => Date.parse(text)
const iso = (ms: number | undefined) => ms && new Date(ms).toISOString()

test.each([
  ['0 4 * * *', '2026-11-21T12:00:00Z', '2026-11-22T04:00:00.000Z', '2026-11-21T04:00:00.000Z'],
  ['0 4 * * *', '2026-11-21T04:00:00Z', '2026-11-22T04:00:00.000Z', '2026-11-21T04:00:00.000Z'],
  ['30 * * * *', '2026-11-21T12:29:59Z', '2026-11-21T12:30:00.000Z', '2026-11-21T11:30:00.000Z'],
  ['5 1 * * MON', '2026-11-21T12:00:00Z', '2026-11-23T01:05:00.000Z', '2026-11-16T01:05:00.000Z'],
  ['0 0 29 2 *', '2026-11-21T12:00:00Z', '2028-02-29T00:00:00.000Z', '2024-02-29T00:00:00.000Z'],
  // Where clocks are put forward and back the times of UTC go on.
  ['30 1 * * *', '2026-03-29T00:00:00Z', '2026-03-29T01:30:00.000Z', '2026-03-28T01:30:00.000Z'],
])('%s around %s', (schedule, now, next, last) => {
  expect(scheduleFault(schedule)).toBeUndefined()
  expect(iso(nextTick(schedule, at(now)))).toBe(next)
  expect(iso(lastTick(schedule, at(now)))).toBe(last)
})

test.each([
  [''],
  ['daily'],
  ['@daily'],
  ['* * * * *'],
  ['*/5 * * * *'],
  ['0,30 4 * * *'],
  ['0 0 4 * * *'],
  ['60 4 * * *'],
  ['0 24 * * *'],
  ['0 0 0 * *'],
  ['0 0 30 2 *'],
  ['0 4 * * XYZ'],
  ['0 4  * * *'],
  [`0 ${'4,'.repeat(60)}4 * * *`],
])('%j is refused, and the message quotes it', (schedule) => {
  expect(scheduleFault(schedule)).toContain(JSON.stringify(schedule.slice(0, 80)))
})
