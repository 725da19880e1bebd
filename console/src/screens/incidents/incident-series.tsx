import { useMemo } from 'react'
import type { IncidentSeries as Series } from '../../api/schema.gen.d.ts'
import { Chart } from '../../ui/chart.tsx'
import { formatCompact } from '../../ui/format.ts'
import css from './incidents.module.css'

/** The measurements of the rule around the opening, with its threshold. */
export function IncidentSeries({ series, opened_at }: { series: Series; opened_at: string }) {
  const { rule, threshold, points } = series
  const x = useMemo(() => points.map(({ at }) => Date.parse(at)), [points])
  const values = useMemo(
    () => [{ name: rule, values: points.map(({ value }) => value) }],
    [rule, points],
  )
  const limits = useMemo(
    () => (threshold === null ? [] : [{ value: threshold, name: `limit ${threshold}` }]),
    [threshold],
  )
  const bands = useMemo(() => {
    const opened = Date.parse(opened_at)
    return [{ from: opened, to: Math.max(opened, x.at(-1) ?? opened), name: 'since the opening' }]
  }, [opened_at, x])
  if (points.length === 0) return null
  return (
    <section className={css.part} aria-label="Measurements">
      <h2>Measurements</h2>
      <Chart
        label="Value of the rule"
        {...{ x, limits, bands }}
        series={values}
        format={formatValue}
        height={180}
      />
    </section>
  )
}

function formatValue(value: number): string {
  return Math.abs(value) < 1 && value !== 0 ? value.toPrecision(2) : formatCompact(value)
}
