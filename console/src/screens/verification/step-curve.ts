import type { ChartSeries } from '../../ui/chart-data.ts'

/** A measured share for each stated one; a step applies up to the next one. */
export type Step = { from: number; value: number }

/**
 * Returns the measured and the stated share in percent, at each percent of the stated one. The first
 * step applies below itself too. Without steps: nothing.
 */
export function stepCurve(steps: readonly Step[]): { x: number[]; series: ChartSeries[] } {
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
