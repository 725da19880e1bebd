import { expect, test } from 'vitest'
import { quantileOfT, tailOfT } from './student-t.ts'

/** Values of SciPy: `stats.t.sf` and `stats.t.isf`; with 1 and 2 degrees from the closed forms. */
test.each([
  [2, 10, 0.03669401738537018],
  [0, 7, 0.5],
  [1, 1, 0.25],
  [Math.SQRT2, 2, 0.5 - Math.SQRT1_2 / 2],
  [-1, 1, 0.75],
])('the upper tail of %d with %d degrees is %d', (t, degrees, tail) => {
  expect(tailOfT(t, degrees)).toBeCloseTo(tail, 10)
})

test.each([
  [0.025, 4, 2.7764451051977943],
  [0.025, 19, 2.09302405440831],
  [0.025, 1, 12.706204736174705],
])('the quantile of a tail of %d with %d degrees is %d', (tail, degrees, t) => {
  expect(quantileOfT(tail, degrees)).toBeCloseTo(t, 9)
})

test('the quantile inverts the tail, also with many degrees', () => {
  for (const degrees of [1, 3, 30, 1_000, 1_000_000]) {
    for (const tail of [0.4, 0.05, 0.001, 1e-8]) {
      expect(tailOfT(quantileOfT(tail, degrees), degrees) / tail).toBeCloseTo(1, 6)
    }
  }
})
