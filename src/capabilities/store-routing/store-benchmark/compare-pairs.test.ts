import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { combine, comparePairs } from './compare-pairs.ts'

/** Pseudo-random normal values, the same in every run. */
function normals(count: number, seed: number): number[] {
  let state = seed
  const next = () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return (state + 1) / 2_147_483_649
  }
  return Array.from({ length: count }, () => {
    return Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next())
  })
}

describe('pairs of runs', () => {
  test('give a ratio and its interval', () => {
    const clickhouse = [10, 20, 30, 40]
    expect(comparePairs(clickhouse, [5, 10, 15, 20])).toEqual({
      ...{ pairs: 4, ratio: 0.5, ratio_low: 0.5, ratio_high: 0.5 },
    })
    // Logarithms ±ln 2: their standard error is ln 2 / √3, and t of 3 degrees is 3.182.
    const wide = comparePairs(clickhouse, [5, 40, 15, 80])
    expect(wide.ratio).toBe(1)
    expect(wide.ratio_high).toBeCloseTo(Math.exp((3.1824 * Math.LN2 * 2) / Math.sqrt(3) / 2), 2)
    expect((wide.ratio_low ?? 0) * (wide.ratio_high ?? 0)).toBeCloseTo(1, 3)
  })

  test('of which one failed do not count', () => {
    expect(comparePairs([1, undefined, 1], [2, 2, undefined])).toEqual({
      ...{ pairs: 1, ratio: 2, ratio_low: null, ratio_high: null },
    })
    expect(comparePairs([], [])).toMatchObject({ pairs: 0, ratio: null })
  })

  test('swapped give the inverse', () => {
    const durations = fc.array(fc.double({ min: 0.1, max: 1e4, noNaN: true }), {
      ...{ minLength: 2, maxLength: 30 },
    })
    fc.assert(
      fc.property(durations, durations, (a, b) => {
        const length = Math.min(a.length, b.length)
        const [one, two] = [a.slice(0, length), b.slice(0, length)]
        const [there, back] = [comparePairs(one, two), comparePairs(two, one)]
        expect((there.ratio ?? 0) * (back.ratio ?? 0)).toBeCloseTo(1, 3)
        expect((there.ratio_low ?? 0) * (back.ratio_high ?? 0)).toBeCloseTo(1, 2)
      }),
    )
  })

  test('hold the true ratio in about 95 of 100 intervals', () => {
    const isInside = (seed: number) => {
      const noise = normals(30, seed)
      const postgres = noise.slice(0, 15).map((z) => 20 * Math.exp(0.3 * z))
      const clickhouse = noise.slice(15).map((z) => 10 * Math.exp(0.3 * z))
      const { ratio_low, ratio_high } = comparePairs(clickhouse, postgres)
      return (ratio_low ?? 9) <= 2 && (ratio_high ?? 0) >= 2
    }
    const inside = Array.from({ length: 1_000 }, (_, at) => isInside(at * 7_919 + 1)).filter(
      Boolean,
    )
    expect(inside.length).toBeGreaterThan(920)
    expect(inside.length).toBeLessThan(975)
  })
})

describe('several queries', () => {
  test('have the mean of their ratios, and a smaller interval', () => {
    const one = comparePairs([10, 10, 10, 10], [8, 10, 12, 10])
    const both = combine([one, one])
    expect(both.pairs).toBe(4)
    expect(both.ratio).toBeCloseTo(one.ratio ?? 0, 3)
    expect(both.ratio_high).toBeLessThan(one.ratio_high ?? 0)
    expect(combine([])).toMatchObject({ pairs: 0, ratio: null })
  })
})
