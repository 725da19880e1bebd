import { lazy, Suspense, useMemo, useState } from 'react'
import { useZone } from '../browser/zone.ts'
import css from './chart.module.css'
import {
  type ChartLook,
  type ChartProps,
  seriesColours,
  seriesDashes,
  summarize,
  tableRows,
} from './chart-data.ts'
import { formatCompact, formatCount, formatInstant } from './format.ts'
import { Plain } from './text.tsx'

const Plot = lazy(() => import('./chart-plot.tsx').then(({ Plot }) => ({ default: Plot })))

const maxTableRows = 500

/**
 * A chart over time or numbers. The picture is drawn on a canvas, so its values are also a sentence
 * for screen readers, a legend that follows the pointer, and a table that opens.
 */
export function Chart(props: ChartProps) {
  const { label, x, series, format = formatCompact, height = 200 } = props
  const zone = useZone()
  const [at, setAt] = useState<number>()
  const formatX = props.formatX ?? ((instant: number) => instantText(instant, zone))
  const shownAt = at === undefined || x[at] === undefined ? undefined : at
  const summary = useMemo(() => summarize(series, format), [series, format])
  return (
    <figure className={css.chart} aria-label={label}>
      <div className={css.head}>
        <span className={css.name}>{label}</span>
        {shownAt !== undefined && <span className={css.key}>{formatX(x[shownAt] ?? 0)}</span>}
        {series.map(({ name, values }, index) => (
          <span key={name} className={css.key}>
            <Swatch index={index} look={props.look ?? 'lines'} />
            <Plain>{name}</Plain>
            {shownAt !== undefined && <b>{valueText(values[shownAt] ?? null, format)}</b>}
          </span>
        ))}
      </div>
      <div className={css.plot} role="img" aria-label={`${label}. ${summary}`}>
        <Suspense fallback={<div className={css.wait} style={{ height }} />}>
          <Plot {...props} format={format} height={height} zone={zone} onPoint={setAt} />
        </Suspense>
      </div>
      <Values {...props} format={format} formatX={formatX} />
    </figure>
  )
}

/** The colour and dash of a series in the legend. */
function Swatch({ index, look }: { index: number; look: ChartLook }) {
  const colour = `var(${seriesColours[index % seriesColours.length]})`
  const dash = seriesDashes[index % seriesDashes.length]?.join(' ')
  return (
    <svg width="18" height="10" aria-hidden="true">
      {look === 'lines' ? (
        <line x1="0" y1="5" x2="18" y2="5" stroke={colour} strokeWidth="2" strokeDasharray={dash} />
      ) : (
        <rect x="4" width="10" height="10" fill={colour} />
      )}
    </svg>
  )
}

function Values({
  label,
  x,
  series,
  format,
  formatX,
  limits = [],
  bands = [],
}: ChartProps & { format: (value: number) => string; formatX: (x: number) => string }) {
  const [isOpen, setOpen] = useState(false)
  const { rows, leftOut } = isOpen ? tableRows(x, series, maxTableRows) : { rows: [], leftOut: 0 }
  return (
    <details className={css.more} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Show as a table</summary>
      {isOpen && (
        <>
          {limits.map(({ name, value }) => (
            <p key={name}>
              {name}: {format(value)}
            </p>
          ))}
          {bands.map(({ name, from, to }) => (
            <p key={`${name}${from}`}>
              {name}: {formatX(from)} to {formatX(to)}
            </p>
          ))}
          {leftOut > 0 && <p>The first {formatCount(leftOut)} rows are left out.</p>}
          <section className={css.table} tabIndex={isOpen ? 0 : -1} aria-label={`${label}, values`}>
            <table>
              <thead>
                <tr>
                  <th scope="col">At</th>
                  {series.map(({ name }) => (
                    <th key={name} scope="col">
                      <Plain>{name}</Plain>
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {rows.map(({ x: each, values }) => (
                  <tr key={each}>
                    <th scope="row">{formatX(each)}</th>
                    {series.map(({ name }, index) => (
                      <td key={name}>{valueText(values[index] ?? null, format)}</td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        </>
      )}
    </details>
  )
}

function valueText(value: number | null, format: (value: number) => string): string {
  return value === null ? '–' : format(value)
}

function instantText(instant: number, zone: string): string {
  return formatInstant(new Date(instant).toISOString(), zone).replace(/(:\d\d)\.\d{3}/, '$1')
}
