import { durationMs } from '../../../kernel/duration.ts'
import type { Sample } from '../evaluation/contract.ts'
import { sampleValue } from '../evaluation/sample-value.ts'
import { type Group, groupKey } from '../rules/groups.ts'
import type { Rule } from '../rules/rule.ts'

/** A point of a series: the value nearest to firing of some slots. */
export type SeriesPoint = { at_ms: number; value: number | null; samples: number }
export type SeriesOfGroup = { group: Group; points: readonly SeriesPoint[] }

const points_max = 500
const groups_max = 10

/** The measurements of a preview, reduced to a bounded number of points. */
export class PreviewSeries {
  readonly #from_ms: number
  readonly #width_ms: number
  /** Event rules count matches; other rules keep the highest or the lowest value. */
  readonly #join: (one: number, other: number) => number
  readonly #groups = new Map<string, { group: Group; points: Map<number, SeriesPoint> }>()

  constructor(rule: Rule, { from_ms, to_ms }: { from_ms: number; to_ms: number }) {
    this.#from_ms = from_ms
    this.#width_ms = Math.max(durationMs(rule.interval), Math.ceil((to_ms - from_ms) / points_max))
    this.#join = joinOf(rule)
  }

  /** Adds the sample of a group. The first groups are kept. */
  add({ group, sample }: { group: Group; sample: Sample }, at_ms: number): void {
    const key = groupKey(group)
    const known = this.#groups.get(key) ?? { group, points: new Map<number, SeriesPoint>() }
    if (!this.#groups.has(key) && this.#groups.size >= groups_max) return
    this.#groups.set(key, known)
    const bucket = Math.ceil((at_ms - this.#from_ms) / this.#width_ms)
    const point = { at_ms, ...sampleValue(sample) }
    const before = known.points.get(bucket)
    known.points.set(bucket, before === undefined ? point : this.#joined(before, point))
  }

  /** Returns the series of the first groups, in order of time. */
  result(): SeriesOfGroup[] {
    return [...this.#groups.values()].map(({ group, points }) => ({
      group,
      points: [...points.values()],
    }))
  }

  #joined(before: SeriesPoint, point: SeriesPoint): SeriesPoint {
    if (point.value === null) return before
    if (before.value === null) return point
    const value = this.#join(before.value, point.value)
    return value === before.value ? before : { ...point, value }
  }
}

function joinOf({ condition, event }: Rule): (one: number, other: number) => number {
  if (event !== undefined) return (one, other) => one + other
  const op = condition !== undefined && 'op' in condition ? condition.op : 'gt'
  return op.startsWith('lt') ? Math.min : Math.max
}
