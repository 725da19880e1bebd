import type { Sample } from '../../capabilities/incidents/evaluation/index.ts'
import {
  type Dimension,
  effectiveTiers,
  type Group,
  groupKey,
  type Rule,
} from '../../capabilities/incidents/rules/index.ts'
import { durationMs } from '../../kernel/duration.ts'
import type { PointValue } from './series.ts'

/** The quantity of a series: the value of a signal, or items of each point, which windows add up. */
export type SeriesPart = 'value' | 'bad' | 'total' | 'rows'

/** A series of a test. */
export type Series = {
  points: readonly PointValue[]
  /** Rows behind each value; undefined: enough for each `min_samples`. */
  samples: readonly PointValue[] | undefined
  /** Values of the same hour on the days before. */
  history: readonly number[]
  /** Points that are replaced when rows arrive late, in the order of arrival. */
  late: readonly { at_ms: number; from_ms: number; points: readonly PointValue[] }[]
}

/** The series that a rule reads for a group. */
export type GroupSeries = { group: Group; parts: ReadonlyMap<SeriesPart, Series> }

/** The times of a test in ms since 1970. */
export type TestTimes = {
  start_ms: number
  /** Time between two points. */
  interval_ms: number
  /** Age of the oldest stored row at the start. */
  stored_for_ms: number
}

/** An instant of the evaluation: the end of a slot, and the time at which it is evaluated. */
export type SlotTime = { end_ms: number; now_ms: number }

/** The sample of a group at a slot. */
export type MeasuredGroup = { key: string; group: Group; sample: Sample; has_data: boolean }

/** Measures the series of a test as the service measures its rows. */
export class Measurements {
  readonly #times: TestTimes
  readonly #lag: Series | undefined
  readonly #groups: ReadonlyMap<string, readonly GroupSeries[]>
  readonly #sums = new WeakMap<Series, readonly number[]>()

  /** `groups` are the groups of each rule, by its name. */
  constructor(
    times: TestTimes,
    series: { lag: Series | undefined; groups: ReadonlyMap<string, readonly GroupSeries[]> },
  ) {
    this.#times = times
    this.#lag = series.lag
    this.#groups = series.groups
  }

  /** Returns the age of the backlog at a time, in ms. */
  lag_ms(now_ms: number): number {
    return this.#lag === undefined ? 0 : (this.#valueAt(this.#lag, { end_ms: now_ms, now_ms }) ?? 0)
  }

  /** Measures the groups of a rule at a slot, also those without rows in their windows. */
  measure(rule: Rule, slot: SlotTime): MeasuredGroup[] {
    if (rule.condition?.signal === 'ingest_lag') {
      const lag_ms = this.lag_ms(slot.now_ms)
      const sample: Sample = { kind: 'condition', value: lag_ms, samples: 1, lag_ms }
      return [{ key: groupKey({}), group: {}, sample, has_data: true }]
    }
    return (this.#groups.get(rule.name) ?? []).map(({ group, parts }) => {
      const sample = this.#sampleOf(rule, parts, slot)
      return { key: groupKey(group), group, sample, has_data: hasData(sample) }
    })
  }

  #sampleOf(rule: Rule, parts: GroupSeries['parts'], slot: SlotTime): Sample {
    const lag_ms = this.lag_ms(slot.now_ms)
    if (rule.burn_rate !== undefined) return this.#burnSample(rule, parts, { slot, lag_ms })
    const { condition, baseline } = rule
    const window_ms = condition && 'window' in condition ? durationMs(condition.window) : 0
    const rows = parts.get('rows')
    if (rows !== undefined) {
      const samples = this.#sum(rows, slot, window_ms)
      return { kind: 'condition', value: samples > 0 ? samples : null, samples, lag_ms }
    }
    const total = parts.get('total')
    if (total !== undefined) {
      const samples = this.#sum(total, slot, window_ms)
      const value = samples > 0 ? this.#sum(parts.get('bad'), slot, window_ms) / samples : null
      return { kind: 'condition', value, samples, lag_ms }
    }
    const series = parts.get('value')
    const value = series === undefined ? null : this.#valueAt(series, slot)
    const samples = value === null ? 0 : this.#samplesAt(series, slot)
    if (baseline === undefined) return { kind: 'condition', value, samples, lag_ms }
    return { kind: 'baseline', value, samples, lag_ms, history: series?.history ?? [] }
  }

  #burnSample(
    rule: Rule,
    parts: GroupSeries['parts'],
    { slot, lag_ms }: { slot: SlotTime; lag_ms: number },
  ): Sample {
    const { start_ms, stored_for_ms } = this.#times
    const items = (window: string) => ({
      bad: this.#sum(parts.get('bad'), slot, durationMs(window)),
      total: this.#sum(parts.get('total'), slot, durationMs(window)),
    })
    const tiers = effectiveTiers(rule).map(({ long, short }) => ({
      long: items(long),
      short: items(short),
      is_filled: slot.end_ms - durationMs(long) >= start_ms - stored_for_ms,
    }))
    return { kind: 'burn_rate', tiers, lag_ms }
  }

  /** Returns the last point at or before the end of a slot; it holds until the next point. */
  #valueAt(series: Series, { end_ms, now_ms }: SlotTime): PointValue {
    return this.#pointAt(series, this.#indexAt(end_ms), now_ms)
  }

  #samplesAt(series: Series | undefined, { end_ms }: SlotTime): number {
    if (series?.samples === undefined) return enoughSamples
    return series.samples[this.#indexAt(end_ms)] ?? 0
  }

  /** Adds up the points of a window, which excludes its start. */
  #sum(series: Series | undefined, { end_ms, now_ms }: SlotTime, window_ms: number): number {
    if (series === undefined) return 0
    const first = Math.max(this.#indexAt(end_ms - window_ms) + 1, 0)
    const last = this.#indexAt(end_ms)
    if (series.late.length === 0) {
      const sums = this.#sumsOf(series)
      const upTo = (index: number) => sums[Math.min(index, sums.length - 1)] ?? 0
      return last < first ? 0 : upTo(last + 1) - upTo(first)
    }
    let sum = 0
    for (let at = first; at <= last; at += 1) sum += this.#pointAt(series, at, now_ms) ?? 0
    return sum
  }

  /** Returns the sums of the first points: of none, of one, of two, and so on. Points are whole numbers. */
  #sumsOf(series: Series): readonly number[] {
    const known = this.#sums.get(series)
    if (known !== undefined) return known
    const sums = [0]
    let sum = 0
    for (const point of series.points) {
      sum += point ?? 0
      sums.push(sum)
    }
    this.#sums.set(series, sums)
    return sums
  }

  #indexAt(at_ms: number): number {
    return Math.floor((at_ms - this.#times.start_ms) / this.#times.interval_ms)
  }

  #pointAt({ points, late }: Series, index: number, now_ms: number): PointValue {
    const arrived = late.findLast(({ at_ms, from_ms, points: changed }) => {
      const at = index - this.#indexAt(from_ms)
      return at_ms <= now_ms && at >= 0 && at < changed.length
    })
    if (arrived === undefined) return points[index] ?? null
    return arrived.points[index - this.#indexAt(arrived.from_ms)] ?? null
  }
}

/** More than any `min_samples`. */
const enoughSamples = 1_000_000

function hasData(sample: Sample): boolean {
  if (sample.kind === 'event') return sample.matches.length > 0
  if (sample.kind === 'burn_rate') return sample.tiers.some(({ long }) => long.total > 0)
  return sample.value !== null
}

/** Returns the group of a row with these labels. */
export function groupOf({ group_by }: Pick<Rule, 'group_by'>, labels: Group): Group {
  const entries = group_by.flatMap((dimension): [Dimension, string][] => {
    const value = labels[dimension]
    return value === undefined ? [] : [[dimension, value]]
  })
  return Object.fromEntries(entries)
}
