import { type Group, groupKey } from '../rules/groups.ts'
import { filterKey, isAddedUp, type RowReading } from './batches.ts'
import { lateTiming } from './late-timing.ts'
import {
  type Amount,
  type CellValue,
  maxGroupsRead,
  noCell,
  type ReadGroup,
  type ReadRequest,
  type SignalValue,
  type SourceReader,
  type Window,
} from './reading.ts'
import { addStretch, between, type Series } from './series.ts'

/** A group with rows in a window of a reading; values are in the order of the windows. */
export type GroupValues = { group: Group; values: readonly SignalValue[] }

/** Groups with rows, and the number of further ones. */
export type ReadingValues = { groups: readonly GroupValues[]; others: number }

export type Ask = Pick<ReadRequest, 'project_id' | 'signal'>

/** The amounts of a group over a window; empty without rows. */
type Amounts = { group: Group; over: (window: Window) => readonly CellValue[] }

/**
 * Reads the filters of a batch with one statement whose length does not grow with the windows:
 * sums are read in the stretches between all ends of windows, and added up; other amounts have a row
 * for each window. Undefined if there are too many rows, or if the source is the ledger.
 */
export async function readSeries(
  read: SourceReader,
  readings: readonly RowReading[],
  ask: Ask,
): Promise<Map<RowReading, ReadingValues> | undefined> {
  const byFilter = [...Map.groupBy(readings, filterKey).values()]
  const [filter, ...filters] = byFilter.flatMap(([first]) => first?.rule ?? [])
  if (filter === undefined) return new Map()
  if (readings.some(({ signal }) => signal.source === 'ledger')) return undefined
  const shape = readings.every(isAddedUp) ? stretchesOf(readings) : windowsOf(readings)
  const amounts = [...new Set(readings.flatMap(({ signal }) => signal.amounts))]
  const result = await read({
    ...ask,
    ...shape.request,
    filters: [filter, ...filters],
    timing: lateTiming(filter),
    cells: amounts.map((amount) => ({ amount, window: shape.whole })),
  })
  if (result.total > result.groups.length) return undefined
  const rows = Map.groupBy(result.groups, (row) => row.filter ?? 0)
  return new Map(
    byFilter.flatMap((some, at) => {
      const groups = shape.join(rows.get(at) ?? [], amounts)
      return some.map((reading) => [reading, valuesOf(reading, groups, amounts)] as const)
    }),
  )
}

/** How windows are read, and how the rows of a filter become groups. */
type Shape = {
  request: Pick<ReadRequest, 'windows' | 'stretches' | 'overlapping'>
  whole: Window
  join(rows: readonly ReadGroup[], amounts: readonly Amount[]): ReadonlyMap<string, Amounts>
}

function stretchesOf(readings: readonly RowReading[]): Shape {
  const { windows, edges, whole } = extent(readings)
  return {
    request: { windows, stretches: { edges } },
    whole,
    join: (rows, amounts) => {
      const series = new Map<string, Series>()
      for (const { group, stretch = 0, values } of rows) {
        addStretch(series, { group, start_ms: edges[stretch - 1] ?? 0, values })
      }
      const toAmounts = (one: Series): Amounts => {
        return { group: one.group, over: (window) => between(one, window, amounts) }
      }
      return new Map([...series].map(([key, one]) => [key, toAmounts(one)]))
    },
  }
}

function windowsOf(readings: readonly RowReading[]): Shape {
  const { windows, whole } = extent(readings)
  const byKey = new Map(windows.map((window) => [windowKey(window), window]))
  const overlapping = [...byKey.values()]
  const numbers = new Map([...byKey.keys()].map((key, at) => [key, at]))
  return {
    request: { windows, overlapping },
    whole,
    join: (rows) => {
      const byGroup = Map.groupBy(rows, ({ group }) => groupKey(group))
      return new Map(
        [...byGroup].map(([key, some]) => {
          const values = new Map(some.map((row) => [row.stretch, row.values]))
          const over = (window: Window) => values.get(numbers.get(windowKey(window))) ?? []
          return [key, { group: some[0]?.group ?? {}, over }]
        }),
      )
    },
  }
}

function windowKey({ from_ms, to_ms }: Window): string {
  return `${from_ms} ${to_ms}`
}

function extent(readings: readonly RowReading[]) {
  const windows = readings.flatMap((reading) => reading.windows)
  const ends = windows.flatMap(({ from_ms, to_ms }) => [from_ms, to_ms])
  const edges = [...new Set(ends)].toSorted((one, other) => one - other)
  return { windows, edges, whole: { from_ms: edges[0] ?? 0, to_ms: edges.at(-1) ?? 0 } }
}

function valuesOf(
  { signal, windows, known = [] }: RowReading,
  series: ReadonlyMap<string, Amounts>,
  amounts: readonly Amount[],
): ReadingValues {
  const keep = new Set(known.map(groupKey))
  const all: (GroupValues & { key: string })[] = []
  for (const [key, { group, over }] of series) {
    const values = windows.map((window) => {
      const cells = over(window)
      return signal.value(
        signal.amounts.map((amount) => cells[amounts.indexOf(amount)] ?? noCell),
        window,
      )
    })
    if (values.some(({ samples }) => samples > 0)) all.push({ key, group, values })
  }
  const groups = all.filter(({ key }, at) => at < maxGroupsRead || keep.has(key))
  return { groups, others: all.length - groups.length }
}
