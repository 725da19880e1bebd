import { expect, test } from 'vitest'
import { stepCurve } from './step-curve.ts'

test('a step applies from its stated share up to the next one', () => {
  const { x, series } = stepCurve([
    { from: 0, value: 0.1 },
    { from: 0.29, value: 0.4 },
    { from: 0.9, value: 0.6 },
  ])
  const [measured, stated] = series.map(({ values }) => values)
  expect([x.length, stated]).toEqual([101, x])
  expect([0, 28, 29, 89, 90, 100].map((at) => measured?.[at])).toEqual([10, 10, 40, 40, 60, 60])
})

test('a share below the first step is measured as that step, and no steps give no curve', () => {
  expect(stepCurve([{ from: 0.9, value: 0.6 }]).series[0]?.values[0]).toBe(60)
  expect(stepCurve([])).toEqual({ x: [], series: [] })
})
