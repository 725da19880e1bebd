import { expect, test } from 'vitest'
import { chartOf, firingBands, groupName } from './preview-series.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 10, 29, 12, minute)).toISOString()
const ms = (minute: number) => Date.parse(at(minute))

test('groups with different times share one axis, with gaps', () => {
  const point = (minute: number, value: number) => ({ at: at(minute), value, samples: 1 })
  const chart = chartOf({
    series: [
      { group: { model: 'a' }, points: [point(0, 1), point(2, 3)] },
      { group: { model: 'b' }, points: [point(1, 5)] },
    ],
  })
  expect(chart).toEqual({
    x: [ms(0), ms(1), ms(2)],
    series: [
      { name: 'a', values: [1, null, 3] },
      { name: 'b', values: [null, 5, null] },
    ],
    leftOut: 0,
  })
})

test('groups above the limit are counted', () => {
  const series = Array.from({ length: 10 }, (_, n) => ({ group: { model: `${n}` }, points: [] }))
  const chart = chartOf({ series })
  expect([chart.series.length, chart.leftOut]).toEqual([8, 2])
})

test('firing is from the first transition to the end; what still fires, to the end of the range', () => {
  const step = (minute: number, model: string, type: 'fired' | 'raised' | 'ended') => ({
    ...{ at: at(minute), group: { model }, type, severity: null },
  })
  const transitions = [
    ...[step(1, 'a', 'fired'), step(2, 'b', 'fired'), step(3, 'a', 'raised')],
    step(4, 'a', 'ended'),
  ]
  expect(firingBands({ transitions, to: at(9) })).toEqual([
    { from: ms(1), to: ms(4), name: 'a fired' },
    { from: ms(2), to: ms(9), name: 'b fires' },
  ])
})

test('a rule without groups, and an empty value, have names', () => {
  expect([groupName({}), groupName({ model: '', tag: 'x' })]).toEqual(['all', '(none), x'])
})
