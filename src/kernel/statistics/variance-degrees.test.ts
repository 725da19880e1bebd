import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { varianceDegrees } from './variance-degrees.ts'

const equal = Array.from({ length: 20 }, () => 10)

describe('degrees of freedom', () => {
  test('equal users with normal residuals have C − 1', () => {
    // Squares of normal quantiles, whose kurtosis is below 3.
    const squares = equal.map((_, at) => (at - 9.5) ** 2)
    expect(varianceDegrees({ sizes: equal, squares, rate: 0.9 })).toBeCloseTo(19, 6)
  })

  test('one user with most of the tasks leaves few', () => {
    const sizes = [400, ...Array.from({ length: 19 }, () => 10)]
    const squares = sizes.map((size) => size ** 2 / 100)
    expect(varianceDegrees({ sizes, squares, rate: 0.9 })).toBeLessThan(4)
  })

  test('one user with most of the variance leaves few', () => {
    const squares = [1_000, ...Array.from({ length: 19 }, () => 1)]
    expect(varianceDegrees({ sizes: equal, squares, rate: 0.9 })).toBeLessThan(4)
  })

  const user = fc.record({
    size: fc.integer({ min: 1, max: 60 }),
    square: fc.double({ min: 0.01, max: 100, noNaN: true }),
  })
  test('are the traces of the matrices, written out', () => {
    fc.assert(
      fc.property(fc.array(user, { minLength: 2, maxLength: 12 }), (users) => {
        const sizes = users.map(({ size }) => size)
        const squares = users.map(({ square }) => square)
        const got = varianceDegrees({ sizes, squares, rate: 0.8 })
        expect(got).toBeCloseTo(byMatrices(sizes, squares, 0.8), 6)
        expect(got).toBeGreaterThanOrEqual(1)
        expect(got).toBeLessThanOrEqual(users.length - 1)
      }),
    )
  })
})

/** M = (I − 1wᵀ)ᵀ D (I − 1wᵀ) of sums of clusters with the shares w, in full. */
function byMatrices(sizes: readonly number[], squares: readonly number[], rate: number): number {
  const n = sizes.reduce((a, b) => a + b, 0)
  const pairs = sizes.reduce((total, size) => total + size * (size - 1), 0)
  const excess = squares.reduce((a, b) => a + b, 0) / (rate * (1 - rate)) - n
  const correlation = pairs > 0 ? Math.min(1, Math.max(0, excess / pairs)) : 0
  const variances = sizes.map((size) => size * (1 + (size - 1) * correlation))
  const clusters = sizes.map((_, at) => at)
  // Residual of cluster c: its sum minus its share of the sum of all.
  const residual = (c: number, i: number) => Number(c === i) - (sizes[c] ?? 0) / n
  const weight = (c: number) => 1 / (1 - (sizes[c] ?? 0) / n) ** 2
  const m = (i: number, j: number) =>
    clusters.reduce((total, c) => total + weight(c) * residual(c, i) * residual(c, j), 0)
  const v = (at: number) => variances[at] ?? 0
  const trace = clusters.reduce((total, i) => total + m(i, i) * v(i), 0)
  const square = clusters.reduce(
    (total, i) => total + clusters.reduce((row, j) => row + m(i, j) ** 2 * v(i) * v(j), 0),
    0,
  )
  const standardised = squares.map((one, at) => one / v(at))
  const mean = standardised.reduce((a, b) => a + b, 0) / squares.length
  const fourth = standardised.reduce((total, one) => total + one ** 2, 0) / squares.length
  const degrees = trace ** 2 / square
  const corrected = Math.min(degrees, (2 * degrees) / Math.max(1e-9, fourth / mean ** 2 - 1))
  return Math.max(1, Math.min(sizes.length - 1, corrected))
}
