import type { ChartSeries } from '../../ui/chart-data.ts'

const minute_ms = 60_000
const hour_ms = 60 * minute_ms
const day_ms = 24 * hour_ms

/** Width of the bars of a range, as the query language names it. */
export type Bucket = { name: string; ms: number }

const buckets: readonly Bucket[] = [
  { name: '1m', ms: minute_ms },
  { name: '5m', ms: 5 * minute_ms },
  { name: '1h', ms: hour_ms },
  { name: '6h', ms: 6 * hour_ms },
  { name: '1d', ms: day_ms },
]
const bars_max = 90

/** Returns the smallest bucket with which a range has at most 90 bars. */
export function bucketOf(range_ms: number): Bucket {
  const fitting = buckets.find(({ ms }) => range_ms / ms <= bars_max)
  return fitting ?? { name: '1d', ms: day_ms }
}

type Row = Readonly<Record<string, unknown>>

const series_max = 7

/**
 * Turns rows of `time_bucket`, a group and `n` into series over all buckets of a range, the largest
 * first. Groups above the limit are one series, so that the stack has the whole height.
 */
export function stackOf(
  rows: readonly Row[],
  by: string,
  { from_ms, to_ms, bucket }: { from_ms: number; to_ms: number; bucket: Bucket },
): { x: number[]; series: ChartSeries[] } {
  const counts = new Map<string, Map<number, number>>()
  let last_ms = to_ms
  for (const row of rows) {
    const at_ms = Date.parse(String(row['time_bucket']))
    const name = String(row[by] ?? '(none)')
    const ofGroup = counts.get(name) ?? new Map<number, number>()
    ofGroup.set(at_ms, (ofGroup.get(at_ms) ?? 0) + Number(row['n']))
    counts.set(name, ofGroup)
    // The clock of the browser may be behind that of the rows.
    last_ms = Math.max(last_ms, at_ms + 1)
  }
  const first_ms = Math.floor(from_ms / bucket.ms) * bucket.ms
  const length = Math.max(0, Math.ceil((last_ms - first_ms) / bucket.ms))
  const x = Array.from({ length }, (_, at) => first_ms + at * bucket.ms)
  const sumOf = (ofGroup: Map<number, number>) => [...ofGroup.values()].reduce((a, b) => a + b, 0)
  const sorted = [...counts].sort(
    ([one, ofOne], [other, ofOther]) => sumOf(ofOther) - sumOf(ofOne) || (one < other ? -1 : 1),
  )
  const shown = sorted.length > series_max + 1 ? sorted.slice(0, series_max) : sorted
  const series = shown.map(([name, ofGroup]) => ({
    name,
    values: x.map((at_ms) => ofGroup.get(at_ms) ?? 0),
  }))
  const rest = sorted.slice(shown.length)
  if (rest.length > 0) {
    const values = x.map((at) => rest.reduce((sum, [, ofGroup]) => sum + (ofGroup.get(at) ?? 0), 0))
    series.push({ name: `${rest.length} others`, values })
  }
  return { x, series }
}
