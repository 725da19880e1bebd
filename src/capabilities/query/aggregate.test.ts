import { expect, test } from 'vitest'
import { fillGaps } from './aggregate.ts'
import { aggregateSchema } from './language/aggregate-query.ts'

const window = { from: '2026-11-01T00:30:00Z', to: '2026-11-01T03:30:00Z' }
const hour = (at: number) => `2026-11-01T0${at}:00:00.000Z`

function aggregateOf(change: object = {}) {
  return aggregateSchema.parse({
    entity: 'observations',
    window,
    measures: [
      { fn: 'count', as: 'n' },
      { fn: 'sum', field: 'cost_usd', as: 'cost' },
      { fn: 'p95', field: 'duration_ms', as: 'p95' },
    ],
    group_by: [{ time_bucket: '1h' }, 'model'],
    fill: true,
    ...change,
  })
}

const row = (at: number, model: string | null, n: number) => ({
  ...{ time_bucket: hour(at), model, n },
  ...{ cost: '1', p95: 5 },
})
const empty = (at: number, model: string | null) => ({
  ...{ time_bucket: hour(at), model, n: 0 },
  ...{ cost: '0', p95: null },
})

test('each group has a row in every bucket of the window, including its edges', () => {
  const rows = [row(1, 'a', 1), row(1, null, 2), row(3, 'a', 3)]
  expect(fillGaps(aggregateOf(), rows)).toEqual({
    truncated: false,
    rows: [
      ...[empty(0, 'a'), empty(0, null), row(1, 'a', 1), row(1, null, 2)],
      ...[empty(2, 'a'), empty(2, null), row(3, 'a', 3), empty(3, null)],
    ],
  })
})

test('without rows there are empty buckets if nothing is grouped, else no rows', () => {
  const alone = aggregateOf({ group_by: [{ time_bucket: '1h' }] })
  expect(fillGaps(alone, []).rows.map(({ n }) => n)).toEqual([0, 0, 0, 0])
  expect(fillGaps(aggregateOf(), [])).toEqual({ rows: [], truncated: false })
})

test('a bucket that exceeds the limit is left out as a whole', () => {
  const rows = [row(0, 'a', 1), row(1, 'a', 2), row(1, 'b', 3), row(2, 'a', 4)]
  const two = fillGaps(aggregateOf({ limit: 5 }), rows)
  expect(two.truncated).toBe(true)
  expect(two.rows).toEqual([row(0, 'a', 1), empty(0, 'b'), row(1, 'a', 2), row(1, 'b', 3)])
  // The store had more than the limit: the bucket of the last row may lack some.
  const cut = fillGaps(aggregateOf({ limit: 3 }), rows)
  expect(cut).toEqual({ rows: [row(0, 'a', 1), empty(0, 'b')], truncated: true })
})

test('the group of all others is filled like any group', () => {
  const top = aggregateOf({ top_n: { n: 1, by: 'n' } })
  const rows = [
    { ...row(1, 'a', 5), other: false },
    { ...row(2, null, 2), other: true },
  ]
  const { rows: filled } = fillGaps(top, rows)
  expect(filled).toHaveLength(8)
  expect(filled.slice(2, 4)).toEqual([rows[0], { ...empty(1, null), other: true }])
})

test('weeks begin on Monday', () => {
  const weekly = aggregateOf({
    window: { from: '2026-11-01T00:00:00Z', to: '2026-11-10T00:00:00Z' },
    group_by: [{ time_bucket: '1w' }],
  })
  expect(fillGaps(weekly, []).rows.map(({ time_bucket }) => time_bucket)).toEqual([
    '2026-10-26T00:00:00.000Z',
    '2026-11-02T00:00:00.000Z',
    '2026-11-09T00:00:00.000Z',
  ])
})
