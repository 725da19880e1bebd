import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dayAt, isTimeZone, startOfDay } from './time-zone.ts'

test.each([
  ['Europe/Berlin', true],
  ['UTC', true],
  ['Etc/GMT+5', true],
  ['Mars/Base', false],
  ['+05:30', false],
  ['', false],
])('%s is a time zone: %s', (name, isOne) => {
  expect(isTimeZone(name)).toBe(isOne)
})

const day_s = 86_400
const dayOf = (date: string) => Date.parse(date) / 1000 / day_s
const startIn = (zone: string, date: string) =>
  new Date(startOfDay(zone, dayOf(date)) * 1000).toISOString()

test.each([
  ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00.000Z'],
  ['Europe/Berlin', '2026-03-30', '2026-03-29T22:00:00.000Z'],
  ['Europe/Berlin', '2026-10-26', '2026-10-25T23:00:00.000Z'],
  // The clocks skipped midnight: the day began at 01:00.
  ['America/Sao_Paulo', '2018-11-04', '2018-11-04T03:00:00.000Z'],
  // Midnight of 18 February came twice: first the clock went back to 23:00.
  ['America/Sao_Paulo', '2018-02-18', '2018-02-18T03:00:00.000Z'],
  // Samoa left out 30 December.
  ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00.000Z'],
  ['Pacific/Apia', '2011-12-31', '2011-12-30T10:00:00.000Z'],
])('in %s, %s begins at %s', (zone, date, start) => {
  expect(startIn(zone, date)).toBe(start)
})

test('a day begins at the first second that shows its date, in every zone', () => {
  const zone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'))
  const day = fc.integer({ min: dayOf('1975-01-01'), max: dayOf('2037-01-01') })
  fc.assert(
    fc.property(zone, day, (name, n) => {
      const start = startOfDay(name, n)
      expect(dayAt(name, start)).toBeGreaterThanOrEqual(n)
      expect(dayAt(name, start - 1)).toBeLessThan(n)
      const format = new Intl.DateTimeFormat('sv', { timeZone: name, dateStyle: 'short' })
      const shown = format.format(start * 1000)
      expect(Date.parse(shown) / 1000 / day_s).toBe(dayAt(name, start))
    }),
    { numRuns: 500 },
  )
})
