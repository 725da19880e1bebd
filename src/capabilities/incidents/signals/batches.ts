import { canonicalJson } from '../../../kernel/canonical-json.ts'
import { type Group, groupKey } from '../evaluation/groups.ts'
import type { Rule } from '../rules/rule.ts'
import {
  type Amount,
  type Cell,
  type CellValue,
  groupsRead_max,
  type ReadRequest,
  type ReadResult,
  type SignalReading,
  type SignalSource,
  type SignalValue,
  type SourceReader,
  type Window,
} from './reading.ts'
import { addStretch, areDivisible, between, type Series } from './series.ts'
import { type SlotReading, slotReading } from './slot-reading.ts'

/** A reading of a signal that has rows. */
export type RowReading = SlotReading & { signal: SignalReading }

/** Readings that one statement answers: their source, filter and dimensions are equal. */
export type Batch = { source: SignalSource; readings: readonly RowReading[] }

/** Maximum cells of a statement, each of which is an aggregate. */
const cells_max = 240

/** Windows up to this length are read from rows, longer ones from the sums of minutes. */
const rowWindow_ms_max = 3_600_000

/** Distributes readings over statements. */
export function toBatches(readings: readonly RowReading[]): Batch[] {
  const equal = Map.groupBy(readings, (reading) => {
    const { selector, group_by } = reading.rule
    return canonicalJson([sourceOf(reading), isAddedUp(reading), selector, group_by])
  })
  return [...equal.values()].flatMap((some) => splitByCells(some))
}

/** Returns whether a rule is measured from the sums of minutes. */
export function readsMinutes(rule: Rule): boolean {
  const reading = slotReading({ rule_id: '', rule, end_ms: 0 })
  return reading !== undefined && hasRows(reading) && sourceOf(reading) === 'minutes'
}

export function hasRows(reading: SlotReading): reading is RowReading {
  return reading.signal !== undefined
}

/** The source of a reading. All windows of a rule have the same one, so that they compare. */
export function sourceOf({ signal, windows }: RowReading): SignalSource {
  const isLong = windows.some(({ from_ms, to_ms }) => to_ms - from_ms > rowWindow_ms_max)
  return signal.source === 'calls' && (isLong || windows.length > 1) ? 'minutes' : signal.source
}

function splitByCells(readings: readonly RowReading[]): Batch[] {
  const batches: RowReading[][] = []
  const keys = new Set<string>()
  for (const reading of readings.toSorted((one, other) => one.end_ms - other.end_ms)) {
    const own = cellsOf(reading).map(cellKey)
    const added = own.filter((key) => !keys.has(key)).length
    if (batches.length === 0 || keys.size + added > cells_max) {
      keys.clear()
      batches.push([])
    }
    for (const key of own) keys.add(key)
    batches.at(-1)?.push(reading)
  }
  return batches.flatMap((some) => {
    const [first] = some
    return first === undefined ? [] : [{ source: sourceOf(first), readings: some }]
  })
}

function cellsOf({ signal, windows }: RowReading): Cell[] {
  return windows.flatMap((window) => signal.amounts.map((amount) => ({ amount, window })))
}

function cellKey({ amount, window }: Cell): string {
  return `${amount} ${window.from_ms} ${window.to_ms}`
}

/** A group with rows in a window of a reading; values are in the order of the windows. */
export type GroupValues = { group: Group; values: readonly SignalValue[] }

/** Groups with rows, and the number of further ones. */
export type ReadingValues = { groups: readonly GroupValues[]; others: number }

type Ask = Pick<ReadRequest, 'project_id' | 'signal'>

/**
 * Reads a batch. If it has more groups than a statement returns, each reading is read by itself, so
 * that groups of one rule do not displace those of another, and then its known groups.
 */
export async function readBatch(
  read: SourceReader,
  { readings }: Batch,
  ask: Ask,
): Promise<Map<RowReading, ReadingValues>> {
  const [first] = readings
  if (first === undefined) return new Map()
  const added = isAddedUp(first) ? await readAddedUp(read, readings, ask) : undefined
  if (added !== undefined) return added
  const cells = new Map(readings.flatMap(cellsOf).map((cell) => [cellKey(cell), cell]))
  const { selector, group_by } = first.rule
  const request = { ...ask, selector, group_by, cells: [...cells.values()] }
  const result = await read(request)
  const isCut = result.total > result.groups.length
  if (isCut && readings.length > 1) return readEach(read, readings, ask)
  const known = isCut ? await readKnown(read, request, { result, reading: first }) : []
  const at = new Map([...cells.keys()].map((key, index) => [key, index]))
  const all = [...result.groups, ...known]
  const others = result.total - all.length
  return new Map(
    readings.map((reading) => [reading, { groups: valuesOf(reading, all, at), others }]),
  )
}

/** The ledger sums up windows itself. */
function isAddedUp({ signal }: RowReading): boolean {
  return signal.source !== 'ledger' && areDivisible(signal.amounts)
}

/**
 * Reads the amounts of the stretches between all ends of windows, and adds them up: an aggregate for
 * each window costs more to plan than its rows cost to read. Undefined if there are too many rows.
 */
async function readAddedUp(
  read: SourceReader,
  readings: readonly RowReading[],
  ask: Ask,
): Promise<Map<RowReading, ReadingValues> | undefined> {
  const [first] = readings
  if (first === undefined) return new Map()
  const { selector, group_by } = first.rule
  const amounts = [...new Set(readings.flatMap(({ signal }) => signal.amounts))]
  const windows = readings.flatMap((reading) => reading.windows)
  const ends = windows.flatMap(({ from_ms, to_ms }) => [from_ms, to_ms])
  const edges = [...new Set(ends)].toSorted((one, other) => one - other)
  const whole = { from_ms: edges[0] ?? 0, to_ms: edges.at(-1) ?? 0 }
  const result = await read({
    ...{ ...ask, selector, group_by, windows, stretches: { edges } },
    cells: amounts.map((amount) => ({ amount, window: whole })),
  })
  if (result.total > result.groups.length) return undefined
  const series = new Map<string, Series>()
  for (const { group, stretch = 0, values } of result.groups) {
    addStretch(series, { group, start_ms: edges[stretch - 1] ?? 0, values })
  }
  return new Map(readings.map((reading) => [reading, addUp(reading, series, amounts)]))
}

function addUp(
  { signal, windows, known = [] }: RowReading,
  series: ReadonlyMap<string, Series>,
  amounts: readonly Amount[],
): ReadingValues {
  const keep = new Set(known.map(groupKey))
  const all: (GroupValues & { key: string })[] = []
  for (const [key, one] of series) {
    const values = windows.map((window) => {
      const cells = between(one, window, amounts)
      return signal.value(
        signal.amounts.map((amount) => cells[amounts.indexOf(amount)] ?? noCell),
        window,
      )
    })
    if (values.some(({ samples }) => samples > 0)) all.push({ key, group: one.group, values })
  }
  const groups = all.filter(({ key }, at) => at < groupsRead_max || keep.has(key))
  return { groups, others: all.length - groups.length }
}

async function readEach(
  read: SourceReader,
  readings: readonly RowReading[],
  ask: Ask,
): Promise<Map<RowReading, ReadingValues>> {
  const all: [RowReading, ReadingValues][] = []
  for (const reading of readings) {
    all.push(...(await readBatch(read, { source: sourceOf(reading), readings: [reading] }, ask)))
  }
  return new Map(all)
}

/** Known groups of one statement: their values are sent in the URL, which is at most 1 MiB. */
const knownGroups_max = 100

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
  for (let at = 0; at < missing.length; at += knownGroups_max) {
    const only = missing.slice(at, at + knownGroups_max)
    const { groups } = await read({ ...request, only })
    found.push(...groups.filter(({ group }) => keys.has(groupKey(group))))
  }
  return found
}

const noCell: CellValue = { value: null, count: 0 }

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
