import { expect, test } from 'vitest'
import { curveOf } from './calibration-curve.ts'

test('a step applies from its stated confidence up to the next one', () => {
  const { x, series } = curveOf([
    { from: 0, value: 0.1 },
    { from: 0.29, value: 0.4 },
    { from: 0.9, value: 0.6 },
  ])
  const [measured, stated] = series.map(({ values }) => values)
  expect([x.length, stated]).toEqual([101, x])
  expect([0, 28, 29, 89, 90, 100].map((at) => measured?.[at])).toEqual([10, 10, 40, 40, 60, 60])
})

test('confidence below the first step is measured as that step, and no steps give no curve', () => {
  expect(curveOf([{ from: 0.9, value: 0.6 }]).series[0]?.values[0]).toBe(60)
  expect(curveOf([])).toEqual({ x: [], series: [] })
})
