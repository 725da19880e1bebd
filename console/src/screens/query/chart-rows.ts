import type { ChartSeries } from '../../ui/chart-data.ts'

export type Row = Readonly<Record<string, unknown>>

/** Series of a chart over time, and how many groups it has no place for. */
export type ChartRows = { x: number[]; series: ChartSeries[]; left_out: number }

const series_max = 8

/**
 * Turns the rows of an aggregate by time into series: one for each group and measure, the largest
 * ones first. A bucket without a row is a gap.
 */
export function chartRows(
  rows: readonly Row[],
  names: { groups: readonly string[]; measures: readonly string[] },
): ChartRows {
  const x = [...new Set(rows.map(instantOf))].filter(Number.isFinite).sort((a, b) => a - b)
  const places = new Map(x.map((instant, at) => [instant, at]))
  const series = new Map<string, (number | null)[]>()
  for (const row of rows) {
    const at = places.get(instantOf(row))
    if (at === undefined) continue
    for (const measure of names.measures) {
      const name = seriesName(row, names, measure)
      const values = series.get(name) ?? new Array<null>(x.length).fill(null)
      values[at] = numberOf(row[measure])
      series.set(name, values)
    }
  }
  const ranked = [...series]
    .map(([name, values]) => ({ name, values, size: sizeOf(values) }))
    .sort((a, b) => b.size - a.size)
  const shown = ranked.slice(0, series_max).map(({ name, values }) => ({ name, values }))
  return { x, series: shown, left_out: ranked.length - shown.length }
}

function instantOf(row: Row): number {
  return Date.parse(String(row['time_bucket']))
}

/** Returns a measured value, which is a number or, for money, a text; null for others. */
export function numberOf(value: unknown): number | null {
  if (value === null || value === undefined || value === '') return null
  const number = Number(value)
  return Number.isFinite(number) ? number : null
}

function sizeOf(values: readonly (number | null)[]): number {
  return values.reduce<number>((sum, value) => sum + Math.abs(value ?? 0), 0)
}

function seriesName(
  row: Row,
  { groups, measures }: { groups: readonly string[]; measures: readonly string[] },
  measure: string,
): string {
  if (groups.length === 0) return measure
  const isRest = row['other'] === true
  const name = isRest ? 'all others' : groups.map((group) => groupText(row[group])).join(' · ')
  return measures.length > 1 ? `${name}: ${measure}` : name
}

function groupText(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'unknown'
  return String(value)
}
