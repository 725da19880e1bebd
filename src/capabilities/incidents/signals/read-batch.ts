import { groupKey } from '../rules/groups.ts'
import { type Batch, cellKey, cellsOf, type RowReading, splitByFilter } from './batches.ts'
import { lateTiming } from './late-timing.ts'
import { type Ask, type GroupValues, type ReadingValues, readSeries } from './read-series.ts'
import {
  type Amount,
  noCell,
  type ReadRequest,
  type ReadResult,
  type SourceReader,
  type Window,
} from './reading.ts'

/**
 * Reads a batch: all its filters with one statement, since a statement costs more to plan than its
 * rows cost to read. If that has too many rows, each filter is read by itself.
 */
export async function readBatch(
  read: SourceReader,
  batch: Batch,
  ask: Ask,
): Promise<Map<RowReading, ReadingValues>> {
  const series = await readSeries(read, batch.readings, ask)
  if (series !== undefined) return series
  const parts = splitByFilter(batch)
  if (parts.length === 1) return readCells(read, batch.readings, ask)
  const all: [RowReading, ReadingValues][] = []
  for (const part of parts) all.push(...(await readBatch(read, part, ask)))
  return new Map(all)
}

/**
 * Reads an aggregate for each window. If there are more groups than a statement returns, each
 * reading is read by itself, so that groups of one rule do not displace those of another, and then
 * its known groups.
 */
async function readCells(
  read: SourceReader,
  readings: readonly RowReading[],
  ask: Ask,
): Promise<Map<RowReading, ReadingValues>> {
  const [first] = readings
  if (first === undefined) return new Map()
  const cells = new Map(readings.flatMap(cellsOf).map((cell) => [cellKey(cell), cell]))
  const request: ReadRequest = {
    ...ask,
    filters: [first.rule],
    cells: [...cells.values()],
    timing: lateTiming(first.rule),
  }
  const result = await read(request)
  const isCut = result.total > result.groups.length
  if (isCut && readings.length > 1) {
    const all: [RowReading, ReadingValues][] = []
    for (const one of readings) all.push(...(await readCells(read, [one], ask)))
    return new Map(all)
  }
  const known = isCut ? await readKnown(read, request, { result, reading: first }) : []
  const at = new Map([...cells.keys()].map((key, index) => [key, index]))
  const all = [...result.groups, ...known]
  const others = result.total - all.length
  return new Map(
    readings.map((reading) => [reading, { groups: valuesOf(reading, all, at), others }]),
  )
}

/** Known groups of one statement: their values are sent in the URL, which is at most 1 MiB. */
const maxKnownGroups = 100

/** Reads the known groups with rows that a cut result lacks. */
async function readKnown(
  read: SourceReader,
  request: ReadRequest,
  { result, reading }: { result: ReadResult; reading: RowReading },
): Promise<ReadResult['groups']> {
  const has = new Set(result.groups.map(({ group }) => groupKey(group)))
  const missing = (reading.known ?? []).filter((group) => !has.has(groupKey(group)))
  const keys = new Set(missing.map(groupKey))
  const found: ReadResult['groups'][number][] = []
  for (let at = 0; at < missing.length; at += maxKnownGroups) {
    const only = missing.slice(at, at + maxKnownGroups)
    const { groups } = await read({ ...request, only })
    found.push(...groups.filter(({ group }) => keys.has(groupKey(group))))
  }
  return found
}

function valuesOf(
  { signal, windows }: RowReading,
  groups: ReadResult['groups'],
  at: ReadonlyMap<string, number>,
): GroupValues[] {
  return groups.flatMap(({ group, values }) => {
    const cellFor = (amount: Amount, window: Window) =>
      values[at.get(cellKey({ amount, window })) ?? -1] ?? noCell
    const own = windows.map((window) =>
      signal.value(
        signal.amounts.map((amount) => cellFor(amount, window)),
        window,
      ),
    )
    return own.some(({ samples }) => samples > 0) ? [{ group, values: own }] : []
  })
}
