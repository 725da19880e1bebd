import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { clopperPearson, kornGraubard, varianceDegrees } from './rate-interval.ts'

/** Values of SciPy: `stats.beta.ppf`. */
test.each([
  [0, 10, 0, 0.3084971078187607],
  [10, 10, 0.6915028921812392, 1],
  [9, 10, 0.5549838829718047, 0.9974714214555382],
  [450, 500, 0.8702909143377969, 0.9248641849335745],
  [1, 300, 8.438913231780044e-5, 0.018431252048067885],
])('%d of %d: the exact interval is %d to %d', (k, n, low, high) => {
  const interval = clopperPearson({ n, k }, 0.025)
  expect(interval[0]).toBeCloseTo(low, 10)
  expect(interval[1]).toBeCloseTo(high, 10)
})

test('each bound is missed in at most 2.5 % of samples, enumerated for n from 5 to 500', () => {
  for (const n of [5, 10, 20, 50, 100, 200, 500]) {
    const intervals = Array.from({ length: n + 1 }, (_, k) => clopperPearson({ n, k }, 0.025))
    for (const rate of [0.01, 0.1, 0.5, 0.8, 0.9, 0.95, 0.98]) {
      const missed = (isMissed: (low: number, high: number) => boolean) =>
        intervals.reduce(
          (sum, [low, high], k) => sum + (isMissed(low, high) ? chance(k, n, rate) : 0),
          0,
        )
      expect(missed((low) => low > rate)).toBeLessThanOrEqual(0.025)
      expect(missed((_, high) => high < rate)).toBeLessThanOrEqual(0.025)
    }
  }
})

/** The probability of k successes in n. */
function chance(k: number, n: number, rate: number): number {
  let log = k * Math.log(rate) + (n - k) * Math.log1p(-rate)
  for (let at = 1; at <= k; at += 1) log += Math.log((n - k + at) / at)
  return Math.exp(log)
}

test('six users: the interval is that of the formulas, integrated numerically in Python', () => {
  const users = [
    [10, 9],
    [12, 12],
    [8, 5],
    [10, 10],
    [15, 12],
    [5, 5],
  ].map(([n = 0, k = 0]) => ({ n, k }))
  const [low, high] = kornGraubard(users, 0.025) ?? []
  expect(low).toBeCloseTo(0.5975276375502, 9)
  expect(high).toBeCloseTo(0.9904783209312, 9)
})

const cluster = fc
  .record({ n: fc.integer({ min: 1, max: 30 }), share: fc.double({ min: 0, max: 1, noNaN: true }) })
  .map(({ n, share }) => ({ n, k: Math.round(n * share) }))

test('clusters never narrow the interval, and hold the rate', () => {
  fc.assert(
    fc.property(fc.array(cluster, { minLength: 2, maxLength: 30 }), (clusters) => {
      const n = clusters.reduce((sum, one) => sum + one.n, 0)
      const k = clusters.reduce((sum, one) => sum + one.k, 0)
      const exact = clopperPearson({ n, k }, 0.025)
      const [low = Number.NaN, high = Number.NaN] = kornGraubard(clusters, 0.025) ?? []
      expect(low).toBeLessThanOrEqual(exact[0] + 1e-9)
      expect(high).toBeGreaterThanOrEqual(exact[1] - 1e-9)
    }),
  )
})

test('one user, broken counts and NaN give no interval', () => {
  const good = { n: 10, k: 9 }
  const broken = [
    { n: 10, k: 11 },
    { n: 0, k: 0 },
    { n: 10, k: -1 },
    { n: Number.NaN, k: 1 },
  ]
  expect(kornGraubard([], 0.025)).toBeUndefined()
  expect(kornGraubard([good], 0.025)).toBeUndefined()
  for (const one of broken) expect(kornGraubard([good, good, one], 0.025)).toBeUndefined()
})

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
