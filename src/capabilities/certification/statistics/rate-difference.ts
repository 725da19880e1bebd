import {
  type Cluster,
  kornGraubard,
  type RateInterval,
} from '../../../kernel/statistics/rate-interval.ts'

/**
 * Returns the interval of a − b for rates of independent samples, with `tail` of error a side: the
 * MOVER method of Zou and Donner (2008), from the Korn–Graubard interval of each rate. Undefined
 * where a rate has no interval.
 */
export function rateDifference(
  a: readonly Cluster[],
  b: readonly Cluster[],
  tail: number,
): RateInterval | undefined {
  return recover({ a, b, correlation: 0 }, tail)
}

/** How one case changed from the baseline to the release: its gain and its loss, each 0–1. */
export type PairedChange = { cluster: string; gain: number; loss: number }

/**
 * Returns the interval of the mean change over cases that both releases ran: gains − losses. Each
 * has the Korn–Graubard interval over clusters of cases; MOVER joins them with their correlation.
 * Unlike Student's t, it also gives an interval if no case has changed.
 */
export function pairedRateDifference(
  changes: readonly PairedChange[],
  tail: number,
): RateInterval | undefined {
  const byCluster = Map.groupBy(changes, ({ cluster }) => cluster)
  const sums = [...byCluster.values()].map((cases) => ({
    n: cases.length,
    gain: cases.reduce((sum, { gain }) => sum + gain, 0),
    loss: cases.reduce((sum, { loss }) => sum + loss, 0),
  }))
  const a = sums.map(({ n, gain }) => ({ n, k: gain }))
  const b = sums.map(({ n, loss }) => ({ n, k: loss }))
  return recover({ a, b, correlation: correlate(a, b) }, tail)
}

type Sides = { a: readonly Cluster[]; b: readonly Cluster[]; correlation: number }

function recover({ a, b, correlation }: Sides, tail: number): RateInterval | undefined {
  const [boundsA, boundsB] = [kornGraubard(a, tail), kornGraubard(b, tail)]
  if (boundsA === undefined || boundsB === undefined) return undefined
  const [rateA, rateB] = [rateOf(a), rateOf(b)]
  const [below, above] = [rateA - boundsA[0], boundsA[1] - rateA]
  const [belowB, aboveB] = [rateB - boundsB[0], boundsB[1] - rateB]
  const margin = (x: number, y: number) =>
    Math.sqrt(Math.max(0, x * x + y * y - 2 * correlation * x * y))
  const difference = rateA - rateB
  return [
    Math.max(-1, difference - margin(below, aboveB)),
    Math.min(1, difference + margin(above, belowB)),
  ]
}

function rateOf(clusters: readonly Cluster[]): number {
  const n = clusters.reduce((sum, one) => sum + one.n, 0)
  return clusters.reduce((sum, one) => sum + one.k, 0) / n
}

/** Returns the correlation of two rates over the same clusters; 0 when one has no variance. */
function correlate(a: readonly Cluster[], b: readonly Cluster[]): number {
  const [rateA, rateB] = [rateOf(a), rateOf(b)]
  let [both, squaresA, squaresB] = [0, 0, 0]
  a.forEach((one, at) => {
    const residualA = one.k - rateA * one.n
    const residualB = (b[at]?.k ?? 0) - rateB * one.n
    both += residualA * residualB
    squaresA += residualA ** 2
    squaresB += residualB ** 2
  })
  const scale = Math.sqrt(squaresA * squaresB)
  return scale > 1e-15 ? Math.max(-1, Math.min(1, both / scale)) : 0
}
