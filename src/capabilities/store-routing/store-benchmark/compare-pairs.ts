import { quantileOfT } from '../../../kernel/statistics/student-t.ts'

/** How much longer PostgreSQL takes than ClickHouse, from pairs of runs one after the other. */
export type Comparison = {
  /** Runs that both stores answered. */
  pairs: number
  /** Geometric mean of PostgreSQL's duration divided by ClickHouse's; null without pairs. */
  ratio: number | null
  /** 95 % interval of the ratio; null with fewer than two pairs. */
  ratio_low: number | null
  ratio_high: number | null
}

/** A duration of 0 must not count as infinitely faster. */
const least_ms = 0.01

/** Each end of a 95 % interval. */
const tail = 0.025

/**
 * Compares the durations of two stores, run by run; undefined is a run that failed. Pairs share the
 * load of the machine at their time, so their ratios vary less than the durations. Student's t of
 * the logarithms gives the interval.
 */
export function comparePairs(
  clickhouse: readonly (number | undefined)[],
  postgres: readonly (number | undefined)[],
): Comparison {
  const logs = postgres.flatMap((ms, run) => {
    const other = clickhouse[run]
    if (ms === undefined || other === undefined) return []
    return Math.log(Math.max(ms, least_ms) / Math.max(other, least_ms))
  })
  const mean = sum(logs) / logs.length
  const variance = sum(logs.map((log) => (log - mean) ** 2)) / (logs.length - 1)
  return toComparison(logs.length, {
    mean,
    error: Math.sqrt(variance / logs.length),
    degrees: logs.length - 1,
  })
}

/**
 * Combines the comparisons of several queries: the mean of their ratios, with the interval that
 * their own intervals give (Welch and Satterthwaite). It holds for these queries, not for others.
 */
export function combine(comparisons: readonly Comparison[]): Comparison {
  const known = comparisons.flatMap(({ pairs, ratio, ratio_high }) => {
    if (ratio === null || ratio_high === null) return []
    const error = Math.log(ratio_high / ratio) / quantileOfT(tail, pairs - 1)
    return [{ mean: Math.log(ratio), square: error ** 2, degrees: pairs - 1 }]
  })
  const squares = sum(known.map(({ square }) => square))
  const fourths = sum(known.map(({ square, degrees }) => square ** 2 / degrees))
  const pairs = Math.min(...comparisons.map((each) => each.pairs))
  return toComparison(known.length === 0 ? 0 : pairs, {
    mean: sum(known.map(({ mean }) => mean)) / known.length,
    error: Math.sqrt(squares) / known.length,
    degrees: fourths === 0 ? 1 : squares ** 2 / fourths,
  })
}

function toComparison(
  pairs: number,
  { mean, error, degrees }: { mean: number; error: number; degrees: number },
): Comparison {
  if (pairs === 0) return { pairs, ratio: null, ratio_low: null, ratio_high: null }
  if (pairs === 1) return { pairs, ratio: shown(mean), ratio_low: null, ratio_high: null }
  const half = quantileOfT(tail, degrees) * error
  return {
    pairs,
    ratio: shown(mean),
    ratio_low: shown(mean - half),
    ratio_high: shown(mean + half),
  }
}

/** Returns the ratio of a logarithm, with five digits. */
function shown(log: number): number {
  return Number(Math.exp(log).toPrecision(5))
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0)
}
