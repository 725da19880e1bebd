import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BatchWait } from './consumer.ts'

test('a lone call waits as long as the setting says, a full batch twice as long', () => {
  const wait = new BatchWait(250)
  expect(wait.ms).toBe(250)
  wait.note(1)
  expect(wait.ms).toBeLessThan(251)
  wait.note(1_000)
  expect(wait.ms).toBe(500)
  wait.note(80_000)
  expect(wait.ms).toBe(500)
  wait.note(0)
  expect(wait.ms).toBe(250)
})

test('at any steady rate the wait settles between the two', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 100, noNaN: true }), (rows_per_ms) => {
      const wait = new BatchWait(250)
      for (let batch = 0; batch < 50; batch += 1) wait.note(rows_per_ms * wait.ms)
      const settled = wait.ms
      wait.note(rows_per_ms * settled)
      expect(wait.ms).toBeGreaterThanOrEqual(250)
      expect(wait.ms).toBeLessThanOrEqual(500)
      if (rows_per_ms < 0.9 || rows_per_ms > 1.1) expect(wait.ms).toBeCloseTo(settled, 0)
    }),
  )
})
