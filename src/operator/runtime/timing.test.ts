import { expect, test } from 'vitest'
import { backOff } from '../../kernel/back-off.ts'
import { itemBackoff, serviceBackoff, watchBackoff } from './timing.ts'

test.each([
  ['an item', itemBackoff, [1, 2, 3, 18, 19, 1_000], [5, 10, 20, 655_360, 1_000_000, 1_000_000]],
  ['the service', serviceBackoff, [1, 2, 4, 5, 99], [10_000, 20_000, 80_000, 120_000, 120_000]],
  ['a watch', watchBackoff, [1, 2, 7], [800, 1_600, 30_000]],
])('the back-off of %s doubles up to its maximum', (_what, backoff, failures, waits) => {
  expect(failures.map((count) => backOff(backoff, count, () => 0))).toEqual(waits)
})

test('the jitter is added', () => {
  expect(backOff(serviceBackoff, 1, () => 0.5)).toBe(11_000)
  expect(backOff(watchBackoff, 1, () => 0.999)).toBe(1_599)
})
