import fc from 'fast-check'
import { expect, test } from 'vitest'
import { backOff } from './back-off.ts'

const none = () => 0

test('doubles the wait up to the maximum', () => {
  const rule = { base_ms: 100, max_ms: 1_000 }
  const waits = [1, 2, 3, 4, 5, 6, 2_000].map((attempt) => backOff(rule, attempt, none))
  expect(waits).toEqual([100, 200, 400, 800, 1_000, 1_000, 1_000])
})

test('an attempt below 1 counts as the first, and a wait without a maximum stays finite', () => {
  expect([-1, 0, 1].map((attempt) => backOff({ base_ms: 50 }, attempt))).toEqual([50, 50, 50])
  expect(backOff({ base_ms: 1 }, 5_000)).toBe(2 ** 30)
})

test('a positive jitter lengthens the wait, a negative one shortens it', () => {
  expect(backOff({ base_ms: 100, max_ms: 1_000, jitter: 0.2 }, 1, () => 0.5)).toBe(110)
  expect(backOff({ base_ms: 100, max_ms: 1_000, jitter: 1 }, 9, () => 0.999)).toBe(1_999)
  expect(backOff({ base_ms: 100, max_ms: 1_000, jitter: -0.25 }, 2, () => 1)).toBe(150)
})

test('equals the formula that subtracted up to a quarter', () => {
  const [base, attempts] = [fc.integer({ min: 1, max: 60_000 }), fc.integer({ min: 1, max: 40 })]
  const chance = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(base, attempts, chance, (base_ms, attempt, random) => {
      const full = Math.min(60_000, base_ms * 2 ** Math.min(attempt - 1, 30))
      const wait_ms = backOff({ base_ms, max_ms: 60_000, jitter: -0.25 }, attempt, () => random)
      expect(wait_ms).toBe(Math.round(full * (1 - random / 4)))
    }),
  )
})
