import css from './bars.module.css'
import { formatCompact } from './format.ts'
import { classes } from './parts.tsx'
import { Plain } from './text.tsx'

/** A bar of a stacked chart: its place on the axis, and a value for each series. */
export type Bar = { at: string; values: readonly number[] }

const looks = [css.s0, css.s1, css.s2, css.s3, css.s4, css.s5, css.s6]
const lookOf = (index: number) => looks[index % looks.length]

/**
 * Stacked bars along an axis. `summary` says in words what they show. Show the numbers in a
 * table too, because the bars are not for screen readers.
 */
export function Bars({
  summary,
  series,
  bars,
  format = formatCompact,
}: {
  summary: string
  series: readonly string[]
  bars: readonly Bar[]
  format?: (value: number) => string
}) {
  const top = Math.max(0, ...bars.map(({ values }) => sumOf(values)))
  return (
    <figure className={css.figure}>
      <ul className={css.legend}>
        {series.map((name, index) => (
          <li key={name}>
            <span className={classes(css.key, lookOf(index))} aria-hidden="true" />
            <Plain>{name}</Plain>
          </li>
        ))}
      </ul>
      <div className={css.plot} role="img" aria-label={summary}>
        {bars.map(({ at, values }) => (
          <div key={at} className={css.bar} title={titleOf({ at, values }, series, format)}>
            {values.map((value, index) => (
              <div
                key={series[index]}
                className={classes(css.part, lookOf(index))}
                style={{ height: top > 0 ? `${(value / top) * 100}%` : 0 }}
              />
            ))}
          </div>
        ))}
      </div>
      <figcaption className={css.axis}>
        <span>{bars.at(0)?.at}</span>
        <span>highest: {format(top)}</span>
        <span>{bars.at(-1)?.at}</span>
      </figcaption>
    </figure>
  )
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}

function titleOf(bar: Bar, series: readonly string[], format: (value: number) => string): string {
  const parts = bar.values
    .map((value, index) => [value, series[index]] as const)
    .filter(([value]) => value > 0)
    .map(([value, name]) => `${name}: ${format(value)}`)
  return [bar.at, ...parts].join('\n')
}

/** A share of 0 to 1 as a small bar, with its interval as a line. Write the number beside it. */
export function Meter({ share, interval }: { share: number; interval?: readonly number[] | null }) {
  const [low, high] = interval ?? []
  return (
    <span className={css.meter} aria-hidden="true">
      <span className={css.fill} style={{ width: `${clamp(share) * 100}%` }} />
      {low !== undefined && high !== undefined && (
        <span
          className={css.range}
          style={{ left: `${clamp(low) * 100}%`, width: `${(clamp(high) - clamp(low)) * 100}%` }}
        />
      )}
    </span>
  )
}

function clamp(share: number): number {
  return Math.min(Math.max(share, 0), 1)
}
