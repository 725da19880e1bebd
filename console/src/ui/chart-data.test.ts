import fc from 'fast-check'
import { expect, test } from 'vitest'
import { instantLabels, lonePoints, stackSeries, summarize, tableRows } from './chart-data.ts'

const value = fc.option(fc.integer({ min: 0, max: 1_000 }), { nil: null })

test('the top of a stack is the sum of all series, and a gap only where all have one', () => {
  const columns = fc.array(fc.array(value, { minLength: 3, maxLength: 3 }), { maxLength: 20 })
  fc.assert(
    fc.property(columns, (rows) => {
      const series = [0, 1, 2].map((at) => ({
        name: `${at}`,
        values: rows.map((row) => row[at] ?? null),
      }))
      const top = stackSeries(series)[2]?.values
      const expected = rows.map((row) =>
        row.every((each) => each === null)
          ? null
          : row.reduce<number>((sum, each) => sum + (each ?? 0), 0),
      )
      expect(top).toEqual(expected)
    }),
  )
})

test('the first series of a stack stays as it is where it has values', () => {
  const stacked = stackSeries([
    { name: 'a', values: [1, null, null] },
    { name: 'b', values: [2, 3, null] },
  ])
  expect(stacked.map(({ values }) => values)).toEqual([
    [1, 0, null],
    [3, 3, null],
  ])
})

test('a table holds the last rows and says how many are left out', () => {
  const { rows, leftOut } = tableRows([1, 2, 3], [{ name: 'a', values: [5, null, 7] }], 2)
  expect(rows).toEqual([
    { x: 2, values: [null] },
    { x: 3, values: [7] },
  ])
  expect(leftOut).toBe(1)
})

test('a summary names range and last value, and a series without values', () => {
  const series = [
    { name: 'loops', values: [2, 9, null, 4] },
    { name: 'failures', values: [null] },
  ]
  expect(summarize(series, (each) => `${each}`)).toBe('loops: 2 to 9, last 4. failures: no values.')
})

test('labels have the date at the first instant and after midnight of the zone', () => {
  const hour_ms = 3_600_000
  const start = Date.parse('2026-11-28T20:00:00Z')
  const labels = instantLabels(
    [0, 2, 4, 6].map((hours) => start + hours * hour_ms),
    'Europe/Berlin',
  )
  expect(labels).toEqual(['21:00\nNov 28', '23:00', '01:00\nNov 29', '03:00'])
})

test('labels of a repeated hour have the zone', () => {
  const start = Date.parse('2026-10-25T00:00:00Z')
  const labels = instantLabels(
    [-1, 0, 1, 2].map((hours) => start + hours * 3_600_000),
    'Europe/Berlin',
  )
  expect(labels).toEqual(['01:00\nOct 25', '02:00\nGMT+2', '02:00\nGMT+1', '03:00'])
})

test('labels of days have no time', () => {
  const start = Date.parse('2026-11-28T00:00:00Z')
  expect(instantLabels([start, start + 86_400_000], 'UTC')).toEqual(['Nov 28', 'Nov 29'])
})

test('a value between gaps is a point', () => {
  expect(lonePoints([1, null, 2, 3, null, 4])).toEqual([0, 5])
  expect(lonePoints([null, 1, null])).toEqual([1])
  expect(lonePoints([1, 2])).toEqual([])
})
