import type { VerificationCalibration } from '../../api/schema.gen.d.ts'
import type { ChartSeries } from '../../ui/chart-data.ts'

type Fit = NonNullable<VerificationCalibration['verifiers'][number]['fit']>

/**
 * Returns the measured and the stated confidence in percent, at each percent of the stated one. A step
 * applies up to the next one; the first one applies below itself too. Without steps: nothing.
 */
export function curveOf(steps: Fit['steps']): { x: number[]; series: ChartSeries[] } {
  const [first] = steps
  if (first === undefined) return { x: [], series: [] }
  const x = Array.from({ length: 101 }, (_, percent) => percent)
  const measured = x.map((percent) => {
    const step = steps.findLast(({ from }) => from * 100 <= percent + 1e-9) ?? first
    return step.value * 100
  })
  return {
    x,
    series: [
      { name: 'measured', values: measured },
      { name: 'as stated', values: x },
    ],
  }
}
