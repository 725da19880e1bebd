import { metrics } from '../policy/metrics.ts'
import type { Gate } from '../policy/policy.ts'
import type { Bounds } from '../statistics/bounds.ts'
import { clusteredMean, meanDifference, meanInterval } from '../statistics/mean-interval.ts'
import { pairedRateDifference, rateDifference } from '../statistics/rate-difference.ts'
import { type EvidenceItem, type Sample, samplesOf, sumByCluster } from './evidence-item.ts'
import type { GateReason, GateTest } from './gate-test.ts'

type Sides = {
  samples: readonly Sample[]
  isBroken: boolean
  baseline: readonly EvidenceItem[] | null
}

/**
 * Tests how much worse the release is than its baseline: `estimate` and `bounds` are those of the
 * drop, above 0 when the release is worse. Paired by case when both ran the same cases.
 */
export function testRegression(
  gate: Gate,
  { samples, isBroken, baseline }: Sides,
  rules: { min_clusters: number },
): GateTest {
  const isRate = metrics[gate.metric].type === 'rate'
  const other = samplesOf(baseline ?? [], gate.metric, isRate)
  const { max_drop = Number.NaN } = gate
  const pairs = pairCases(samples, other.samples)
  const clusters = (side: readonly Sample[]) => new Set(side.map(({ cluster }) => cluster)).size
  const smallest = Math.min(clusters(samples), clusters(other.samples))
  const bounds = dropBounds(gate, { samples, baseline: other.samples, pairs })
  const test = {
    group: null,
    n: samples.length,
    k: null,
    clusters: smallest,
    bounds,
    baseline_n: other.samples.length,
    estimate: dropOf(gate, { samples, baseline: other.samples, pairs }),
  }
  const reason =
    baseline === null
      ? 'no_baseline'
      : reasonFor(gate, { ...test, isBroken: isBroken || other.isBroken, other }, rules)
  return {
    ...test,
    reason,
    isReached: (tail) => (bounds(tail)?.[1] ?? Number.NaN) <= max_drop,
    isMissed: (tail) => (bounds(tail)?.[0] ?? Number.NaN) > max_drop,
  }
}

function reasonFor(
  gate: Gate,
  test: Pick<GateTest, 'n' | 'clusters' | 'bounds'> & {
    isBroken: boolean
    other: { samples: readonly Sample[] }
  },
  rules: { min_clusters: number },
): GateReason | null {
  const smaller = Math.min(test.n, test.other.samples.length)
  if (test.isBroken) return 'broken_values'
  if (test.n === 0) return 'no_samples'
  if (test.other.samples.length === 0) return 'no_baseline'
  if (smaller < gate.min_samples) return 'too_few_samples'
  if (test.clusters < rules.min_clusters) return 'too_few_clusters'
  return test.bounds(0.025) === undefined ? 'no_variance' : null
}

/** The means of one case in the release and in the baseline. */
type Pair = { cluster: string; release: number; baseline: number }

/** Returns the pairs of cases; undefined unless both sides have cases, and the same ones. */
function pairCases(
  release: readonly Sample[],
  baseline: readonly Sample[],
): readonly Pair[] | undefined {
  const [a, b] = [meansByCase(release), meansByCase(baseline)]
  if (a === undefined || b === undefined || a.size !== b.size) return undefined
  const pairs = [...a].flatMap(([case_id, { mean, cluster }]) => {
    const other = b.get(case_id)
    return other === undefined ? [] : [{ cluster, release: mean, baseline: other.mean }]
  })
  return pairs.length === a.size && pairs.length > 0 ? pairs : undefined
}

function meansByCase(samples: readonly Sample[]) {
  const means = new Map<string, { mean: number; cluster: string }>()
  for (const [case_id, own] of Map.groupBy(samples, (sample) => sample.case_id)) {
    const [first] = own
    if (case_id === null || first === undefined) return undefined
    means.set(case_id, { mean: meanOf(own), cluster: first.cluster })
  }
  return means
}

function dropBounds(
  gate: Gate,
  sides: {
    samples: readonly Sample[]
    baseline: readonly Sample[]
    pairs: readonly Pair[] | undefined
  },
): Bounds {
  const { type, direction } = metrics[gate.metric]
  const bounds = type === 'rate' ? rateBounds(sides) : meanBounds(sides)
  return (tail) => {
    const interval = bounds(tail)
    if (interval === undefined || direction === 'lower') return interval
    return [-interval[1], -interval[0]]
  }
}

type Compared = Parameters<typeof dropBounds>[1]

/** Returns the bounds of release − baseline for a rate. */
function rateBounds({ samples, baseline, pairs }: Compared): Bounds {
  if (pairs !== undefined) {
    const changes = pairs.map((pair) => ({
      cluster: pair.cluster,
      gain: Math.max(0, pair.release - pair.baseline),
      loss: Math.max(0, pair.baseline - pair.release),
    }))
    return (tail) => pairedRateDifference(changes, tail)
  }
  const [a, b] = [samples, baseline].map((side) =>
    sumByCluster(side).map(({ n, sum }) => ({ n, k: sum })),
  )
  return (tail) => rateDifference(a ?? [], b ?? [], tail)
}

/** Returns the bounds of release − baseline for a mean. */
function meanBounds({ samples, baseline, pairs }: Compared): Bounds {
  if (pairs !== undefined) {
    const changes = pairs.map((pair) => ({
      cluster: pair.cluster,
      value: pair.release - pair.baseline,
    }))
    const mean = clusteredMean(sumByCluster(changes))
    return (tail) => mean && meanInterval(mean, tail)
  }
  const [a, b] = [samples, baseline].map((side) => clusteredMean(sumByCluster(side)))
  return (tail) => a && b && meanDifference(a, b, tail)
}

function dropOf(gate: Gate, { samples, baseline, pairs }: Compared): number | null {
  if (samples.length === 0 || baseline.length === 0) return null
  const change = pairs
    ? meanOf(pairs.map((pair) => ({ value: pair.release - pair.baseline })))
    : meanOf(samples) - meanOf(baseline)
  const drop = metrics[gate.metric].direction === 'higher' ? -change : change
  return drop === 0 ? 0 : drop
}

function meanOf(samples: readonly Pick<Sample, 'value'>[]): number {
  return samples.reduce((sum, { value }) => sum + value, 0) / samples.length
}
