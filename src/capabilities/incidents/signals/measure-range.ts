import { setImmediate } from 'node:timers/promises'
import { durationMs } from '../../../kernel/duration.ts'
import { problem } from '../../../kernel/problem.ts'
import type { MeasuredSample, MeasureRange, RangeRequest, Signals } from '../ports.ts'
import { totalSignals } from '../rules/condition-kinds.ts'
import { earlierGroupsRule } from '../rules/earlier-groups.ts'
import type { Group } from '../rules/groups.ts'
import type { Rule } from '../rules/rule.ts'
import { hasRows, type RowReading, sourceOf } from './batches.ts'
import { lateTiming } from './late-timing.ts'
import {
  maxSeriesRows,
  type ReadRequest,
  type SignalSource,
  type SourceReader,
  type Window,
} from './reading.ts'
import { addStretch, areDivisible, between, type Series } from './series.ts'
import { type SampleFacts, slotReading } from './slot-reading.ts'

type RangeParts = {
  readers: Readonly<Record<SignalSource, SourceReader>>
  oldest: (
    source: SignalSource,
    project_id: string,
    signal: AbortSignal,
  ) => Promise<number | undefined>
  measure: Signals['measure']
}

/** Slots that one measurement has, where a window can't be added up. */
const slots_max = 100

const minute_ms = 60_000
const day_ms = 24 * 60 * minute_ms

/**
 * Opens the measurement of past slots. Sums and shares are read once in stretches of time and added
 * up for each slot; percentiles and means of tasks are measured slot by slot.
 */
export function openMeasureRange(parts: RangeParts): MeasureRange {
  return async (request) => {
    const { rule, project_id, from_ms, to_ms, signal = new AbortController().signal } = request
    const ask = { ...request, signal }
    const reading = slotReading({ rule_id: '', rule, end_ms: to_ms })
    if (reading === undefined || !hasRows(reading)) {
      return { available_from_ms: undefined, earlier: [], slots: nothing() }
    }
    const source = sourceOf(reading)
    const isStored = source !== 'ledger'
    const oldest_ms = isStored ? await parts.oldest(source, project_id, signal) : from_ms
    if (oldest_ms === undefined) {
      return { available_from_ms: undefined, earlier: [], slots: nothing() }
    }
    const ends = slotEnds(reading, { from_ms, to_ms, oldest_ms })
    const isDivisible = isStored && areDivisible(reading.signal.amounts)
    return {
      available_from_ms: oldest_ms,
      earlier: oldest_ms < from_ms ? await earlierGroups(parts, ask) : [],
      slots: isDivisible ? addedUp(parts, ask, { ends, oldest_ms }) : slotBySlot(parts, ask, ends),
    }
  }
}

async function* nothing(): AsyncGenerator<MeasuredSample> {}

/** Returns the groups that had rows before the range. */
async function earlierGroups(
  { measure }: RangeParts,
  { project_id, rule, from_ms, signal }: Ask,
): Promise<readonly Group[]> {
  const earlier = earlierGroupsRule(rule)
  if (earlier === undefined) return []
  const slots = [{ rule_id: '', rule: earlier, end_ms: from_ms }]
  const [found] = await measure({ project_id, slots, lag_ms: 0, signal })
  if (found === undefined || 'error' in found) {
    throw problem('store_unavailable', { detail: found?.error ?? 'the slot was not measured' })
  }
  return found.groups.map(({ group }) => group)
}

/**
 * Returns whether rows that retention deleted could end or begin the firing at slots whose window
 * begins before the oldest row: only for sums that are compared with `lt`, which a part of the rows
 * makes true. Rows younger than a day are all rows, because retention keeps a day at least.
 */
function needsWholeWindow({ condition }: Rule, age_ms: number): boolean {
  if (condition === undefined || !('op' in condition) || age_ms < day_ms) return false
  const isTotal = totalSignals.some((signal) => signal === condition.signal)
  return isTotal && condition.per !== 'task' && condition.op.startsWith('lt')
}

/** Returns the ends of slots after `from_ms` and up to `to_ms`, in the time of stored rows. */
function slotEnds(
  { rule, end_ms, windows }: RowReading,
  { from_ms, to_ms, oldest_ms }: { from_ms: number; to_ms: number; oldest_ms: number },
): number[] {
  const interval_ms = durationMs(rule.interval)
  const window_ms = end_ms - (windows[0]?.from_ms ?? end_ms)
  const length_ms = needsWholeWindow(rule, to_ms - oldest_ms) ? window_ms : 0
  const first_ms = Math.max(
    Math.floor(from_ms / interval_ms) * interval_ms + interval_ms,
    Math.ceil((oldest_ms + length_ms) / interval_ms) * interval_ms,
  )
  const count = Math.max(0, Math.floor((to_ms - first_ms) / interval_ms) + 1)
  return Array.from({ length: count }, (_, at) => first_ms + at * interval_ms)
}

type Ask = RangeRequest & { signal: AbortSignal }

async function* slotBySlot(
  { measure }: RangeParts,
  { project_id, rule, signal }: Ask,
  ends: readonly number[],
): AsyncGenerator<MeasuredSample> {
  for (let at = 0; at < ends.length; at += slots_max) {
    const slots = ends.slice(at, at + slots_max).map((end_ms) => ({ rule_id: '', rule, end_ms }))
    for (const one of await measure({ project_id, slots, lag_ms: 0, signal })) {
      if ('error' in one) throw problem('store_unavailable', { detail: one.error })
      yield { end_ms: one.end_ms, groups: one.groups, empty: one.empty }
    }
  }
}

async function* addedUp(
  parts: RangeParts,
  ask: Ask,
  { ends, oldest_ms }: { ends: readonly number[]; oldest_ms: number },
): AsyncGenerator<MeasuredSample> {
  const readings = ends.flatMap((end_ms) => rowReading(ask, end_ms))
  const [first] = readings
  const last = readings.at(-1)
  if (first === undefined || last === undefined) return
  const width_ms = stretchOf(first)
  const from_ms = Math.min(...first.windows.map((window) => window.from_ms))
  const range = { from_ms, to_ms: last.end_ms }
  const series = await readSeries(readerOf(parts, first, width_ms), first, {
    ...ask,
    range,
    width_ms,
  })
  const facts = { lag_ms: 0, oldest_ms }
  for (const [at, reading] of readings.entries()) {
    if (at % slots_max === 0) {
      await setImmediate()
      ask.signal.throwIfAborted()
    }
    yield sampleFrom(reading, series, facts)
  }
}

function rowReading({ rule }: Ask, end_ms: number): RowReading[] {
  const reading = slotReading({ rule_id: '', rule, end_ms })
  return reading !== undefined && hasRows(reading) ? [reading] : []
}

/** Calls of whole minutes are read from their sums. */
function readerOf({ readers }: RangeParts, reading: RowReading, width_ms: number): SourceReader {
  const { source } = reading.signal
  return readers[source === 'calls' && width_ms % minute_ms === 0 ? 'minutes' : source]
}

/** The longest time of which the interval and both ends of every window are multiples. */
function stretchOf({ rule, end_ms, windows }: RowReading): number {
  const offsets = windows.flatMap(({ from_ms, to_ms }) => [end_ms - from_ms, end_ms - to_ms])
  return [durationMs(rule.interval), ...offsets].reduce(greatestDivisor)
}

function greatestDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestDivisor(other, one % other)
}

type SeriesAsk = Ask & { range: Window; width_ms: number }

/** Maximum stretches with rows in all groups of a range. */
const stretches_max = 2_000_000

async function readSeries(
  read: SourceReader,
  { signal: { amounts } }: RowReading,
  { project_id, rule, signal, range, width_ms }: SeriesAsk,
): Promise<Series[]> {
  const groups = new Map<string, Series>()
  let stretches = 0
  for (
    let from_ms = range.from_ms;
    from_ms < range.to_ms;
    from_ms += day_ms - (day_ms % width_ms)
  ) {
    const to_ms = Math.min(range.to_ms, from_ms + day_ms - (day_ms % width_ms))
    const request: ReadRequest = {
      project_id,
      filters: [rule],
      timing: lateTiming(rule),
      signal,
      cells: amounts.map((amount) => ({ amount, window: { from_ms, to_ms } })),
      stretches: { from_ms, width_ms },
    }
    const { groups: rows, total } = await read(request)
    stretches += rows.length
    if (total > maxSeriesRows || stretches > stretches_max) throw tooMany()
    for (const { group, stretch = 0, values } of rows) {
      addStretch(groups, { group, start_ms: from_ms + stretch * width_ms, values })
    }
  }
  return [...groups.values()]
}

function tooMany() {
  return problem('store_unavailable', {
    detail: 'The range has too many groups. Shorten the range, or group by fewer dimensions.',
  })
}

function sampleFrom(
  reading: RowReading,
  series: readonly Series[],
  facts: SampleFacts,
): MeasuredSample {
  const groups = series.flatMap((one) => {
    const values = reading.windows.map((window) =>
      reading.signal.value(between(one, window, reading.signal.amounts), window),
    )
    if (values.every(({ samples }) => samples === 0)) return []
    return [{ group: one.group, sample: reading.sample(values, facts) }]
  })
  return { end_ms: reading.end_ms, groups, empty: reading.sample([], facts) }
}
