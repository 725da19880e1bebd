import { type MetricName, metrics } from '../policy/metrics.ts'
import type { EvidenceShares, Gate } from '../policy/policy.ts'
import type { Missing, MissingTasks, Obstacle } from './gate-test.ts'

/** The tasks of one side of a certification, and how many of them are doubtful or missing. */
export type TaskCounts = {
  total: number
  /**
   * Tasks that were stored after an earlier look though they are dated before its end, and tasks
   * that are dated after they were stored.
   */
  late: number
  /** Tasks of earlier looks that are gone, or have another outcome, name or user since. */
  altered: number
  /** Tasks with the same content as another one, which is counted once. */
  equal: number
  /** Tasks since the first look beyond ten times its pace. */
  jump: number
  running: number
  unanalysed: number
  /** Analysed tasks with values of answers that were not checked. */
  unchecked: number
  /** Tasks whose verification is pending or failed. */
  unverified: number
  unpriced: number
}

/** The counts of both sides; a side without evidence of tasks is null. */
export type SideCounts = { release: TaskCounts | null; baseline: TaskCounts | null }

/** The tasks that a metric leaves out though it should measure them. */
const missingOf: { readonly [metric in MetricName]?: readonly Missing[] } = {
  task_success_rate: ['running'],
  unresolved_failure_rate: ['unanalysed'],
  loop_rate: ['unanalysed'],
  context_failure_rate: ['unanalysed'],
  unsupported_claim_rate: ['unanalysed', 'unchecked'],
  trust_score_mean: ['unverified'],
  cost_mean_usd: ['running', 'unpriced'],
  duration_mean_ms: ['running'],
}

const missingKinds: readonly Missing[] = [
  'running',
  'unanalysed',
  'unchecked',
  'unverified',
  'unpriced',
]

/** Missing tasks of which each certification warns. */
const alwaysTold: readonly Missing[] = ['running', 'unanalysed']

/**
 * Returns the obstacles of tasks: shares of doubtful tasks above those of the policy, and shares of
 * tasks without a value that a critical or supporting gate needs. Other missing tasks are warnings.
 */
export function judgeTasks(
  rules: { gates: readonly Gate[] } & EvidenceShares,
  { release, baseline }: SideCounts,
): { obstacles: Obstacle[]; warnings: MissingTasks[] } {
  const deciding = rules.gates.filter(({ tier }) => tier !== 'advisory')
  const needed = missingFor(deciding)
  const compared = missingFor(deciding.filter(({ kind }) => kind === 'regression'))
  const missing = new Set([
    ...missingKinds.filter((kind) => needed.has(kind) && isMissing(rules, release, kind)),
    ...missingKinds.filter((kind) => compared.has(kind) && isMissing(rules, baseline, kind)),
  ])
  const read = missingFor(rules.gates)
  const told = missingKinds.filter((kind) => alwaysTold.includes(kind) || read.has(kind))
  return {
    obstacles: [
      ...doubts(rules, release).map((doubt) => releaseDoubts[doubt]),
      ...doubts(rules, baseline).map((doubt) => baselineDoubts[doubt]),
      ...[...missing].map((kind): MissingTasks => `many_${kind}_tasks`),
    ],
    warnings: told
      .filter((kind) => !missing.has(kind) && isMissing(rules, release, kind))
      .map((kind): MissingTasks => `many_${kind}_tasks`),
  }
}

function missingFor(gates: readonly Gate[]): ReadonlySet<Missing> {
  const ofTasks = gates.filter(({ metric }) => metrics[metric].source === 'tasks')
  return new Set(ofTasks.flatMap(({ metric }) => missingOf[metric] ?? []))
}

function isMissing(
  { max_missing_share }: EvidenceShares,
  counts: TaskCounts | null,
  kind: Missing,
): boolean {
  return counts !== null && !(counts[kind] <= max_missing_share * counts.total)
}

type Doubt = 'late' | 'equal' | 'jump'

const releaseDoubts = {
  late: 'late_evidence',
  equal: 'equal_evidence',
  jump: 'evidence_jump',
} as const satisfies Record<Doubt, Obstacle>

const baselineDoubts = {
  late: 'late_baseline',
  equal: 'equal_baseline',
  jump: 'baseline_jump',
} as const satisfies Record<Doubt, Obstacle>

/** Returns the doubts of a side. A number that is broken is above each share. */
function doubts(shares: EvidenceShares, counts: TaskCounts | null): Doubt[] {
  if (counts === null) return []
  const { total, late, altered, equal, jump } = counts
  const isWithin = {
    late: late + altered <= shares.max_late_share * total,
    equal: equal <= shares.max_equal_share * total,
    jump: jump <= shares.max_jump_share * total,
  }
  return (['late', 'equal', 'jump'] as const).filter((doubt) => !isWithin[doubt])
}
