import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bucketOf, durationBuckets, percentileOf } from './durations.ts'

test('a percentile of counts is at most 10 % off', () => {
  const durations = fc.array(fc.double({ min: 0.3, max: 500_000, noNaN: true }), { minLength: 1 })
  fc.assert(
    fc.property(durations, fc.constantFrom(0.5, 0.95), (given, share) => {
      const histogram = new Array<number>(durationBuckets).fill(0)
      for (const each of given) histogram[bucketOf(each)] = (histogram[bucketOf(each)] ?? 0) + 1
      const sorted = given.toSorted((a, b) => a - b)
      const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? 0
      const estimate = percentileOf(histogram, share) ?? 0
      expect(Math.abs(estimate - exact) / exact).toBeLessThan(0.1)
    }),
  )
})

test('without counts a percentile is null, and a long duration is in the last bucket', () => {
  expect(percentileOf(new Array<number>(durationBuckets).fill(0), 0.5)).toBeNull()
  expect(bucketOf(1e9)).toBe(durationBuckets - 1)
  expect(bucketOf(0)).toBe(0)
})
