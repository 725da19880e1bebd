import type { RetentionBucket } from '../../api/schema.gen.d.ts'
import type { ChartSeries } from '../../ui/chart-data.ts'

/** How the bars are split. */
export const splits = ['kind', 'environment', 'action'] as const
export type Split = (typeof splits)[number]

/** Rows of one kind and environment, over all days. */
export type Sums = {
  kind: string
  environment: string
  days: number
  first: string
  last: string
  deleted: number
  masked: number
  kept: number
  held: number
  bytes: number
}

const bars_max = 120
const series_max = 7

/** Returns the word for a bucket's part of a split. An absent environment has a name. */
function partOf(bucket: RetentionBucket, split: Split): string {
  const value = bucket[split]
  return value === '' ? 'no environment' : value
}

/**
 * Groups what a run would delete or mask into bars by day, oldest first, with days between; `x` are
 * days since 1970. Above 120 days a bar covers several. Series beyond the sixth largest are one,
 * "others".
 */
export function barsOf(
  buckets: readonly RetentionBucket[],
  split: Split,
): { x: number[]; series: ChartSeries[] } {
  const gone = buckets.filter(({ action, rows }) => action !== 'keep' && rows > 0)
  const names = namesOf(gone, split)
  const days = gone.map(({ day }) => dayNumber(day))
  if (days.length === 0) return { x: [], series: [] }
  const first = days.reduce((least, day) => Math.min(least, day))
  const last = days.reduce((most, day) => Math.max(most, day))
  const width = Math.ceil((last - first + 1) / bars_max)
  const length = Math.ceil((last - first + 1) / width)
  const series = names.map((name) => ({ name, values: new Array<number>(length).fill(0) }))
  for (const bucket of gone) {
    const bar = Math.floor((dayNumber(bucket.day) - first) / width)
    const found = names.indexOf(partOf(bucket, split))
    const { values } = series.at(found) ?? { values: [] }
    values[bar] = (values[bar] ?? 0) + bucket.rows
  }
  return { x: Array.from({ length }, (_, index) => first + index * width), series }
}

/** Returns the names of series, the largest first. The last one is also that of all others. */
function namesOf(gone: readonly RetentionBucket[], split: Split): string[] {
  const totals = new Map<string, number>()
  for (const bucket of gone) {
    const part = partOf(bucket, split)
    totals.set(part, (totals.get(part) ?? 0) + bucket.rows)
  }
  const names = [...totals].sort((one, other) => other[1] - one[1]).map(([name]) => name)
  return names.length > series_max ? [...names.slice(0, series_max - 1), 'others'] : names
}

const day_ms = 86_400_000

function dayNumber(day: string): number {
  return Math.floor(Date.parse(`${day}T00:00:00Z`) / day_ms)
}

/** Sums the buckets by kind and environment, the largest loss first. */
export function sumsOf(buckets: readonly RetentionBucket[]): Sums[] {
  const groups = Map.groupBy(buckets, ({ kind, environment }) => `${kind} ${environment}`)
  return [...groups.values()].map(sumOf).sort((one, other) => other.deleted - one.deleted)
}

function sumOf(members: readonly RetentionBucket[]): Sums {
  const days = members.map(({ day }) => day).sort()
  const rowsOf = (action: string) =>
    members.reduce((sum, each) => sum + (each.action === action ? each.rows : 0), 0)
  return {
    kind: members[0]?.kind ?? '',
    environment: members[0]?.environment ?? '',
    days: new Set(days).size,
    first: days.at(0) ?? '',
    last: days.at(-1) ?? '',
    deleted: rowsOf('delete'),
    masked: rowsOf('mask'),
    kept: rowsOf('keep'),
    held: members.reduce((sum, each) => sum + each.held_rows, 0),
    bytes: members.reduce((sum, each) => sum + (each.action === 'delete' ? each.bytes : 0), 0),
  }
}
