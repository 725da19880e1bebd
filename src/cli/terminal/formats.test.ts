import { expect, test } from 'vitest'
import { costText, durationText, timeText, zonedTimeText } from './formats.ts'

test.each([
  ['0', '$0'],
  ['0.0000000004', '<$0.000001'],
  ['0.0009992', '$0.000999'],
  ['0.0123456', '$0.0123'],
  ['12.3', '$12.30'],
  [null, ''],
])('%j dollars are %j', (decimal, text) => {
  expect(costText(decimal)).toBe(text)
})

test.each([
  [0.42, '0.4 ms'],
  [107.849, '108 ms'],
  [999.6, '1000 ms'],
  [1_385, '1.39 s'],
  [125_000, '2 min 5 s'],
  [11_520_000, '3 h 12 min'],
  [null, ''],
])('%j milliseconds are %j', (ms, text) => {
  expect(durationText(ms)).toBe(text)
})

test('times are those of the zone, also in summer', () => {
  const berlin = { time_zone: 'Europe/Berlin' }
  expect(timeText('2026-11-29T07:40:58.928Z', berlin)).toBe('2026-11-29 08:40:58')
  expect(timeText('2026-07-01T23:00:00Z', berlin)).toBe('2026-07-02 01:00:00')
  expect(zonedTimeText('2026-11-29T07:40:58Z', { time_zone: 'UTC' })).toBe(
    '2026-11-29 07:40:58 UTC',
  )
  expect([timeText(null, berlin), zonedTimeText('soon', berlin)]).toEqual(['', ''])
})
