import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ratioOf, ratioText } from './ratio.ts'

test('the faster store is named, and swapping the durations names the other', () => {
  expect(ratioText(0.25)).toBe('PostgreSQL 4.0× faster')
  expect(ratioText(12.4)).toBe('ClickHouse 12× faster')
  expect(ratioText(1.05)).toBe('about equal')
  const ms = fc.double({ min: 0.01, max: 10_000, noNaN: true })
  fc.assert(
    fc.property(ms, ms, (postgres, clickhouse) => {
      const text = ratioText(postgres / clickhouse)
      if (postgres < clickhouse / 1.2) expect(text).toMatch(/^PostgreSQL/)
      if (clickhouse < postgres / 1.2) expect(text).toMatch(/^ClickHouse/)
    }),
  )
})

test('without an answer of both stores there is no ratio', () => {
  const clickhouse = { store: 'clickhouse', median_ms: 10 }
  expect(ratioOf([clickhouse, { store: 'postgres', median_ms: 5 }])).toBe(0.5)
  expect(ratioOf([clickhouse])).toBeNull()
  expect(ratioOf([clickhouse, { store: 'postgres', median_ms: null }])).toBeNull()
  expect(
    ratioOf([
      { ...clickhouse, median_ms: 0 },
      { store: 'postgres', median_ms: 5 },
    ]),
  ).toBeNull()
  for (const odd of [null, 0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(ratioText(odd)).toBe('not compared')
  }
})
