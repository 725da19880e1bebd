import { kornGraubard } from '../../../kernel/statistics/rate-interval.ts'
import { type Metric, metrics } from '../policy/metrics.ts'
import { type Gate, groups_max } from '../policy/policy.ts'
import type { Bounds } from '../statistics/bounds.ts'
import { clusteredMean, meanInterval } from '../statistics/mean-interval.ts'
import { type EvidenceItem, type Sample, samplesOf, sumByCluster } from './evidence-item.ts'
import type { GateReason, GateTest } from './gate-test.ts'
import { testRegression } from './test-regression.ts'

/** The evidence of a release, and of its baseline if it was declared. */
export type GateEvidence = {
  release: readonly EvidenceItem[]
  baseline: readonly EvidenceItem[] | null
}

/** Rules of the policy for all gates. */
export type GateRules = {
  confidence: number
  min_clusters: number
  /** True for certifications of earlier versions, which expected no groups of the baseline. */
  ignores_baseline_groups?: boolean
}

/** Tests a gate on evidence: one test, or one for each group of a `worst_group` gate. */
export function testGate(gate: Gate, evidence: GateEvidence, rules: GateRules): GateTest[] {
  const isRate = metrics[gate.metric].type === 'rate'
  const { samples, isBroken } = samplesOf(evidence.release, gate.metric, isRate)
  if (gate.kind === 'regression') {
    return [testRegression(gate, { samples, isBroken, baseline: evidence.baseline }, rules)]
  }
  if (isBroken) return [undecided(samples, 'broken_values')]
  switch (gate.kind) {
    case 'absolute':
      return [testLevel(gate, samples, rules)]
    case 'zero_tolerance':
      return [testZeroTolerance(gate, samples, rules)]
    case 'pass_k': {
      const cases = passPowerSamples(samples, gate.k ?? 2)
      if (cases === undefined) return [undecided(samples, 'too_few_repeats')]
      return [{ ...testLevel(gate, cases, rules), k: null }]
    }
    case 'worst_group':
      return testGroups(gate, { samples, names: groupsExpected(gate, evidence, rules) }, rules)
  }
}

/** Returns the groups that a gate expects: those of the policy, else those of the baseline. */
function groupsExpected(
  gate: Gate,
  { baseline }: Pick<GateEvidence, 'baseline'>,
  { ignores_baseline_groups = false }: Pick<GateRules, 'ignores_baseline_groups'>,
): ReadonlySet<string> | undefined {
  if (gate.groups !== undefined) return new Set(gate.groups)
  if (ignores_baseline_groups) return new Set()
  if (baseline === null) return undefined
  const { samples } = samplesOf(baseline, gate.metric, true)
  return new Set(samples.map(({ group }) => group ?? ''))
}

type GroupSamples = {
  samples: readonly Sample[]
  /** Undefined if nothing says which groups there should be. */
  names: ReadonlySet<string> | undefined
}

/** Tests each group. A group that is expected and has no sample decides nothing. */
function testGroups(gate: Gate, { samples, names }: GroupSamples, rules: GateRules): GateTest[] {
  const groups = Map.groupBy(samples, ({ group }) => group ?? '')
  const missing = [...(names ?? [])].filter((name) => !groups.has(name))
  if (groups.size + missing.length === 0) return [undecided([], 'no_samples')]
  if (groups.size + missing.length > groups_max) return [undecided(samples, 'too_many_groups')]
  const warnings = names === undefined ? ['groups_not_named'] : []
  return [
    ...missing.map((group) => ({ ...undecided([], 'missing_group'), group })),
    ...[...groups].map(([group, own]) => ({ ...testLevel(gate, own, rules), group, warnings })),
  ]
}

/** Tests a rate or a mean against the threshold. */
function testLevel(gate: Gate, samples: readonly Sample[], rules: GateRules): GateTest {
  const metric: Metric = metrics[gate.metric]
  const { threshold = Number.NaN } = gate
  const clusters = sumByCluster(samples)
  const bounds = metric.type === 'rate' ? rateBounds(clusters) : meanBounds(clusters)
  const isHigherBetter = metric.direction === 'higher'
  return {
    ...summarize(samples, clusters.length, metric),
    bounds,
    reason: reasonOf({ gate, n: samples.length, clusters: clusters.length, bounds }, rules),
    isReached: (tail) => {
      const [low, high] = bounds(tail) ?? [Number.NaN, Number.NaN]
      return isHigherBetter ? low >= threshold : high <= threshold
    },
    isMissed: (tail) => {
      const [low, high] = bounds(tail) ?? [Number.NaN, Number.NaN]
      return isHigherBetter ? high < threshold : low > threshold
    },
  }
}

/**
 * Tests that no event occurred in enough samples. An event is a value that makes the metric worse.
 * The looks do not share the error: a later look can pass only if the first samples had no event.
 */
function testZeroTolerance(gate: Gate, samples: readonly Sample[], rules: GateRules): GateTest {
  const metric: Metric = metrics[gate.metric]
  const event = metric.direction === 'lower' ? 1 : 0
  const events = samples.filter(({ value }) => value === event).length
  const needed = samplesForZero(gate.max_rate ?? Number.NaN, rules.confidence)
  const clusters = sumByCluster(samples)
  const bounds = rateBounds(clusters)
  const size = { gate, n: samples.length, clusters: clusters.length, bounds }
  const isShort = !(samples.length >= needed)
  const reason = reasonOf(size, rules) ?? (isShort ? 'too_few_samples' : null)
  return {
    ...summarize(samples, clusters.length, metric),
    bounds,
    reason: events > 0 ? null : reason,
    isReached: () => events === 0,
    isMissed: () => events > 0,
  }
}

/** Returns the samples without an event that rule out a rate: −ln(error a side) / rate. */
export function samplesForZero(max_rate: number, confidence: number): number {
  return Math.ceil(-Math.log((1 - confidence) / 2) / max_rate)
}

function rateBounds(clusters: readonly { n: number; sum: number }[]): Bounds {
  const counts = clusters.map(({ n, sum }) => ({ n, k: sum }))
  return (tail) => kornGraubard(counts, tail)
}

function meanBounds(clusters: readonly { n: number; sum: number }[]): Bounds {
  const mean = clusteredMean(clusters)
  return (tail) => mean && meanInterval(mean, tail)
}

/** Returns the counts of a test. */
function summarize(samples: readonly Sample[], clusters: number, { type }: Metric) {
  const n = samples.length
  const sum = samples.reduce((total, { value }) => total + value, 0)
  const k = type === 'rate' ? Math.round(sum) : null
  const estimate = n === 0 ? null : sum / n
  return { group: null, n, k, clusters, baseline_n: null, estimate }
}

type Size = { gate: Gate; n: number; clusters: number; bounds: Bounds }

/** Returns why samples cannot decide a gate, regardless of their values. */
function reasonOf({ gate, n, clusters, bounds }: Size, rules: GateRules): GateReason | null {
  if (n === 0) return 'no_samples'
  if (n < gate.min_samples) return 'too_few_samples'
  if (clusters < rules.min_clusters) return 'too_few_clusters'
  return bounds(0.025) === undefined ? 'no_variance' : null
}

/** Returns a test that decides nothing. */
function undecided(samples: readonly Sample[], reason: GateReason): GateTest {
  return {
    group: null,
    n: samples.length,
    k: null,
    baseline_n: null,
    estimate: null,
    reason,
    clusters: new Set(samples.map(({ cluster }) => cluster)).size,
    bounds: () => undefined,
    isReached: () => false,
    isMissed: () => false,
  }
}

/**
 * Returns one sample for each case: the chance that k repeats of it all pass, estimated without bias
 * from its n ≥ k repeats with c passes: C(c, k) / C(n, k) (Chen et al. 2021, for pass@k; Yao et al.
 * 2024, for pass^k). Undefined when a case has fewer repeats.
 */
function passPowerSamples(samples: readonly Sample[], k: number): Sample[] | undefined {
  const cases = [...Map.groupBy(samples, ({ case_id, id }) => case_id ?? id).values()]
  if (cases.some((repeats) => repeats.length < k)) return undefined
  return cases.flatMap((repeats) => {
    const [first] = repeats
    if (first === undefined) return []
    const passed = repeats.filter(({ value }) => value === 1).length
    return [{ ...first, value: passPower(passed, repeats.length, k) }]
  })
}

function passPower(passed: number, n: number, k: number): number {
  let chance = 1
  for (let at = 0; at < k; at += 1) chance *= Math.max(0, passed - at) / (n - at)
  return chance
}
