import { expect, test } from 'vitest'
import { barsOf, calendarDays } from './calendar.ts'

const berlin = 'Europe/Berlin'
const hour_ms = 3_600_000

test('days begin at midnight of the zone', () => {
  const [first, second] = calendarDays(Date.parse('2026-11-29T23:30:00Z'), berlin)
  expect(first).toEqual({
    date: '2026-11-30',
    from_ms: Date.parse('2026-11-29T23:00:00Z'),
    to_ms: Date.parse('2026-11-30T23:00:00Z'),
  })
  expect(second?.date).toBe('2026-12-01')
})

test('the days of a change of the clock have 23 and 25 hours', () => {
  const lengthOf = (day: string) => {
    const [first] = calendarDays(Date.parse(`${day}T12:00:00Z`), berlin)
    return first && (first.to_ms - first.from_ms) / hour_ms
  }
  expect([lengthOf('2026-03-29'), lengthOf('2026-10-25')]).toEqual([23, 25])
})

test('a window over midnight has a bar in both days, and none in others', () => {
  const window = { from: '2026-11-29T18:00:00.000Z', to: '2026-11-30T06:00:00.000Z' }
  const days = calendarDays(Date.parse('2026-11-29T08:00:00Z'), 'UTC', 3)
  const bars = days.map((day) => barsOf({ next_windows: [window] }, day))
  expect(bars.map((some) => some.map(({ from, to }) => [from, to]))).toEqual([
    [[0.75, 1]],
    [[0, 0.25]],
    [],
  ])
})
