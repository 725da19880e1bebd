import { z } from 'zod'
import {
  gates_max,
  groups_max,
  metricNames,
  policyBody,
} from '../../../capabilities/certification/policy/index.ts'
import { durationPattern } from '../../../kernel/duration.ts'
import { commonSpecFields, immutable, labelField, projectRefField } from '../../common-spec.ts'
import { converted, documentOf, elsewhere, refusedAs } from '../../declared/document.ts'

/** A duration as text. Its bounds are checked by `policyBody`. */
const duration = z.string().max(28).regex(durationPattern)

/** A number as text: custom resources have no fractions. */
const decimal = converted(
  z
    .string()
    .max(26)
    .regex(/^[0-9]{1,13}(\.[0-9]{1,9})?$/),
  Number,
)

/** The kinds of gates that have a limit field. */
const limits = [
  ['threshold', ['absolute', 'worst_group', 'pass_k']],
  ['maxDrop', ['regression']],
  ['maxRate', ['zero_tolerance']],
  ['k', ['pass_k']],
] as const

const gate = z
  .strictObject({
    metric: z.enum(metricNames).describe('Measured metric.'),
    kind: z
      .enum(['absolute', 'regression', 'zero_tolerance', 'worst_group', 'pass_k'])
      .describe(
        '`absolute`: the interval against `threshold`. `regression`: the difference to the baseline against `maxDrop`. `zero_tolerance`: no event, in enough samples for `maxRate`. `worst_group`: each task name against `threshold`. `pass_k`: the chance that `k` repeats of a case all pass, against `threshold`.',
      ),
    tier: z
      .enum(['critical', 'supporting', 'advisory'])
      .default('critical')
      .describe(
        '`critical` and `supporting` gates decide the verdict; `advisory` is only reported.',
      ),
    threshold: decimal
      .optional()
      .describe('Limit of `absolute`, `worst_group` and `pass_k` as decimal text: `0.95`.'),
    maxDrop: decimal
      .optional()
      .describe('Maximum drop against the baseline, for `regression`, as decimal text.'),
    maxRate: decimal
      .optional()
      .describe('Maximum rate of events, for `zero_tolerance`, as decimal text: `0.01`.'),
    k: z.int().min(2).max(100).optional().describe('Repeats of each case, for `pass_k`.'),
    groups: z
      .array(z.string().min(1).max(256))
      .min(1)
      .max(groups_max)
      .optional()
      .describe(
        'Names of tasks that must be there, for `worst_group`. Default: those of the baseline. A name without samples is an obstacle.',
      ),
    minSamples: z
      .int()
      .min(1)
      .max(1_000_000)
      .default(1)
      .describe('Minimum samples. With fewer, the gate is inconclusive.'),
  })
  .meta({
    'x-kubernetes-validations': [
      ...limits.map(([field, kinds]) => ({
        rule: `(self.kind in [${kinds.map((kind) => `'${kind}'`).join(', ')}]) == has(self.${field})`,
        message: `${field}: expected for the kinds ${kinds.join(', ')}, and for no other`,
      })),
      {
        rule: "self.kind == 'worst_group' || !has(self.groups)",
        message: 'groups: expected for the kind worst_group only',
      },
    ],
  })

/** The fields of a ReleasePolicy, before `policyBody` compares them with each other. */
const releasePolicyFields = z.strictObject({
  projectRef: projectRefField,
  policyId: elsewhere(
    labelField
      .optional()
      .describe(
        'Id of the policy in the project. Default: the name of the resource. `default` applies to certifications that name no policy. Immutable.',
      )
      .meta(immutable('policyId')),
  ),
  gates: z
    .array(gate)
    .min(1)
    .max(gates_max)
    .describe('Gates that a release must pass. Each metric and kind once.')
    .meta({
      'x-kubernetes-validations': [
        {
          rule: "self.exists(gate, gate.tier != 'advisory')",
          message: 'expected at least one critical or supporting gate',
        },
      ],
    }),
  confidence: decimal
    .default('0.95')
    .describe('Two-sided confidence of the intervals as decimal text, 0.8–0.999.'),
  maxAge: duration
    .default('7d')
    .describe('Maximum age of the evidence, measured from the end of the window, up to 90d.'),
  validFor: duration
    .default('30d')
    .describe('How long a certification is valid, up to 365d. Its evidence is kept as long.'),
  maxAttempts: z
    .int()
    .min(1)
    .max(20)
    .default(5)
    .describe(
      'Maximum looks at new evidence of one release (a version with all its images), 1–20. They share the error.',
    ),
  minClusters: z
    .int()
    .min(5)
    .max(10_000)
    .default(20)
    .describe(
      'Minimum users (conversations without a user, or cases). With fewer, a gate is inconclusive.',
    ),
  maxLateShare: decimal
    .default('0.01')
    .describe(
      'Maximum share of tasks that were stored after an earlier look but are dated before its end, are dated after they were stored, or were altered since, as decimal text, 0–1.',
    ),
  maxEqualShare: decimal
    .default('0.1')
    .describe('Maximum share of tasks with the same content as another one, 0–1.'),
  maxJumpShare: decimal
    .default('0.5')
    .describe(
      'Maximum share of tasks since the first look beyond ten times the pace until then, 0–1.',
    ),
  maxMissingShare: decimal
    .default('0.05')
    .describe(
      'Maximum share of tasks without a value that a critical or supporting gate needs, 0–1: still running, not analysed, not checked, not verified or not priced.',
    ),
  ...commonSpecFields,
})

/** Converts a spec to the rules of a policy. */
export const toRules = documentOf<z.input<typeof policyBody>>()(releasePolicyFields)

/** The spec of a ReleasePolicy. Refuses what the service refuses. */
export const releasePolicySpec = refusedAs(releasePolicyFields, {
  body: policyBody,
  toBody: toRules,
})

export type ReleasePolicySpec = z.output<typeof releasePolicySpec>

/** The status of a ReleasePolicy: the version that the service follows. */
export const releasePolicyStatus = z.strictObject({
  policyId: z.string().max(63).optional().describe('Id of the policy in the project.'),
  version: z
    .int()
    .min(1)
    .max(2 ** 31 - 1)
    .optional()
    .describe('Version of the policy in the service. Each change of the rules writes one.'),
  digest: z
    .string()
    .max(64)
    .optional()
    .describe('SHA-256 of the version, as statements of certifications name it.'),
  appliedGeneration: z
    .int()
    .min(0)
    .max(2 ** 53 - 2)
    .optional()
    .describe('Generation of the spec that the service had at the last read-back.'),
})

export type ReleasePolicyStatus = z.output<typeof releasePolicyStatus>
