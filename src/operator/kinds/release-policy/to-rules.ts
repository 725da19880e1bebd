/** The fields of a spec that are rules of the policy. */
type RuleFields = {
  confidence: string
  maxAge: string
  validFor: string
  maxAttempts: number
  minClusters: number
  maxLateShare: string
  maxEqualShare: string
  maxJumpShare: string
  maxMissingShare: string
  gates: readonly {
    metric: string
    kind: string
    tier: string
    threshold?: string | undefined
    maxDrop?: string | undefined
    maxRate?: string | undefined
    k?: number | undefined
    groups?: readonly string[] | undefined
    minSamples: number
  }[]
}

/** Fields with other names in the API. */
const apiNames = {
  ...{ maxDrop: 'max_drop', maxRate: 'max_rate', minSamples: 'min_samples', maxAge: 'max_age' },
  ...{ validFor: 'valid_for', maxAttempts: 'max_attempts', minClusters: 'min_clusters' },
  ...{ maxLateShare: 'max_late_share', maxEqualShare: 'max_equal_share' },
  ...{ maxJumpShare: 'max_jump_share', maxMissingShare: 'max_missing_share' },
}
const specNames = new Map(Object.entries(apiNames).map(([spec, api]) => [api, spec]))

/** Returns the rules of a policy as the API accepts them. */
export function toRules(spec: RuleFields): Readonly<Record<string, unknown>> {
  const { confidence, maxAge, validFor, maxAttempts, minClusters, gates } = spec
  return {
    confidence: Number(confidence),
    ...{ max_age: maxAge, valid_for: validFor },
    ...{ max_attempts: maxAttempts, min_clusters: minClusters },
    max_late_share: Number(spec.maxLateShare),
    max_equal_share: Number(spec.maxEqualShare),
    max_jump_share: Number(spec.maxJumpShare),
    max_missing_share: Number(spec.maxMissingShare),
    gates: gates.map(({ metric, kind, tier, k, groups, minSamples, ...limits }) => ({
      ...{ metric, kind, tier, k, groups, min_samples: minSamples },
      threshold: numberFrom(limits.threshold),
      max_drop: numberFrom(limits.maxDrop),
      max_rate: numberFrom(limits.maxRate),
    })),
  }
}

function numberFrom(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text)
}

/** Converts the path of a field of the rules to the path in the spec. */
export function toSpecPath(path: readonly PropertyKey[]): (string | number)[] {
  return path.map((step) =>
    typeof step === 'number' ? step : (specNames.get(String(step)) ?? String(step)),
  )
}
