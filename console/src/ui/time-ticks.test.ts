import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toLocal } from '../browser/zone-time.ts'
import { timeTicks } from './time-ticks.ts'

const [minute_ms, hour_ms, day_ms] = [60_000, 3_600_000, 86_400_000]
const berlin = 'Europe/Berlin'
const zones = fc.constantFrom(
  ...['UTC', berlin, 'America/New_York', 'America/St_Johns', 'Asia/Kathmandu'],
  ...['Australia/Lord_Howe', 'America/Havana', 'America/Santiago', 'Asia/Beirut'],
)
const minutes = fc.integer({ min: Date.UTC(2025, 0) / 60_000, max: Date.UTC(2028, 0) / 60_000 })

const steps = [minute_ms, 30 * minute_ms, hour_ms, 3 * hour_ms, 6 * hour_ms, day_ms]

test('ticks are the instants at which clocks show a round time, each one once', () => {
  // Half of the ranges begin near a change of a clock.
  const changes = fc.constantFrom(
    '2026-03-29T01',
    '2026-10-25T01',
    '2026-11-01T06',
    '2026-04-04T15',
  )
  const near = fc
    .tuple(changes, fc.integer({ min: -3_000, max: 200 }))
    .map(([change, away]) => Date.parse(`${change}:00:00Z`) / minute_ms + away)
  const all = fc.record({
    ...{ start: fc.oneof(minutes, near), zone: zones, step_ms: fc.constantFrom(...steps) },
    count: fc.integer({ min: 1, max: 12 }),
  })
  fc.assert(
    fc.property(all, ({ start, zone, step_ms, count }) => {
      const [from_ms, to_ms] = [start * minute_ms, start * minute_ms + count * step_ms]
      const ticks = timeTicks(from_ms, to_ms, step_ms, zone)
      expect(ticks).toEqual(naiveTicks(from_ms, to_ms, step_ms, zone))
    }),
    { numRuns: 300 },
  )
})

/** Looks at every quarter of an hour, or minute; clocks change at quarters only. */
function naiveTicks(from_ms: number, to_ms: number, step_ms: number, zone: string): number[] {
  const grain_ms = Math.min(step_ms, 15 * minute_ms)
  const shown = new Set<string>()
  const isBegin = (at_ms: number) => {
    const local = toLocal(new Date(at_ms).toISOString(), zone)
    if (step_ms > hour_ms && shown.has(local)) return false
    shown.add(local)
    if (step_ms < day_ms) return Date.parse(`${local}Z`) % step_ms === 0
    const before = toLocal(new Date(at_ms - grain_ms).toISOString(), zone)
    return before.slice(0, 10) < local.slice(0, 10)
  }
  const ticks: number[] = []
  // Earlier times are looked at too: a repeated hour may have begun before the range.
  const start_ms = Math.ceil(from_ms / grain_ms) * grain_ms - 4 * hour_ms
  for (let at_ms = start_ms; at_ms <= to_ms; at_ms += grain_ms) {
    if (isBegin(at_ms) && at_ms >= from_ms) ticks.push(at_ms)
  }
  return ticks
}

test('steps of months and years begin on the first day in the zone', () => {
  const [from_ms, to_ms] = [Date.parse('2026-09-15T00:00:00Z'), Date.parse('2027-04-15T00:00:00Z')]
  const ticks = (step_days: number) =>
    timeTicks(from_ms, to_ms, step_days * day_ms, berlin).map((at_ms) =>
      new Date(at_ms).toISOString().slice(0, 13),
    )
  expect(ticks(60)).toEqual([...['2026-10-31T23', '2026-12-31T23', '2027-02-28T23']])
  expect(ticks(365)).toEqual(['2026-12-31T23'])
})

test('a range that is empty or has no step has no ticks', () => {
  expect(timeTicks(0, 10, 0, berlin)).toEqual([])
  expect(timeTicks(10, 0, 5, berlin)).toEqual([])
  expect(timeTicks(Number.NaN, 10, 5, berlin)).toEqual([])
})
