import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bucketOf, stackOf } from './findings-chart.ts'

const hour_ms = 3_600_000
const start_ms = Date.UTC(2026, 10, 29)
const bucket = { name: '1h', ms: hour_ms }

test.each([
  [15 / 60, '1m'],
  [1, '1m'],
  [24, '1h'],
  [7 * 24, '6h'],
  [30 * 24, '1d'],
  [400 * 24, '1d'],
])('%f hours have buckets of %s', (hours, name) => {
  expect(bucketOf(hours * hour_ms).name).toBe(name)
})

test('no finding is lost: the sum of the series is the sum of the rows', () => {
  const row = fc.record({ hour: fc.nat(23), kind: fc.nat(12), n: fc.integer({ min: 1, max: 9 }) })
  fc.assert(
    fc.property(fc.array(row), (given) => {
      const rows = given.map(({ hour, kind, n }) => ({
        ...{ time_bucket: new Date(start_ms + hour * hour_ms).toISOString(), n },
        type: `t${kind}`,
      }))
      const { x, series } = stackOf(rows, 'type', {
        ...{ from_ms: start_ms, to_ms: start_ms + 12 * hour_ms, bucket },
      })
      expect(series.length).toBeLessThanOrEqual(8)
      expect(series.every(({ values }) => values.length === x.length)).toBe(true)
      const sum = series.flatMap(({ values }) => values).reduce<number>((a, b) => a + (b ?? 0), 0)
      expect(sum).toBe(given.reduce((total, { n }) => total + n, 0))
    }),
  )
})

test('hours without findings are zero, and the largest group comes first', () => {
  const at = (hour: number) => new Date(start_ms + hour * hour_ms).toISOString()
  const rows = [
    { time_bucket: at(0), kind: 'loop', n: 1 },
    { time_bucket: at(2), kind: 'failure', n: 4 },
  ]
  const range = { from_ms: start_ms + 60_000, to_ms: start_ms + 3 * hour_ms, bucket }
  expect(stackOf(rows, 'kind', range)).toEqual({
    x: [0, 1, 2].map((hour) => start_ms + hour * hour_ms),
    series: [
      { name: 'failure', values: [0, 0, 4] },
      { name: 'loop', values: [1, 0, 0] },
    ],
  })
})
