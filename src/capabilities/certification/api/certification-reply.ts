import { z } from 'zod'
import { record, windowSchema } from '../../../model/named-schemas.ts'
import type { Frozen } from '../certifications/frozen.ts'
import { type Baseline, type Certification, toEnvironmentName } from '../evidence/contract.ts'
import { gateDirection, gateTier, type PolicyDocument } from '../policy/policy.ts'
import type { Predicate } from '../statement/statement.ts'

const count = z.int().nonnegative()

/** The verdict of a certification. */
export const certificationVerdict = z
  .enum(['certified', 'rejected', 'inconclusive'])
  .meta({ id: 'CertificationVerdict' })

/** A gate in replies. */
export const gateResultSchema = record('GateResult', {
  metric: z.string(),
  kind: z.string(),
  tier: gateTier,
  direction: gateDirection,
  limit: z
    .number()
    .describe('Limit of the gate: `threshold`, `max_drop` or `max_rate` of the policy.'),
  group: z
    .string()
    .nullable()
    .describe('Name of the worst group, for `worst_group`; null for other kinds.'),
  n: count.describe('Samples.'),
  k: count.nullable().describe('Samples with the event, for rates; null for means.'),
  clusters: count.describe(
    'Independent groups of samples: users (conversations without a user), or cases.',
  ),
  baseline_n: count.nullable().describe('Samples of the baseline, for `regression`.'),
  estimate: z.number().nullable().describe('Rate or mean; the drop for `regression`.'),
  interval: z
    .array(z.number())
    .length(2)
    .nullable()
    .describe('Confidence interval of the estimate at this look: low, high.'),
  verdict: z.enum(['passed', 'failed', 'inconclusive']),
  reason: z
    .string()
    .nullable()
    .describe('Code of the reason why the gate is inconclusive; null otherwise.'),
  warnings: z.array(z.string()),
  evidence: record('GateEvidence', {
    root: z.string().describe('Root of the Merkle tree of the samples, in hex.'),
    leaves: count,
  }),
})

const taskCounts = record('CertificationTaskCounts', {
  total: count.describe('Tasks in the window.'),
  late: count.describe(
    'Tasks that were stored after an earlier look but are dated before its end, or are dated after they were stored.',
  ),
  altered: count.describe(
    'Tasks of earlier looks that are gone or have another outcome, user or name since.',
  ),
  equal: count.describe('Tasks with the same content as another one.'),
  jump: count.describe('Tasks since the first look beyond ten times the pace until then.'),
  running: count,
  unanalysed: count,
  unchecked: count.describe('Analysed tasks with values of answers that were not checked.'),
  unverified: count.describe('Tasks whose verification is pending or failed.'),
  unpriced: count,
}).nullable()

const releaseSchema = record('CertifiedRelease', {
  name: z.string(),
  version: z.string(),
  image_digest: z.string().nullable(),
  tags: z.array(z.string()).describe('`release` of its tasks.'),
})

/** A certification in replies. */
export const certificationSchema = record('ReleaseCertification', {
  certification_id: z.uuid(),
  state: z
    .enum(['pending', 'running', 'ended', 'cancelled', 'failed'])
    .meta({ id: 'CertificationState' }),
  result: z
    .enum(['pending', 'certified', 'rejected', 'inconclusive', 'cancelled', 'failed'])
    .describe('Verdict to act on. An expired `certified` is `inconclusive`.'),
  verdict: certificationVerdict.nullable(),
  policy: record('CertificationPolicy', {
    id: z.string(),
    version: z.string(),
    digest: z.string(),
  }),
  release: releaseSchema,
  subject: z.string().describe('`sha256:` and the image digest, else that of `name@version`.'),
  environment: z.string().nullable().describe('Null for tasks without an environment.'),
  window: windowSchema,
  baseline: record('CertificationBaseline', {
    name: z.string(),
    version: z.string(),
    tags: z.array(z.string()),
    environment: z.string().nullable(),
    window: windowSchema,
    eval_run_ids: z.array(z.string()),
  }).nullable(),
  eval_run_ids: z.array(z.string()),
  same_as: z
    .uuid()
    .nullable()
    .describe(
      'Earlier certification with the same statement, if there was no new evidence; null otherwise.',
    ),
  attempt: z
    .int()
    .nullable()
    .describe('Number of this look at the release, from 1; null before its evidence is stored.'),
  max_attempts: z.int(),
  obstacles: z
    .array(z.string())
    .describe('Reasons, besides the gates, why the release is not certified.'),
  warnings: z.array(z.string()),
  gates: z.array(gateResultSchema),
  ledger: record('CertificationLedger', {
    accepted: count,
    stored: count,
    lost: count,
    pending: count,
  }).nullable(),
  tasks: taskCounts.describe('Doubtful and missing tasks; null without evidence of tasks.'),
  baseline_tasks: taskCounts.describe('The same of the baseline; null without one.'),
  declared_at: z.iso.datetime().describe('Time when the first look declared the window.'),
  requested_by: z.string(),
  created_at: z.iso.datetime(),
  started_at: z.iso.datetime().nullable(),
  ended_at: z.iso.datetime().nullable(),
  expires_at: z.iso.datetime().nullable(),
  key_id: z.string().nullable().describe('Key of the statement: SHA-256 of its SPKI, in hex.'),
  error: z.string().nullable(),
})

export type CertificationReply = z.input<typeof certificationSchema>

/** Returns the reply of a certification at a time. */
export function toCertificationReply(row: Certification, now_ms: number): CertificationReply {
  const policy = row.policy as PolicyDocument
  const predicate = row.predicate as Predicate | null
  const { state, verdict, attempt, error, requested_by, key_id } = row
  return {
    certification_id: row.id,
    state,
    result: resultOf(row, now_ms),
    verdict,
    policy: { id: row.policy_id, version: policy.version, digest: row.policy_digest },
    release: {
      name: row.release_name,
      version: row.release_version,
      tags: row.release_tags,
      image_digest: row.image_digest && `sha256:${row.image_digest}`,
    },
    subject: `sha256:${row.subject}`,
    environment: toEnvironmentName(row.environment),
    window: { from: row.window_from, to: row.window_to },
    baseline: toBaseline(row.baseline as Baseline | null),
    same_as: (row.frozen as Frozen | null)?.same_as ?? null,
    eval_run_ids: row.eval_run_ids,
    attempt,
    max_attempts: policy.max_attempts,
    obstacles: predicate?.obstacles ?? [],
    warnings: predicate?.warnings ?? [],
    gates: predicate?.gates ?? [],
    ledger: predicate?.ledger ?? null,
    tasks: predicate?.tasks ?? null,
    baseline_tasks: predicate?.baseline_tasks ?? null,
    declared_at: row.declared_at,
    requested_by,
    created_at: row.created_at,
    started_at: row.started_at,
    ended_at: row.ended_at,
    expires_at: row.expires_at,
    key_id,
    error,
  }
}

function toBaseline(baseline: Baseline | null): CertificationReply['baseline'] {
  if (baseline === null) return null
  const { tags, eval_run_ids, environment } = baseline
  return {
    ...baseline,
    tags: [...tags],
    eval_run_ids: [...eval_run_ids],
    environment: toEnvironmentName(environment),
  }
}

function resultOf(
  { state, verdict, expires_at }: Certification,
  now_ms: number,
): CertificationReply['result'] {
  if (state === 'cancelled' || state === 'failed') return state
  if (state !== 'ended' || verdict === null) return 'pending'
  const isExpired = expires_at !== null && Date.parse(expires_at) <= now_ms
  return isExpired && verdict === 'certified' ? 'inconclusive' : verdict
}
