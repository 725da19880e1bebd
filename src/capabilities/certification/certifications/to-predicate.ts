import { setImmediate } from 'node:timers/promises'
import { durationMs } from '../../../kernel/duration.ts'
import { type Baseline, type Certification, toEnvironmentName } from '../evidence/contract.ts'
import { type EvidenceItem, samplesOf } from '../gates/evidence-item.ts'
import type { GateTest } from '../gates/gate-test.ts'
import { type GateResult, judgeGates } from '../gates/judge-gates.ts'
import { type GateEvidence, type GateRules, testGate } from '../gates/test-gate.ts'
import { metrics } from '../policy/metrics.ts'
import { type Gate, type PolicyDocument, withShares } from '../policy/policy.ts'
import { evidenceLeaves, merkleRoot } from '../statement/merkle-tree.ts'
import type { Predicate } from '../statement/statement.ts'
import type { Frozen } from './frozen.ts'

/** The input of a predicate. All of it is stored, so that the predicate can be computed again. */
export type PredicateSource = {
  certification: Certification
  policy: PolicyDocument
  frozen: Frozen
  evidence: { release: readonly EvidenceItem[]; baseline: readonly EvidenceItem[] }
}

/**
 * Computes the result of a certification from its stored rows. Equal input gives an equal result.
 * Yields to other work of the process between its steps.
 */
export async function toPredicate(source: PredicateSource): Promise<Predicate> {
  const { certification, frozen } = source
  const policy = withShares(source.policy)
  const { attempt, window_from, window_to } = certification
  const baseline = certification.baseline as Baseline | null
  const evidence = { ...source.evidence, ...(baseline === null && { baseline: null }) }
  const ignores_baseline_groups = frozen.evidence_digest === undefined
  const rules: GateRules = { ...policy, ignores_baseline_groups }
  const tests: GateTest[][] = []
  const proofs: Predicate['gates'][number]['evidence'][] = []
  for (const gate of policy.gates) {
    await setImmediate()
    tests.push(testGate(gate, evidence, rules))
    await setImmediate()
    proofs.push(proveEvidence(gate, evidence, rules))
  }
  const judged = judgeGates(policy, tests, {
    ledger: frozen.ledger,
    obstacles: frozen.obstacles,
    attempt: attempt ?? Infinity,
    age_ms: Date.parse(frozen.at) - Date.parse(window_to),
    tasks: frozen.tasks,
  })
  const { warnings: ofTasks } = judged
  const warnings = [...frozen.warnings, ...ofTasks, ...declarationWarnings(certification)]
  return {
    project_id: certification.project_id,
    policy: { id: policy.id, version: policy.version, digest: certification.policy_digest },
    release: { name: certification.release_name, version: certification.release_version },
    release_tags: certification.release_tags.toSorted(),
    baseline: baseline && toBaseline(baseline),
    environment: toEnvironmentName(certification.environment),
    verdict: judged.verdict,
    obstacles: judged.obstacles,
    warnings,
    gates: judged.gates.map((result, at) => toGate(result, proofs[at] ?? noEvidence)),
    eval_runs: [...frozen.eval_runs],
    window: { from: window_from, to: window_to },
    ledger: frozen.ledger ?? { accepted: 0, stored: 0, lost: 0, pending: 0 },
    ...(frozen.tasks && {
      tasks: frozen.tasks.release,
      baseline_tasks: frozen.tasks.baseline,
    }),
    attempt: attempt ?? 1,
    max_attempts: policy.max_attempts,
    declared_at: certification.declared_at,
    issued_at: frozen.at,
    expires_at: expiryOf(policy, frozen),
  }
}

/** Warns of a window that ended before the plan was declared: its outcome may have been known. */
function declarationWarnings({ window_to, declared_at }: Certification): string[] {
  return Date.parse(window_to) < Date.parse(declared_at) ? ['declared_after_window'] : []
}

function toBaseline(declared: Baseline): NonNullable<Predicate['baseline']> {
  const { name, version, environment, window, tags, eval_run_ids } = declared
  return {
    name,
    version,
    window: { from: window.from, to: window.to },
    environment: toEnvironmentName(environment),
    tags: tags.toSorted(),
    eval_run_ids: eval_run_ids.toSorted(),
  }
}

/** Returns when a certification by a policy expires, ISO 8601. */
export function expiryOf(policy: PolicyDocument, { at }: Pick<Frozen, 'at'>): string {
  return new Date(Date.parse(at) + durationMs(policy.valid_for)).toISOString()
}

const noEvidence = { root: merkleRoot([]).toString('hex'), leaves: 0 }

/** Returns the Merkle root of the samples of a gate: the release, followed by its baseline. */
function proveEvidence(gate: Gate, { release, baseline }: GateEvidence, rules: GateRules) {
  const isRate = metrics[gate.metric].type === 'rate'
  const used = samplesOf(release, gate.metric, isRate).samples
  const isNamed = gate.groups !== undefined || rules.ignores_baseline_groups === true
  const isCompared = gate.kind === 'regression' || (gate.kind === 'worst_group' && !isNamed)
  const compared = isCompared ? samplesOf(baseline ?? [], gate.metric, isRate).samples : []
  const leaves = evidenceLeaves([
    ...used,
    ...compared.map((sample) => ({ ...sample, id: `baseline ${sample.id}` })),
  ])
  return { root: merkleRoot(leaves).toString('hex'), leaves: leaves.length }
}

function toGate(
  { gate, interval, ...result }: GateResult,
  evidence: Predicate['gates'][number]['evidence'],
): Predicate['gates'][number] {
  const { metric, kind, tier, threshold, max_drop, max_rate } = gate
  const { group, n, k, clusters, baseline_n, estimate, verdict, reason, warnings } = result
  return {
    metric,
    kind,
    tier,
    direction: metrics[metric].direction,
    limit: threshold ?? max_drop ?? max_rate ?? 0,
    group,
    n,
    k,
    clusters,
    baseline_n,
    estimate,
    interval: interval === null ? null : [interval[0], interval[1]],
    verdict,
    reason,
    warnings,
    evidence,
  }
}
