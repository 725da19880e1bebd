import { useMemo } from 'react'
import type { AggregateAnswer, Measure } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { Chart } from '../../ui/chart.tsx'
import { formatCount } from '../../ui/format.ts'
import ui from '../../ui/ui.module.css'
import type { Body } from './body.ts'
import { formatNumber } from './cells.tsx'
import { chartRows } from './chart-rows.ts'
import type { Asked } from './use-draft.ts'

/** Returns the names of an aggregate's columns that tell its groups apart. */
function groupsOf({ group_by = [] }: Body): string[] {
  return group_by.filter((each) => typeof each === 'string')
}

/** Returns measures that can share one axis: those of one field, or of none. */
function likeFirst(measures: readonly Measure[], name: string | undefined): Measure[] {
  const first = measures.find(({ as }) => as === name) ?? measures[0]
  if (first === undefined) return []
  const isAlike = (each: Measure) => first.field !== undefined && each.field === first.field
  return measures.filter((each) => each === first || isAlike(each))
}

/** The chart of an aggregate over time. Nothing for other aggregates. */
export function TimeChart({
  asked,
  answer,
  label,
}: {
  asked: Asked
  answer: AggregateAnswer
  /** The title; by default the names of the measures. */
  label?: string
}) {
  const [search, change] = useUrlState()
  const { body } = asked
  const { measures = [], group_by = [] } = body
  const shown = likeFirst(measures, search['measure'])
  const names = shown.map(({ as }) => as).join()
  const { x, series, left_out } = useMemo(
    () => chartRows(answer.rows, { groups: groupsOf(body), measures: names.split(',') }),
    [answer, body, names],
  )
  const [main] = shown
  if (main === undefined || group_by.every((each) => typeof each === 'string')) return null
  if (x.length === 0) return null
  const isTotal = ['count', 'sum'].includes(main.fn)
  return (
    <>
      {measures.length > shown.length && (
        <label className={ui.row}>
          Show
          <select value={main.as} onChange={(event) => change({ measure: event.target.value })}>
            {measures.map(({ as }) => (
              <option key={as} value={as}>
                {as}
              </option>
            ))}
          </select>
        </label>
      )}
      <Chart
        label={label ?? names.replaceAll(',', ', ')}
        x={x}
        series={series}
        look={isTotal && shown.length === 1 ? 'bars' : 'lines'}
        stacked={isTotal && shown.length === 1}
        format={(value) => formatNumber(main.as, value)}
      />
      {left_out > 0 && (
        <p className={ui.soft}>
          The chart shows the {series.length} largest groups; {formatCount(left_out)} more are in
          the table.
        </p>
      )}
    </>
  )
}
