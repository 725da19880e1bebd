import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fuzzRuns } from '../../../../test/support/suite/budget.ts'
import { kornGraubard } from '../../../kernel/statistics/rate-interval.ts'
import { metrics } from '../policy/metrics.ts'
import { type Gate, type PolicyRules, policyBody } from '../policy/policy.ts'
import type { EvidenceItem } from './evidence-item.ts'
import { type Circumstances, judgeGates } from './judge-gates.ts'
import { type GateEvidence, samplesForZero, testGate } from './test-gate.ts'

const calm: Circumstances = { ledger: null, attempt: 1, age_ms: 0, obstacles: [] }

/** Judges a policy; one look by default, so that the error is not shared. */
function judge(rules: object, evidence: Partial<GateEvidence>, known: Partial<Circumstances> = {}) {
  const policy: PolicyRules = policyBody.parse({ max_attempts: 1, ...rules })
  const all = { release: [], baseline: null, ...evidence }
  const tests = policy.gates.map((gate) => testGate(gate, all, policy))
  return judgeGates(policy, tests, { ...calm, ...known })
}

type Values = EvidenceItem['values']

/** Samples of clusters: `values` says what each has. */
function items(
  clusters: number,
  each: number,
  values: (cluster: number, at: number) => Values,
  about: Partial<EvidenceItem> = {},
): EvidenceItem[] {
  return Array.from({ length: clusters * each }, (_, at) => {
    const cluster = Math.floor(at / each)
    return {
      ...{ id: `${about.group ?? ''}${cluster}-${at % each}`, cluster: `u${cluster}` },
      ...{ group: null, case_id: null, values: values(cluster, at % each), ...about },
    }
  })
}

const success = (rate: (at: number) => number) => (_cluster: number, at: number) => ({
  task_success_rate: rate(at),
})
const absolute = { metric: 'task_success_rate', kind: 'absolute', threshold: 0.9 }
const all = (value: number) =>
  items(
    60,
    10,
    success(() => value),
  )

describe('absolute gates', () => {
  test('pass by the lower bound, fail by the upper one', () => {
    const verdictOf = (release: EvidenceItem[]) => judge({ gates: [absolute] }, { release }).verdict
    expect(verdictOf(all(1))).toBe('certified')
    expect(verdictOf(all(0))).toBe('rejected')
    expect(
      verdictOf(
        items(
          60,
          10,
          success((at) => Number(at > 0)),
        ),
      ),
    ).toBe('inconclusive')
  })

  test('a gate where lower is better mirrors', () => {
    const loops = { metric: 'loop_rate', kind: 'absolute', threshold: 0.1 }
    const of = (value: number) =>
      judge({ gates: [loops] }, { release: items(60, 10, () => ({ loop_rate: value })) }).verdict
    expect([of(0), of(1)]).toEqual(['certified', 'rejected'])
  })

  test('an item that occurs twice counts once', () => {
    const [gate] = judge({ gates: [absolute] }, { release: [...all(1), ...all(1)] }).gates
    expect(gate).toMatchObject({ n: 600, k: 600 })
  })

  const few = items(
    19,
    50,
    success(() => 0),
  )
  test('too few users or samples decide nothing, also far off', () => {
    const shown = (rules: object, release: EvidenceItem[]) =>
      judge(rules, { release }).gates.map(({ verdict, reason }) => [verdict, reason])
    const open = (reason: string) => [['inconclusive', reason]]
    expect(shown({ gates: [absolute] }, few)).toEqual(open('too_few_clusters'))
    expect(shown({ gates: [absolute], min_clusters: 5 }, few)).toEqual([['failed', null]])
    const many = { ...absolute, min_samples: 601 }
    expect(shown({ gates: [many] }, all(0))).toEqual(open('too_few_samples'))
    expect(shown({ gates: [absolute] }, [])).toEqual(open('no_samples'))
  })

  test('under 50 users there is a warning', () => {
    const warned = (clusters: number) =>
      judge(
        { gates: [absolute] },
        {
          release: items(
            clusters,
            9,
            success(() => 1),
          ),
        },
      ).gates[0]
    expect(warned(49)?.warnings).toEqual(['few_clusters'])
    expect(warned(50)?.warnings).toEqual([])
  })

  const broken = [null, Number.NaN, 0.5, 2, Number.POSITIVE_INFINITY]
  test.each(broken)('a value %s of a rate decides nothing', (value) => {
    const [first, ...rest] = all(1)
    const odd = { ...first, values: { task_success_rate: value } } as EvidenceItem
    expect(judge({ gates: [absolute] }, { release: [odd, ...rest] })).toMatchObject({
      ...{ verdict: 'inconclusive', gates: [{ reason: 'broken_values' }] },
    })
  })

  test('each look has its share of the error', () => {
    const release = items(60, 10, (cluster, at) => ({
      task_success_rate: Number(at > 0 || cluster % 3 > 0),
    }))
    const of = (max_attempts: number) =>
      judge({ gates: [{ ...absolute, threshold: 0.95 }], max_attempts }, { release })
    const [one, five] = [of(1).gates[0]?.interval, of(5).gates[0]?.interval]
    const clusters = Array.from({ length: 60 }, (_, at) => ({ n: 10, k: at % 3 > 0 ? 10 : 9 }))
    expect(one).toEqual(kornGraubard(clusters, 0.025))
    expect(five).toEqual(kornGraubard(clusters, 0.005))
  })
})

describe('means', () => {
  const cost = { metric: 'cost_mean_usd', kind: 'absolute', threshold: 1 }
  const of = (value: (cluster: number) => number) =>
    judge({ gates: [cost] }, { release: items(30, 4, (at) => ({ cost_mean_usd: value(at) })) })

  test('have the interval of Student’s t over users', () => {
    const [gate] = of((cluster) => cluster / 100).gates
    // Thirty means 0 … 0.29: 0.145 ± 2.045 · sd / √30, with sd of HC3 (30/29)².
    const sd = Math.sqrt(
      (Array.from({ length: 30 }, (_, at) => (at / 100 - 0.145) ** 2).reduce((a, b) => a + b) *
        (30 / 29) ** 2) /
        30,
    )
    expect(gate?.interval?.[1]).toBeCloseTo(0.145 + (2.0452296 * sd) / Math.sqrt(30), 6)
    expect(gate).toMatchObject({ verdict: 'passed', k: null, n: 120 })
  })

  test('without variance decide nothing', () => {
    expect(of(() => 0.1).gates).toMatchObject([{ verdict: 'inconclusive', reason: 'no_variance' }])
  })
})

describe('zero tolerance', () => {
  const gate = { metric: 'unresolved_failure_rate', kind: 'zero_tolerance', max_rate: 0.01 }
  const of = (n: number, events: number, looks = 5) =>
    judge(
      { gates: [gate], max_attempts: looks },
      {
        release: items(41, 9, (cluster, at) => ({
          unresolved_failure_rate: Number(cluster * 9 + at < events),
        })).slice(0, n),
      },
    ).gates[0]

  test('needs 3.69 / p samples without an event, with any number of looks', () => {
    expect(samplesForZero(0.01, 0.95)).toBe(369)
    expect(of(369, 0)).toMatchObject({ verdict: 'passed' })
    expect(of(369, 0, 1)).toMatchObject({ verdict: 'passed' })
    expect(of(368, 0)).toMatchObject({ verdict: 'inconclusive', reason: 'too_few_samples' })
  })

  test('an event fails, also in few samples', () => {
    expect(of(369, 1)).toMatchObject({ verdict: 'failed', k: 1 })
    expect(of(3, 1)).toMatchObject({ verdict: 'failed', k: 1 })
  })
})

describe('worst group', () => {
  const gate = { metric: 'task_success_rate', kind: 'worst_group', threshold: 0.8 }
  const group = (name: string, value: number, clusters = 60) =>
    items(
      clusters,
      5,
      success(() => value),
      { group: name },
    )

  test('a group that always fails is not hidden by the mean', () => {
    const release = [...group('search', 1), ...group('refund', 0), ...group('order', 1)]
    expect(judge({ gates: [gate] }, { release })).toMatchObject({
      ...{ verdict: 'rejected', gates: [{ group: 'refund', verdict: 'failed', n: 300 }] },
    })
  })

  test('each group needs enough users', () => {
    const release = [...group('search', 1), ...group('refund', 1, 19)]
    expect(judge({ gates: [gate] }, { release })).toMatchObject({
      ...{ verdict: 'inconclusive' },
      gates: [{ group: 'refund', reason: 'too_few_clusters' }],
    })
    expect(judge({ gates: [gate] }, { release: group('search', 1) }).verdict).toBe('certified')
  })

  const missing = { verdict: 'inconclusive', obstacles: ['missing_group'] }

  test('a group that the policy names and that vanished is an obstacle', () => {
    const named = { ...gate, groups: ['search', 'refund'] }
    const verdictOf = (release: EvidenceItem[]) => judge({ gates: [named] }, { release })
    expect(verdictOf([...group('search', 1), ...group('refund', 1)]).verdict).toBe('certified')
    expect(verdictOf(group('search', 1))).toMatchObject({
      ...missing,
      gates: [{ group: 'refund', n: 0, reason: 'missing_group', verdict: 'inconclusive' }],
    })
    // Other groups are tested too, and a failed one rejects.
    expect(verdictOf([...group('search', 1), ...group('order', 0)])).toMatchObject({
      ...{ verdict: 'rejected', gates: [{ group: 'order' }] },
    })
    expect(verdictOf([])).toMatchObject(missing)
  })

  test('a group of the baseline that vanished is an obstacle, unless the policy names groups', () => {
    const baseline = [...group('search', 0), ...group('refund', 1, 1)]
    const of = (rules: object, release = group('search', 1)) =>
      judge({ gates: [{ ...gate, ...rules }] }, { release, baseline })
    expect(of({})).toMatchObject({ ...missing, gates: [{ group: 'refund' }] })
    expect(of({ groups: ['search'] }).verdict).toBe('certified')
    const whole = [...group('search', 1), ...group('refund', 1)]
    expect(of({}, whole)).toMatchObject({ verdict: 'certified', gates: [{ warnings: [] }] })
    const advisory = { gates: [absolute, { ...gate, tier: 'advisory' }] }
    expect(judge(advisory, { release: group('search', 1), baseline }).obstacles).toEqual([])
  })

  test('a lower-is-better gate shows the missing group first', () => {
    const loops = { metric: 'loop_rate', kind: 'worst_group', threshold: 0.2, groups: ['b'] }
    const release = items(60, 5, (_, at) => ({ loop_rate: Number(at === 0) }), { group: 'a' })
    expect(judge({ gates: [loops] }, { release }).gates).toMatchObject([
      { group: 'b', reason: 'missing_group' },
    ])
  })

  test('without names and baseline there is a warning', () => {
    const of = (rules: object, baseline: EvidenceItem[] | null = null) =>
      judge({ gates: [{ ...gate, ...rules }] }, { release: group('search', 1), baseline }).gates
    expect(of({})).toMatchObject([{ warnings: ['groups_not_named'] }])
    expect(of({ groups: ['search'] })).toMatchObject([{ warnings: [] }])
    expect(of({}, group('search', 1))).toMatchObject([{ warnings: [] }])
  })

  test('names belong to worst_group only, each once', () => {
    const refused: object[] = [
      { ...absolute, groups: ['search'] },
      { ...gate, groups: [] },
      { ...gate, groups: ['search', 'search'] },
      { ...gate, groups: [''] },
    ]
    for (const one of refused) expect(policyBody.safeParse({ gates: [one] }).success).toBe(false)
  })

  test('more than 200 groups decide nothing', () => {
    const release = items(
      201,
      1,
      success(() => 1),
    ).map((item, at) => ({ ...item, group: `${at}` }))
    expect(judge({ gates: [gate] }, { release }).gates[0]?.reason).toBe('too_many_groups')
  })
})

describe('pass^k', () => {
  const gate = { metric: 'eval_pass_rate', kind: 'pass_k', k: 2, threshold: 0.5 }
  const cases = (passes: (index: number, repeat: number) => boolean, repeats = 4) =>
    items(40, repeats, (index, repeat) => ({ eval_pass_rate: Number(passes(index, repeat)) })).map(
      (item) => ({ ...item, case_id: item.cluster }),
    )

  test('is the chance that k repeats of a case pass', () => {
    const of = (release: EvidenceItem[]) => judge({ gates: [gate] }, { release }).gates[0]
    expect(of(cases(() => true))).toMatchObject({ estimate: 1, n: 40, verdict: 'passed' })
    // Three of four repeats pass: C(3, 2) / C(4, 2) = 1/2.
    expect(of(cases((_, repeat) => repeat > 0))?.estimate).toBeCloseTo(0.5, 12)
    expect(of(cases((_, repeat) => repeat > 2))).toMatchObject({ estimate: 0, verdict: 'failed' })
  })

  test('needs k repeats of each case', () => {
    const release = cases(() => true).slice(3)
    expect(judge({ gates: [gate] }, { release }).gates[0]?.reason).toBe('too_few_repeats')
  })
})

describe('regression', () => {
  const gate = { metric: 'eval_pass_rate', kind: 'regression', max_drop: 0.1 }
  const side = (passes: (index: number) => boolean, of = (index: number) => `c${index}`) =>
    items(80, 1, (index) => ({ eval_pass_rate: Number(passes(index)) })).map((item, at) => ({
      ...{ ...item, case_id: of(at) },
    }))
  const hard = (index: number) => index % 2 === 0

  test('is paired when both ran the same cases: what is hard for both is not noise', () => {
    const release = side(hard)
    const paired = judge({ gates: [gate] }, { release, baseline: side(hard) })
    expect(paired).toMatchObject({ verdict: 'certified', gates: [{ estimate: 0, baseline_n: 80 }] })
    const others = side(hard, (index) => `d${index}`)
    const unpaired = judge({ gates: [gate] }, { release, baseline: others })
    expect(unpaired.verdict).toBe('inconclusive')
  })

  test('fails when the drop is surely larger, and is not a drop when it got better', () => {
    const [good, bad] = [side(() => true), side(hard)]
    const worse = judge({ gates: [gate] }, { release: bad, baseline: good })
    expect(worse).toMatchObject({ verdict: 'rejected', gates: [{ estimate: 0.5 }] })
    const better = judge({ gates: [gate] }, { release: good, baseline: bad })
    expect(better).toMatchObject({ verdict: 'certified', gates: [{ estimate: -0.5 }] })
  })

  test('without a baseline decides nothing', () => {
    for (const baseline of [null, []]) {
      const { gates } = judge({ gates: [gate] }, { release: side(hard), baseline })
      expect(gates[0]?.reason).toBe('no_baseline')
    }
  })

  test('of a mean where lower is better: a higher cost is a drop', () => {
    const costs = { metric: 'cost_mean_usd', kind: 'regression', max_drop: 0.1 }
    const of = (base: number) =>
      items(40, 5, (cluster, at) => ({ cost_mean_usd: base + cluster / 1_000 + at / 1_000 }))
    const up = judge({ gates: [costs] }, { release: of(2), baseline: of(1) })
    const down = judge({ gates: [costs] }, { release: of(1), baseline: of(2) })
    expect([up.verdict, down.verdict]).toEqual(['rejected', 'certified'])
    expect(up.gates[0]?.estimate).toBeCloseTo(1, 9)
  })
})

describe('the verdict', () => {
  const whole = { accepted: 1_000, stored: 1_000, lost: 0, pending: 0 }
  const obstacles: [string, Partial<Circumstances>][] = [
    ['incomplete_ledger', { ledger: { ...whole, lost: 1 } }],
    ['incomplete_ledger', { ledger: { ...whole, pending: 6 } }],
    ['incomplete_ledger', { ledger: { ...whole, pending: Number.NaN } }],
    ['stale_evidence', { age_ms: 7 * 86_400_000 + 1 }],
    ['stale_evidence', { age_ms: Number.NaN }],
    ['attempts_exhausted', { attempt: 2 }],
    ['too_much_evidence', { obstacles: ['too_much_evidence'] }],
  ]
  test.each(obstacles)('%s: %j is never certified', (obstacle, known) => {
    const judged = judge({ gates: [absolute] }, { release: all(1) }, known)
    expect(judged).toMatchObject({ verdict: 'inconclusive', obstacles: [obstacle] })
  })

  test('a failed gate rejects even with missing evidence, but not after the last attempt', () => {
    const of = (known: Partial<Circumstances>) =>
      judge({ gates: [absolute] }, { release: all(0) }, known).verdict
    expect(of({ ledger: { ...whole, lost: 1 } })).toBe('rejected')
    expect(of({ attempt: 2 })).toBe('inconclusive')
  })

  test('advisory gates are only reported', () => {
    const gates = [
      absolute,
      { metric: 'loop_rate', kind: 'absolute', threshold: 0.1, tier: 'advisory' },
    ]
    const release = items(60, 10, () => ({ task_success_rate: 1, loop_rate: 1 }))
    expect(judge({ gates }, { release })).toMatchObject({
      ...{ verdict: 'certified', gates: [{ verdict: 'passed' }, { verdict: 'failed' }] },
    })
  })
})

/** Gates on rates, with the successes of 30 users that have 8 samples each. */
const rateGates = fc.array(
  fc.record({
    metric: fc.constantFrom(
      'task_success_rate',
      'loop_rate',
      'context_failure_rate',
      'unresolved_failure_rate',
    ),
    threshold: fc.double({ min: 0.02, max: 0.98, noNaN: true }),
    tier: fc.constantFrom('critical', 'supporting', 'advisory'),
    counts: fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 30, maxLength: 30 }),
  }),
  { minLength: 1, maxLength: 4 },
)

test('verdicts are those of a naive model with p-values and Holm', () => {
  fc.assert(
    fc.property(rateGates, fc.integer({ min: 1, max: 5 }), (drawn, max_attempts) => {
      const unique = [...new Map(drawn.map((gate) => [gate.metric, gate])).values()]
      if (!unique.some(({ tier }) => tier !== 'advisory')) return
      const release = items(30, 8, (cluster, at) =>
        Object.fromEntries(
          unique.map(({ metric, counts }) => [metric, Number(at < (counts[cluster] ?? 0))]),
        ),
      )
      const gates = unique.map(({ counts: _, ...gate }) => ({ ...gate, kind: 'absolute' }))
      const judged = judge({ gates, max_attempts }, { release })
      expect(judged.gates.map(({ verdict }) => verdict)).toEqual(
        naive(unique, 0.025 / max_attempts),
      )
    }),
    { numRuns: fuzzRuns(60) },
  )
})

type Drawn = { metric: Gate['metric'] | string; threshold: number; tier: string; counts: number[] }

/** The smallest error at which the far bound misses the limit, by bisection; and Holm by sorting. */
function naive(gates: readonly Drawn[], error: number): string[] {
  const judged = gates.map((gate) => {
    const clusters = gate.counts.map((k) => ({ n: 8, k }))
    const isHigher = metrics[gate.metric as Gate['metric']].direction === 'higher'
    const misses = (tail: number) => {
      const [low, high] = kornGraubard(clusters, tail) ?? [0, 1]
      return isHigher ? high < gate.threshold : low > gate.threshold
    }
    const [low, high] = kornGraubard(clusters, error) ?? [0, 1]
    const passes = isHigher ? low >= gate.threshold : high <= gate.threshold
    return { gate, passes, p: leastError(misses) }
  })
  const failed = new Set<Drawn>()
  const deciding = judged.filter(({ gate }) => gate.tier !== 'advisory')
  const sorted = deciding.toSorted((a, b) => a.p - b.p)
  for (const [at, { gate, p }] of sorted.entries()) {
    if (p > error / (sorted.length - at)) break
    failed.add(gate)
  }
  return judged.map(({ gate, passes, p }) => {
    const isFailed = gate.tier === 'advisory' ? p <= error : failed.has(gate)
    return isFailed ? 'failed' : passes ? 'passed' : 'inconclusive'
  })
}

function leastError(misses: (tail: number) => boolean): number {
  if (!misses(0.49)) return 1
  let [low, high] = [1e-12, 0.49]
  for (let step = 0; step < 60; step += 1) {
    const middle = Math.sqrt(low * high)
    if (misses(middle)) high = middle
    else low = middle
  }
  return high
}
