import { canonicalJson } from '../../../kernel/canonical-json.ts'
import type { Rule } from '../rules/rule.ts'
import { readsTags } from './calls-reader.ts'
import { lateTiming } from './late-timing.ts'
import type { Cell, SignalReading, SignalSource } from './reading.ts'
import { areDivisible } from './series.ts'
import { type SlotReading, slotReading } from './slot-reading.ts'

/** A reading of a signal that has rows. */
export type RowReading = SlotReading & { signal: SignalReading }

/**
 * Readings that one statement answers: their source is equal, of calls also when late ones count, and
 * of tasks also their filter.
 */
export type Batch = { source: SignalSource; readings: readonly RowReading[] }

/** Maximum cells of a statement, each of which is an aggregate. */
const cells_max = 240

/** Windows up to this length are read from rows, longer ones from the sums of minutes. */
const maxRowWindowMs = 3_600_000

/** Maximum filters of a statement, and characters of them: a statement costs more than a filter. */
const filters_max = 25
const maxFilterChars = 16_384

/** Distributes readings over statements. */
export function toBatches(readings: readonly RowReading[]): Batch[] {
  const alike = Map.groupBy(readings, (reading) => {
    const source = sourceOf(reading)
    const isShared = source === 'calls' || source === 'minutes'
    const shared = readsTags({ filters: [reading.rule] })
    const timing = source === 'calls' ? lateTiming(reading.rule) : null
    const key = isShared ? shared : filterKey(reading)
    return canonicalJson([source, isAddedUp(reading), key, timing])
  })
  return [...alike.values()].flatMap(splitByFilters).flatMap(splitByCells)
}

/** Equal for readings of the same rows and dimensions. */
export function filterKey({ rule: { selector, group_by } }: Pick<RowReading, 'rule'>): string {
  return canonicalJson([selector, group_by])
}

/** Returns whether the amounts of windows are added up. The ledger sums up windows itself. */
export function isAddedUp({ signal }: RowReading): boolean {
  return signal.source !== 'ledger' && areDivisible(signal.amounts)
}

/** Returns a batch for each filter. */
export function splitByFilter({ source, readings }: Batch): Batch[] {
  const parts = Map.groupBy(readings, filterKey).values()
  return Array.from(parts, (some) => ({ source, readings: some }))
}

function splitByFilters(readings: readonly RowReading[]): RowReading[][] {
  const parts: { readings: RowReading[]; filters: number; chars: number }[] = []
  for (const [key, some] of Map.groupBy(readings, filterKey)) {
    const last = parts.at(-1)
    const chars = key.length + (last?.chars ?? 0)
    if (last === undefined || last.filters === filters_max || chars > maxFilterChars) {
      parts.push({ readings: some, filters: 1, chars: key.length })
    } else {
      last.readings.push(...some)
      last.filters += 1
      last.chars = chars
    }
  }
  return parts.map((part) => part.readings)
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
  const isLong = windows.some(({ from_ms, to_ms }) => to_ms - from_ms > maxRowWindowMs)
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

export function cellsOf({ signal, windows }: RowReading): Cell[] {
  return windows.flatMap((window) => signal.amounts.map((amount) => ({ amount, window })))
}

export function cellKey({ amount, window }: Cell): string {
  return `${amount} ${window.from_ms} ${window.to_ms}`
}
