import { hash } from 'node:crypto'
import { z } from 'zod'
import { canonicalJson } from '../../../kernel/canonical-json.ts'
import { durationMs, durationPattern } from '../../../kernel/duration.ts'
import { expected } from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { type Metric, metricNames, metrics } from './metrics.ts'

/** The largest number of gates of a policy. */
export const gates_max = 50

/** Maximum groups of a `worst_group` gate. */
export const groups_max = 200

/** The id of a policy: a DNS label, so that a custom resource can have the same name. */
export const policyId = z
  .string()
  .max(63)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, {
    error: expected('lower-case letters, digits and hyphens, at most 63'),
  })
  .meta({ id: 'ReleasePolicyId' })

const day_ms = 86_400_000

function duration(days_max: number) {
  return z
    .string()
    .regex(durationPattern, { error: expected('a duration such as 7d') })
    .refine((text) => durationMs(text) >= 60_000 && durationMs(text) <= days_max * day_ms, {
      error: expected(`from 1 minute to ${days_max} days`),
    })
}

const limit = z.number().min(-1e12).max(1e12)

/** Tiers of gates. */
export const gateTier = z.enum(['critical', 'supporting', 'advisory']).meta({ id: 'GateTier' })

/** Which values of a metric are better. */
export const gateDirection = z.enum(['higher', 'lower']).meta({ id: 'GateDirection' })

const gateRecord = record('ReleaseGate', {
  metric: z.enum(metricNames).meta({ id: 'CertificationMetric' }),
  kind: z
    .enum(['absolute', 'regression', 'zero_tolerance', 'worst_group', 'pass_k'])
    .meta({ id: 'GateKind' })
    .describe(
      '`absolute`: the interval against `threshold`. `regression`: the difference to the baseline ' +
        'against `max_drop`. `zero_tolerance`: no event, in enough samples for `max_rate`. ' +
        '`worst_group`: each task name (or case name) against `threshold`. `pass_k`: the chance that ' +
        '`k` repeats of a case all pass, against `threshold`.',
    ),
  tier: gateTier
    .default('critical')
    .describe('`critical` and `supporting` gates decide the verdict; `advisory` is only reported.'),
  direction: gateDirection
    .optional()
    .describe('Which values are better. Default: the direction of the metric.'),
  threshold: limit
    .optional()
    .describe('Limit of `absolute`, `worst_group` and `pass_k`; above 0 and below 1 for a rate.'),
  max_drop: limit
    .min(0)
    .optional()
    .describe('Maximum drop against the baseline, for `regression`.'),
  max_rate: z
    .number()
    .gt(0)
    .lt(1)
    .optional()
    .describe(
      'Maximum rate of events, for `zero_tolerance`. A gate passes with at least 3.69 / max_rate samples without an event.',
    ),
  k: z.int().min(2).max(100).optional().describe('Repeats of each case, for `pass_k`.'),
  groups: z
    .array(z.string().min(1).max(256))
    .min(1)
    .max(groups_max)
    .optional()
    .describe(
      'Names of tasks (or cases) that must be there, for `worst_group`, up to 200. Default: those of the baseline. A name without samples is an obstacle.',
    ),
  min_samples: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(1)
    .describe('Minimum samples. With fewer, the gate is inconclusive.'),
})

const gateSchema = gateRecord.superRefine((gate, context) => {
  for (const [field, expectation] of gateFaults(gate)) {
    const message = `got ${JSON.stringify(gate[field]) ?? 'nothing'}, expected ${expectation}`
    context.addIssue({ code: 'custom', path: [field], message, input: gate[field] })
  }
})

/** A gate of a policy: exactly the limit fields of its kind are set. */
export type Gate = z.output<typeof gateSchema>

/** The limit fields of each kind of gate. */
const limitFields: Record<Gate['kind'], readonly LimitField[]> = {
  absolute: ['threshold'],
  regression: ['max_drop'],
  zero_tolerance: ['max_rate'],
  worst_group: ['threshold'],
  pass_k: ['threshold', 'k'],
}

const limitNames = ['threshold', 'max_drop', 'max_rate', 'k'] as const
type LimitField = (typeof limitNames)[number]

/** Returns the faulty fields of a gate, with the expected values. */
function gateFaults(gate: z.output<typeof gateRecord>): [keyof typeof gate, string][] {
  const { kind, threshold, direction, groups } = gate
  const metric: Metric = metrics[gate.metric]
  const needed = limitFields[kind]
  const isRateKind = kind === 'zero_tolerance' || kind === 'worst_group'
  const faults: [boolean, keyof typeof gate, string][] = [
    ...limitNames.map((name): [boolean, LimitField, string] => {
      const isNeeded = needed.includes(name)
      const expectation = isNeeded
        ? `a number for the kind ${kind}`
        : `no value for the kind ${kind}`
      return [isNeeded !== (gate[name] !== undefined), name, expectation]
    }),
    [
      metric.type === 'rate' && threshold !== undefined && !(threshold > 0 && threshold < 1),
      'threshold',
      'above 0 and below 1 for a rate; use zero_tolerance for no event at all',
    ],
    [isRateKind && metric.type !== 'rate', 'metric', `a rate for the kind ${kind}`],
    [kind === 'pass_k' && gate.metric !== 'eval_pass_rate', 'metric', 'eval_pass_rate for pass_k'],
    [kind !== 'worst_group' && groups !== undefined, 'groups', `no value for the kind ${kind}`],
    [new Set(groups).size !== (groups ?? []).length, 'groups', 'each name once'],
    [
      direction !== undefined && direction !== metric.direction,
      'direction',
      `${metric.direction}, as the metric has`,
    ],
  ]
  return faults.flatMap(([isFault, field, text]) => (isFault ? [[field, text]] : []))
}

/** Default maximum shares of the tasks that may be doubtful or missing. */
export const shareDefaults = {
  max_late_share: 0.01,
  max_equal_share: 0.1,
  max_jump_share: 0.5,
  max_missing_share: 0.05,
}

/** Maximum shares of the tasks that may be doubtful or missing, 0–1. */
export type EvidenceShares = typeof shareDefaults

function share(field: keyof EvidenceShares) {
  return z.number().min(0).max(1).default(shareDefaults[field])
}

/** Fields of a policy that a request sets. Fields left out have their defaults. */
export const policyFields = {
  confidence: z
    .number()
    .min(0.8)
    .max(0.999)
    .default(0.95)
    .describe(
      'Two-sided confidence of the intervals over all looks, 0.8–0.999. Each look uses a share of the error.',
    ),
  gates: z.array(gateSchema).min(1).max(gates_max),
  max_age: duration(90)
    .default('7d')
    .describe('Maximum age of the evidence, measured from the end of the window, up to 90 days.'),
  valid_for: duration(365)
    .default('30d')
    .describe('How long a certification is valid, up to 365 days. Its evidence is kept as long.'),
  max_attempts: z
    .int()
    .min(1)
    .max(20)
    .default(5)
    .describe(
      'Maximum looks at new evidence of one release (a version with all its images), 1–20. They share the error.',
    ),
  multiple_testing: z
    .literal('holm')
    .default('holm')
    .describe('Correction for multiple failing gates. Passing gates need none.'),
  min_clusters: z
    .int()
    .min(5)
    .max(10_000)
    .default(20)
    .describe(
      'Minimum users (conversations without a user, or cases), at least 5. With fewer, a gate is inconclusive.',
    ),
  max_late_share: share('max_late_share').describe(
    'Maximum share of tasks that were stored after an earlier look but are dated before its end, are dated after they were stored, or were altered since an earlier look, 0–1.',
  ),
  max_equal_share: share('max_equal_share').describe(
    'Maximum share of tasks with the same content as another one, 0–1. All tasks of a name without tokens are equal.',
  ),
  max_jump_share: share('max_jump_share').describe(
    'Maximum share of tasks since the first look beyond ten times the pace until then, 0–1.',
  ),
  max_missing_share: share('max_missing_share').describe(
    'Maximum share of tasks without a value that a critical or supporting gate needs, 0–1: still running, not analysed, not checked, not verified or not priced.',
  ),
}

/** The body of a policy. */
export const policyBody = record('ReleasePolicyRules', policyFields).superRefine(
  ({ gates }, context) => {
    const keys = gates.map(({ metric, kind, k }) => `${metric} ${kind} ${k ?? ''}`)
    keys.forEach((key, at) => {
      if (keys.indexOf(key) === at) return
      const message = `gate ${key.trim()} is repeated, expected each metric and kind once`
      context.addIssue({ code: 'custom', path: ['gates', at], message })
    })
    if (gates.some(({ tier }) => tier !== 'advisory')) return
    const message = 'expected at least one critical or supporting gate'
    context.addIssue({ code: 'custom', path: ['gates'], message })
  },
)

/** The rules of a policy, with defaults. */
export type PolicyRules = z.output<typeof policyBody>

/** A version of a policy, without its digest. Statements name the digest of this document. */
export type PolicyDocument = { id: string; version: string } & PolicyRules

/** Returns a document with all shares: documents of earlier versions get the defaults. */
export function withShares(document: PolicyDocument): PolicyDocument {
  return { ...shareDefaults, ...document }
}

/** Returns the document of a version of a policy. */
export function toPolicyDocument(id: string, version: number, rules: PolicyRules): PolicyDocument {
  return { id, version: String(version), ...rules }
}

/** Returns the digest of a policy: SHA-256 of its canonical JSON without `digest`, in hex. */
export function digestPolicy(document: PolicyDocument & { digest?: string }): string {
  const { digest: _, ...content } = document
  return hash('sha256', canonicalJson(content))
}
