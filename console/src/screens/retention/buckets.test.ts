import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RetentionBucket } from '../../api/schema.gen.d.ts'
import { barsOf, splits, sumsOf } from './buckets.ts'

const bucket = fc.record({
  day: fc
    .integer({ min: 0, max: 900 })
    .map((day) => new Date(day * 86_400_000).toISOString().slice(0, 10)),
  kind: fc.constantFrom('observations', 'traces', 'events'),
  environment: fc.oneof(fc.constant(''), fc.integer({ min: 0, max: 12 }).map(String)),
  action: fc.constantFrom('mask', 'delete', 'keep'),
  reason: fc.constant(null),
  rows: fc.nat(1_000),
  bytes: fc.nat(1_000),
  held_rows: fc.nat(10),
}) as fc.Arbitrary<RetentionBucket>

const total = (rows: readonly { rows: number }[]) => rows.reduce((sum, each) => sum + each.rows, 0)

test('bars lose no row, however they are split and however many days they cover', () => {
  fc.assert(
    fc.property(fc.array(bucket, { maxLength: 60 }), fc.constantFrom(...splits), (all, split) => {
      const { x, series } = barsOf(all, split)
      const values = series.flatMap((each) => each.values)
      const shown = values.reduce<number>((sum, each) => sum + (each ?? 0), 0)
      expect(shown).toBe(total(all.filter(({ action }) => action !== 'keep')))
      expect(x.length).toBeLessThanOrEqual(120)
      expect(series.filter((each) => each.values.length !== x.length)).toEqual([])
      expect(series.length).toBeLessThanOrEqual(7)
      expect(new Set(series.map(({ name }) => name)).size).toBe(series.length)
    }),
  )
})

test('sums by kind and environment have all rows of their action', () => {
  fc.assert(
    fc.property(fc.array(bucket, { maxLength: 60 }), (all) => {
      const sums = sumsOf(all)
      expect(sums.reduce((sum, each) => sum + each.deleted + each.masked + each.kept, 0)).toBe(
        total(all),
      )
      expect(new Set(sums.map(({ kind, environment }) => `${kind}|${environment}`)).size).toBe(
        sums.length,
      )
    }),
  )
})

test('days without rows have empty bars between', () => {
  const row = { kind: 'traces', environment: '', action: 'delete', reason: null } as const
  const at = (day: string, rows: number) => ({ ...row, day, rows, bytes: 1, held_rows: 0 })
  const { x, series } = barsOf([at('2026-03-03', 2), at('2026-03-01', 5)], 'environment')
  const first = Date.UTC(2026, 2, 1) / 86_400_000
  expect(x).toEqual([first, first + 1, first + 2])
  expect(series).toEqual([{ name: 'no environment', values: [5, 0, 2] }])
})
