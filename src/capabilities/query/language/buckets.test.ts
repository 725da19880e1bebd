import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readBucket, startsOf } from './buckets.ts'
import { collectFaults } from './faults.ts'

const second = 1_000_000_000n
const ns = (date: string) => BigInt(Date.parse(date)) * 1_000_000n

function bucketOf(given: { time_bucket: string; time_zone?: string }, from: bigint, to: bigint) {
  const faults = collectFaults()
  const bucket = readBucket(given, { path: ['group_by', 0], window: { from, to }, faults })
  return { bucket, faults: faults.list }
}

test.each([
  ['2026-10-23T00:00:00Z', '2026-10-28T00:00:00Z', [24, 24, 25, 24]],
  ['2026-03-27T23:00:00Z', '2026-03-31T00:00:00Z', [24, 23, 24]],
])('days in Berlin from %s have the hours of the clock', (from, to, hours) => {
  const window = { from: ns(from), to: ns(to) }
  const { bucket } = bucketOf({ time_bucket: '1d', time_zone: 'Europe/Berlin' }, ...both(window))
  const starts = bucket === undefined ? [] : startsOf(bucket, window)
  const lengths = starts.slice(1).map((start, at) => Number((start - (starts[at] ?? 0n)) / second))
  expect(lengths.map((each) => each / 3600).slice(0, hours.length)).toEqual(hours)
})

const both = ({ from, to }: { from: bigint; to: bigint }): [bigint, bigint] => [from, to]

test('in every zone, weeks begin on Mondays at the first second of the day', () => {
  const zone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'))
  const day = fc.integer({ min: 9_000, max: 24_000 })
  fc.assert(
    fc.property(zone, day, fc.integer({ min: 1, max: 90 }), (time_zone, first, days) => {
      const from = BigInt(first * 86_400) * second
      const to = from + BigInt(days * 86_400) * second
      const { bucket } = bucketOf({ time_bucket: '1w', time_zone }, from, to)
      const starts = bucket === undefined ? [] : startsOf(bucket, { from, to })
      const weekday = new Intl.DateTimeFormat('en', { timeZone: time_zone, weekday: 'short' })
      expect(starts[0]).toBeLessThanOrEqual(from)
      for (const start of starts) {
        expect(start).toBeLessThan(to)
        expect(weekday.format(Number(start / 1_000_000n))).toBe('Mon')
        expect(weekday.format(Number(start / 1_000_000n) - 1)).not.toBe('Mon')
      }
    }),
    { numRuns: 200 },
  )
})

test('runs stay few: two for each change of a clock, and one more', () => {
  const [from, to] = [ns('2026-01-01T00:00:00Z'), ns('2027-01-01T00:00:00Z')]
  const { bucket } = bucketOf({ time_bucket: '1d', time_zone: 'Europe/Berlin' }, from, to)
  expect(bucket?.zone?.runs).toHaveLength(5)
})

test.each([
  [{ time_bucket: '1d', time_zone: 'Europe/Berlim' }, 'time_zone', 'IANA database'],
  [{ time_bucket: '1d', time_zone: '+01:00' }, 'time_zone', 'IANA database'],
  [{ time_bucket: '1h', time_zone: 'Europe/Berlin' }, 'time_bucket', 'whole days or weeks'],
  [{ time_bucket: '1y' }, 'time_bucket', 'a width like'],
])('%j is refused at %s', (given, field, expected) => {
  const { bucket, faults } = bucketOf(given, 0n, second)
  expect(bucket).toBeUndefined()
  expect(faults).toEqual([
    { path: ['group_by', 0, field], message: expect.stringContaining(expected) },
  ])
})
