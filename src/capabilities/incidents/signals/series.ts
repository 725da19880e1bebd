import { type Group, groupKey } from '../rules/groups.ts'
import type { Amount, CellValue, Window } from './reading.ts'

/** The amounts of a group: the starts of its stretches with rows, and the sums up to each of them. */
export type Series = { group: Group; starts: number[]; sums: CellSums[] }
type CellSums = readonly { value: number; count: number }[]

/** Amounts that can't be added up from stretches of time. */
const indivisible: ReadonlySet<Amount> = new Set(['latency', 'ttft', 'call_tasks'])

/** Returns whether amounts of a window are the sums of those of its stretches. */
export function areDivisible(amounts: readonly Amount[]): boolean {
  return !amounts.some((one) => indivisible.has(one))
}

type Stretch = { group: Group; start_ms: number; values: readonly CellValue[] }

/** Adds a stretch, which begins after the others of its group, to the series by key of the group. */
export function addStretch(
  groups: Map<string, Series>,
  { group, start_ms, values }: Stretch,
): void {
  const key = groupKey(group)
  const series = groups.get(key) ?? { group, starts: [], sums: [] }
  groups.set(key, series)
  series.starts.push(start_ms)
  series.sums.push(addValues(series.sums.at(-1), values))
}

function addValues(before: CellSums | undefined, values: readonly CellValue[]): CellSums {
  return values.map(({ value, count }, at) => ({
    value: (before?.[at]?.value ?? 0) + (value ?? 0),
    count: (before?.[at]?.count ?? 0) + count,
  }))
}

/** Sums have at most nine digits after the point; differences of sums have an error below that. */
const digits = 1e9

/** Returns the amounts of a window of whole stretches. */
export function between(
  { starts, sums }: Series,
  { from_ms, to_ms }: Window,
  amounts: readonly Amount[],
): CellValue[] {
  const until = sums[countBefore(starts, to_ms) - 1]
  const before = sums[countBefore(starts, from_ms) - 1]
  return amounts.map((_, at) => {
    const count = (until?.[at]?.count ?? 0) - (before?.[at]?.count ?? 0)
    const sum = (until?.[at]?.value ?? 0) - (before?.[at]?.value ?? 0)
    const value = Math.round(sum * digits) / digits
    return { value, count }
  })
}

/** Counts the starts before an instant. */
function countBefore(starts: readonly number[], at_ms: number): number {
  let [low, high] = [0, starts.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((starts[middle] ?? 0) < at_ms) low = middle + 1
    else high = middle
  }
  return low
}
