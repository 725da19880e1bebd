import type { ReactNode } from 'react'
import { Fault } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { formatNumber } from '../query/cells.tsx'
import { numberOf } from '../query/chart-rows.ts'
import type { Asked } from '../query/use-draft.ts'
import css from './overview.module.css'
import { QueryLink, useAggregate } from './panel.tsx'
import { changeText, rangeBefore, totals, waste } from './panels.ts'

const tiles = [
  ['Cost', 'cost_usd'],
  ['Calls', 'calls'],
  ['Tokens', 'total_tokens'],
  ['Failed calls', 'error_rate'],
  ['95 % of calls within', 'p95_duration_ms'],
  ['95 % of first tokens within', 'p95_time_to_first_token_ms'],
] as const

const wasteTiles = [
  ['Findings', 'findings'],
  ['Wasted', 'wasted_cost_usd'],
] as const

/** The sums of the range beside those of the range before it. */
export function Totals({ window }: { window: Asked['window'] }) {
  const before = rangeBefore(window)
  const now = useAggregate({ body: totals, window }, true)
  const earlier = useAggregate({ body: totals, window: before }, now.data !== undefined)
  const wasted = useAggregate({ body: waste, window }, true)
  const wastedBefore = useAggregate({ body: waste, window: before }, wasted.data !== undefined)
  const error = now.error ?? wasted.error
  const retry = () => void Promise.all([now.refetch(), wasted.refetch()])
  return (
    <>
      {error !== null && <Fault error={error} retry={retry} />}
      <div className={css.tiles}>
        {tiles.map(([name, column]) => (
          <SumTile
            key={column}
            name={name}
            column={column}
            row={now.data?.rows[0]}
            before={earlier.data?.rows[0]}
          >
            <QueryLink body={totals}>
              Query<span className={ui.visuallyHidden}> {name}</span>
            </QueryLink>
          </SumTile>
        ))}
        {wasteTiles.map(([name, column]) => (
          <SumTile
            key={column}
            name={name}
            column={column}
            row={wasted.data?.rows[0]}
            before={wastedBefore.data?.rows[0]}
          >
            <QueryLink body={waste}>
              Query<span className={ui.visuallyHidden}> {name}</span>
            </QueryLink>
          </SumTile>
        ))}
      </div>
    </>
  )
}

type Sums = Readonly<Record<string, unknown>> | undefined

function SumTile({
  name,
  column,
  row,
  before,
  children,
}: {
  name: string
  column: string
  row: Sums
  before: Sums
  children: ReactNode
}) {
  const value = numberOf(row?.[column])
  const text = value === null ? '–' : formatNumber(column, value)
  return (
    <div className={css.tile}>
      <span className={ui.soft}>{name}</span>
      <strong>{row === undefined ? '…' : text}</strong>
      <span className={ui.soft}>{changeText(value, numberOf(before?.[column])) ?? ' '}</span>
      {children}
    </div>
  )
}
