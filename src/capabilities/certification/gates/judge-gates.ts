import { durationMs } from '../../../kernel/duration.ts'
import { metrics } from '../policy/metrics.ts'
import type { Gate, PolicyRules } from '../policy/policy.ts'
import type { Interval } from '../statistics/bounds.ts'
import type { GateReason, GateTest, Obstacle } from './gate-test.ts'
import { judgeTasks, type SideCounts } from './task-counts.ts'

/** The outcome of the items in the window of the evidence. */
export type Completeness = { accepted: number; stored: number; lost: number; pending: number }

/** Facts that decide a certification in addition to its samples. */
export type Circumstances = {
  /** Null without evidence of tasks. */
  ledger: Completeness | null
  /** Number of the look at the release, from 1. */
  attempt: number
  /** Time since the end of the window. */
  age_ms: number
  /** Obstacles that were found while reading. */
  obstacles: readonly Obstacle[]
  /** Absent in certifications of earlier versions. */
  tasks?: SideCounts | undefined
}

/** The result of a gate; of its worst group for `worst_group`. */
export type GateResult = {
  gate: Gate
  verdict: 'passed' | 'failed' | 'inconclusive'
  reason: GateReason | Obstacle | null
  warnings: string[]
} & Pick<GateTest, 'group' | 'n' | 'k' | 'clusters' | 'baseline_n' | 'estimate'> & {
    interval: Interval | null
  }

export type Verdict = 'certified' | 'rejected' | 'inconclusive'

/** The verdict with its gates in the order of the policy. */
export type Judgement = {
  verdict: Verdict
  obstacles: Obstacle[]
  warnings: string[]
  gates: GateResult[]
}

/** Clusters below which a gate has a warning. */
const minClustersWarning = 50

/** Share of the accepted items that may be pending. */
const maxPendingShare = 0.005

/** Returns whether no item of a window is lost, and at most the allowed share is pending. */
export function isComplete({ lost, pending, accepted }: Completeness): boolean {
  return lost === 0 && pending <= maxPendingShare * accepted
}

/**
 * Decides a certification: rejected if a critical or supporting gate failed, certified if all of
 * them passed without an obstacle. To pass, all gates must pass, so each is tested at the full
 * error of the look. To fail, one gate is sufficient, so Holm's method shares the error. `tests`
 * has the tests of each gate, in the order of the policy.
 */
export function judgeGates(
  rules: PolicyRules,
  tests: readonly (readonly GateTest[])[],
  known: Circumstances,
): Judgement {
  const ofTasks = judgeTasks(rules, known.tasks ?? { release: null, baseline: null })
  const { warnings } = ofTasks
  const isGroupMissing = rules.gates.some(
    ({ tier }, at) =>
      tier !== 'advisory' && tests[at]?.some(({ reason }) => reason === 'missing_group'),
  )
  const obstacles = [
    ...findObstacles(rules, known),
    ...ofTasks.obstacles,
    ...(isGroupMissing ? ['missing_group' as const] : []),
  ]
  if (obstacles.includes('attempts_exhausted')) {
    return { verdict: 'inconclusive', obstacles, warnings, gates: rules.gates.map(unread) }
  }
  const tail = (1 - rules.confidence) / 2 / rules.max_attempts
  const tested = rules.gates.map((gate, at) => ({ gate, tests: tests[at] ?? [] }))
  const deciding = tested.filter(({ gate }) => gate.tier !== 'advisory')
  const missed = holm(
    deciding.flatMap((one) => one.tests),
    tail,
  )
  const gates = tested.map((one) => {
    const failing = one.gate.tier === 'advisory' ? holm(one.tests, tail) : missed
    return resultOf(one.gate, { tests: one.tests, failing, tail })
  })
  return { verdict: verdictOf(gates, obstacles), obstacles, warnings, gates }
}

function findObstacles(
  { max_attempts, max_age }: PolicyRules,
  { ledger, attempt, age_ms, obstacles }: Circumstances,
): Obstacle[] {
  const isIncomplete = ledger !== null && !isComplete(ledger)
  return [
    ...obstacles,
    ...(isIncomplete ? ['incomplete_ledger' as const] : []),
    ...(age_ms <= durationMs(max_age) ? [] : ['stale_evidence' as const]),
    ...(attempt <= max_attempts ? [] : ['attempts_exhausted' as const]),
  ]
}

/**
 * Returns the tests that miss their limit if all tests share one error (Holm 1979). Each round
 * tests at error / (number of remaining tests), and removes the tests that miss.
 */
function holm(tests: readonly GateTest[], tail: number): Set<GateTest> {
  const missed = new Set<GateTest>()
  let left = tests.filter(({ reason }) => reason === null)
  const untested = tests.length - left.length
  for (;;) {
    const level = tail / (left.length + untested)
    const found = left.filter((test) => test.isMissed(level))
    if (found.length === 0) return missed
    for (const test of found) missed.add(test)
    left = left.filter((test) => !missed.has(test))
  }
}

type Tested = { tests: readonly GateTest[]; failing: ReadonlySet<GateTest>; tail: number }

function resultOf(gate: Gate, { tests, failing, tail }: Tested): GateResult {
  const outcomes = tests.map((test) => ({ test, verdict: outcomeOf(test, failing, tail) }))
  const [worst] = outcomes.toSorted((a, b) => compareOutcomes(gate, a, b))
  if (worst === undefined) return unread(gate)
  const { test, verdict } = worst
  const { group, n, k, clusters, baseline_n, estimate } = test
  const isSpanned = verdict === 'inconclusive' && test.reason === null
  return {
    gate,
    group,
    n,
    k,
    clusters,
    baseline_n,
    estimate,
    verdict,
    interval: n === 0 ? null : (test.bounds(tail) ?? null),
    reason: isSpanned ? 'interval_spans_limit' : test.reason,
    warnings: [
      ...(clusters < minClustersWarning ? ['few_clusters'] : []),
      ...(test.warnings ?? []),
    ],
  }
}

type Outcome = { test: GateTest; verdict: GateResult['verdict'] }

function outcomeOf(
  test: GateTest,
  failing: ReadonlySet<GateTest>,
  tail: number,
): GateResult['verdict'] {
  if (failing.has(test)) return 'failed'
  return test.reason === null && test.isReached(tail) ? 'passed' : 'inconclusive'
}

const order = { failed: 0, inconclusive: 1, passed: 2 } as const

/** Orders failed groups first, then inconclusive ones: those without samples, then the worst. */
function compareOutcomes(gate: Gate, a: Outcome, b: Outcome): number {
  const better = metrics[gate.metric].direction === 'higher' ? 1 : -1
  const nothing = better * Number.NEGATIVE_INFINITY
  const byEstimate = better * ((a.test.estimate ?? nothing) - (b.test.estimate ?? nothing))
  const byName = (a.test.group ?? '') < (b.test.group ?? '') ? -1 : 1
  return order[a.verdict] - order[b.verdict] || byEstimate || byName
}

function unread(gate: Gate): GateResult {
  return {
    gate,
    group: null,
    n: 0,
    k: null,
    clusters: 0,
    baseline_n: null,
    estimate: null,
    interval: null,
    verdict: 'inconclusive',
    reason: 'attempts_exhausted',
    warnings: [],
  }
}

function verdictOf(gates: readonly GateResult[], obstacles: readonly Obstacle[]): Verdict {
  const deciding = gates.filter(({ gate }) => gate.tier !== 'advisory')
  if (deciding.some(({ verdict }) => verdict === 'failed')) return 'rejected'
  const isPassed = deciding.length > 0 && deciding.every(({ verdict }) => verdict === 'passed')
  return isPassed && obstacles.length === 0 ? 'certified' : 'inconclusive'
}
