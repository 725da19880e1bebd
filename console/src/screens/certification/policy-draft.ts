import type { ReleasePolicy, ReleasePolicyRequest } from '../../api/schema.gen.d.ts'

type GateInput = ReleasePolicyRequest['gates'][number]
type Metric = GateInput['metric']
type Kind = GateInput['kind']

/** The metrics of gates. */
export const metrics: readonly Metric[] = [
  'task_success_rate',
  'unresolved_failure_rate',
  'loop_rate',
  'context_failure_rate',
  'unsupported_claim_rate',
  'trust_score_mean',
  'negative_feedback_rate',
  'cost_mean_usd',
  'duration_mean_ms',
  'eval_pass_rate',
  'eval_score_mean',
  'eval_cost_mean_usd',
  'eval_duration_mean_ms',
]

/** The kinds of gates, with the field that holds the limit of each. */
export const limitFields = {
  absolute: 'threshold',
  regression: 'max_drop',
  zero_tolerance: 'max_rate',
  worst_group: 'threshold',
  pass_k: 'threshold',
} as const satisfies Record<Kind, keyof GateInput>

/** A gate while it is edited: numbers are texts. */
export type GateDraft = {
  key: number
  metric: Metric
  kind: Kind
  tier: GateInput['tier']
  direction: GateInput['direction']
  limit: string
  k: string
  groups: string
  min_samples: string
}

/** Rules beside the gates, as texts. */
export const ruleNames = [
  'confidence',
  'max_age',
  'valid_for',
  'max_attempts',
  'min_clusters',
  'max_late_share',
  'max_equal_share',
  'max_jump_share',
  'max_missing_share',
] as const
export type RuleName = (typeof ruleNames)[number]

export type PolicyDraft = { gates: GateDraft[]; rules: Record<RuleName, string> }

/** Returns a gate to begin with. */
export function newGate(key: number): GateDraft {
  return {
    key,
    metric: 'task_success_rate',
    kind: 'absolute',
    tier: 'critical',
    direction: undefined,
    limit: '0.9',
    k: '2',
    groups: '',
    min_samples: '1',
  }
}

/** Returns the draft of stored rules. */
export function draftOf({ gates, ...rules }: ReleasePolicy['policy']): PolicyDraft {
  return {
    gates: gates.map((gate, key) => ({
      ...newGate(key),
      metric: gate.metric,
      kind: gate.kind,
      tier: gate.tier,
      direction: gate.direction,
      limit: String(gate[limitFields[gate.kind]] ?? ''),
      k: String(gate.k ?? 2),
      groups: (gate.groups ?? []).join(', '),
      min_samples: String(gate.min_samples),
    })),
    rules: {
      confidence: String(rules.confidence),
      max_age: rules.max_age,
      valid_for: rules.valid_for,
      max_attempts: String(rules.max_attempts),
      min_clusters: String(rules.min_clusters),
      max_late_share: String(rules.max_late_share),
      max_equal_share: String(rules.max_equal_share),
      max_jump_share: String(rules.max_jump_share),
      max_missing_share: String(rules.max_missing_share),
    },
  }
}

/** Returns the request of a draft. A number that cannot be read is left to the API to refuse. */
export function requestOf({ gates, rules }: PolicyDraft): ReleasePolicyRequest {
  const { max_age, valid_for } = rules
  return {
    gates: gates.map(gateOf),
    max_age,
    valid_for,
    confidence: Number(rules.confidence),
    max_attempts: Number(rules.max_attempts),
    multiple_testing: 'holm',
    min_clusters: Number(rules.min_clusters),
    max_late_share: Number(rules.max_late_share),
    max_equal_share: Number(rules.max_equal_share),
    max_jump_share: Number(rules.max_jump_share),
    max_missing_share: Number(rules.max_missing_share),
  }
}

function gateOf(gate: GateDraft): GateInput {
  const { metric, kind, tier, direction, limit } = gate
  const groups = gate.groups
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  return {
    metric,
    kind,
    tier,
    ...(direction !== undefined && { direction }),
    ...(limit.trim() !== '' && { [limitFields[kind]]: Number(limit) }),
    ...(kind === 'pass_k' && { k: Number(gate.k) }),
    ...(kind === 'worst_group' && groups.length > 0 && { groups }),
    min_samples: Number(gate.min_samples),
  }
}
