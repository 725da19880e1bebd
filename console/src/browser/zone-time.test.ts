import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isRepeated, toInstant, toLocal } from './zone-time.ts'

const hour_ms = 3_600_000
const berlin = 'Europe/Berlin'
const lordHowe = 'Australia/Lord_Howe'
const zones = fc.constantFrom(
  ...['UTC', berlin, 'America/New_York', 'America/St_Johns', 'Asia/Kathmandu'],
  ...[lordHowe, 'America/Havana', 'America/Santiago', 'Asia/Beirut'],
)
const minutes = fc.integer({ min: Date.UTC(2025, 0) / 60_000, max: Date.UTC(2028, 0) / 60_000 })

test('a whole minute survives the way to a local time and back, in each zone', () => {
  fc.assert(
    fc.property(minutes, zones, (minute, zone) => {
      const instant = new Date(minute * 60_000).toISOString()
      const back = toInstant(toLocal(instant, zone), zone)
      // Only the hour that occurs twice is ambiguous: the first one is taken.
      expect(toLocal(back, zone)).toBe(toLocal(instant, zone))
      expect(Date.parse(instant) - Date.parse(back)).toBeOneOf([0, hour_ms / 2, hour_ms])
      if (back !== instant) expect(isRepeated(minute * 60_000, zone)).toBe(true)
    }),
    { numRuns: 500 },
  )
})

test('a local time that summer time skips is an hour later', () => {
  expect(toInstant('2026-03-29T02:30', berlin)).toBe('2026-03-29T01:30:00.000Z')
})

test('of a local time that occurs twice, the first counts', () => {
  expect(toInstant('2026-10-25T02:30', berlin)).toBe('2026-10-25T00:30:00.000Z')
})

test('an unreadable time reaches the API as it is', () => {
  expect(toInstant('soon', berlin)).toBe('soon')
})

test.each([
  [berlin, '2026-10-25T00:00:00Z', '2026-10-25T02:00:00Z'],
  ['America/New_York', '2026-11-01T05:00:00Z', '2026-11-01T07:00:00Z'],
  [lordHowe, '2026-04-04T14:30:00Z', '2026-04-04T15:30:00Z'],
])('in %s, clocks show the times from %s to %s twice', (zone, from, to) => {
  const [from_ms, to_ms] = [Date.parse(from), Date.parse(to)]
  expect([from_ms - 1, from_ms, to_ms - 1, to_ms].map((at) => isRepeated(at, zone))).toEqual([
    ...[false, true, true, false],
  ])
})
