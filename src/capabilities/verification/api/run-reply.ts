import { z } from 'zod'
import { dollarsFrom } from '../../../kernel/dollars.ts'
import { dollarsSchema, record } from '../../../model/named-schemas.ts'
import { verifierNames } from '../contract.ts'
import type { Run } from '../runs/store.ts'
import { type Calibrations, trustCaps } from '../trust/fuse.ts'
import { verdicts } from '../verdicts/verdict.ts'

const count = z.int().nonnegative()
const share = z.number().min(0).max(1)

/** Numbers of claims by verdict. */
export const verdictCounts = record('VerdictCounts', {
  supported: count,
  likely: count.describe(
    'Claims whose words, numbers and names a passage has. They are not decided, and have no weight in the score.',
  ),
  contradicted: count,
  not_found: count.describe('Claims for which no verifier found a source.'),
  unverifiable: count.describe('Claims that their sources neither support nor contradict.'),
  skipped: count.describe('Claims that no verifier checked.'),
})

export type VerdictCounts = z.output<typeof verdictCounts>

/** The range of a trust score, or of offsets. */
export const scoreInterval = z
  .tuple([share, share])
  .describe('Range of the trust score with 95 % confidence: low, high.')

const verifierOutcome = record('VerifierOutcome', {
  name: z.enum(verifierNames).meta({ id: 'VerifierName' }),
  state: z.enum(['done', 'skipped', 'failed', 'over_budget']).meta({ id: 'VerifierState' }),
  reason: z
    .string()
    .nullable()
    .describe('Reason why the verifier was skipped or failed; null when it is done.'),
  claims: count.describe('Claims that the verifier checked.'),
  cost_usd: dollarsSchema,
  duration_ms: z.number().nonnegative(),
})

export const runError = record('VerificationError', {
  code: z
    .string()
    .describe('Code of the error, such as `no_answer`, `content_not_stored` or `timed_out`.'),
  message: z.string(),
})

/** A limit of a trust score in a reply. */
export const trustCap = z.enum(trustCaps).meta({ id: 'TrustCap' })

/** Result fields of a run, without its state. */
export const runFields = {
  trust_score: share
    .nullable()
    .describe(
      'Trust score, 0–1. Null until the run is verified, and if no verifier decided a claim.',
    ),
  interval: scoreInterval.nullable(),
  coverage: share.nullable().describe('Share of the claims that a verifier decided.'),
  calibrated: z
    .record(z.string(), z.boolean())
    .describe('For each verifier, whether its confidence is calibrated by labels.'),
  caps: z
    .array(trustCap)
    .describe(
      'Caps that lowered the score: `contradiction` (a strong one), `not_found` (a value that the agent did not see), `coverage` (few decided claims).',
    ),
  formula_version: z.string().nullable().describe('Version of the trust formula.'),
  counts: verdictCounts,
  claims_total: count,
  values_checked: count.describe(
    'Numbers, dates, ids, amounts, URLs and quotes of the answer that were checked.',
  ),
  values_not_checked: count
    .nullable()
    .describe(
      'Values of the answer that were not checked: each has its `reason` in the claims. Null before the run ends, and for runs of earlier versions.',
    ),
  verifiers: z.array(verifierOutcome),
  answer: record('VerifiedAnswer', {
    observation_id: z.string().describe('Observation with the answer.'),
    digest: z.string().describe('SHA-256 of the answer, in hexadecimal.'),
    chars: count.describe('Length of the answer in UTF-16 code units.'),
  })
    .nullable()
    .describe('The verified answer; null until the run has read it.'),
  context: record('VerificationContext', {
    sources: count.describe('Texts that the agent saw before its answer.'),
    chars: count.describe('Length of these texts in UTF-16 code units.'),
    gaps: z.array(z.string()).describe('Why the context is incomplete; empty when it is complete.'),
  }).nullable(),
  trigger: z
    .enum(['request', 'task', 'policy'])
    .meta({ id: 'VerificationTrigger' })
    .describe('Origin of the run: a request for the trace or its task, or the policy.'),
  requested_by: z.string().describe('`user:<id>`, `service_account:<id>` or `policy`.'),
  cost_usd: dollarsSchema,
  created_at: z.iso.datetime(),
  started_at: z.iso.datetime().nullable(),
  ended_at: z.iso.datetime().nullable(),
  error: runError.nullable(),
}

/** Reply with one run. */
export const runSchema = record('VerificationRun', {
  run_id: z.uuid(),
  trace_id: z.guid(),
  task_id: z.string().nullable(),
  state: z
    .enum(['pending', 'verified', 'failed', 'cancelled'])
    .meta({ id: 'VerificationRunState' }),
  ...runFields,
})

/** Reply fields of `runFields`. */
export type RunResult = z.input<z.ZodObject<typeof runFields>>

/** Returns a run as a reply. */
export function toRunReply(run: Run): z.input<typeof runSchema> {
  const { id: run_id, trace_id, task_id, state } = run
  return { run_id, trace_id, task_id, state, ...toRunResult(run) }
}

/** Returns the result of a run. */
export function toRunResult(run: Run): RunResult {
  const { trust_score, values_checked, trigger, requested_by, error } = run
  const { created_at, started_at, ended_at } = run
  const trust = storedTrust.parse(run.trust ?? {})
  return {
    trust_score,
    values_checked,
    trigger,
    requested_by,
    error,
    values_not_checked: notCheckedOf(run),
    created_at,
    started_at,
    ended_at,
    interval: trust.interval,
    coverage: trust.coverage,
    calibrated: trust.calibrated,
    caps: trust.caps,
    formula_version: trust.formula,
    counts: toCounts(run.counts ?? {}),
    claims_total: run.claims,
    verifiers: (run.verifier_runs ?? []).map((each) => storedVerifierRun.parse(each)),
    answer: toAnswer(run),
    context: run.context === null ? null : storedContext.parse(run.context),
    cost_usd: dollarsFrom(BigInt(run.cost_nano_dollars)),
  }
}

/** Returns counts with every verdict. */
export function toCounts(counts: Readonly<Record<string, number>>): VerdictCounts {
  const known = verdicts.map((verdict) => [verdict, counts[verdict] ?? 0] as const)
  return Object.fromEntries(known) as VerdictCounts
}

function toAnswer(run: Run): RunResult['answer'] {
  const { answer_observation_id, answer_digest, answer_chars } = run
  if (answer_observation_id === null || answer_digest === null) return null
  return { observation_id: answer_observation_id, digest: answer_digest, chars: answer_chars ?? 0 }
}

/** The shown part of a stored trust. */
const storedTrust = z.object({
  interval: scoreInterval.nullable().default(null),
  coverage: share.nullable().default(null),
  calibrated: z.record(z.string(), z.boolean()).default({}),
  caps: z.array(trustCap).default([]),
  formula: z.string().nullable().default(null),
})

const storedContext = z.object({ sources: count, chars: count, gaps: z.array(z.string()) })

const storedCounts = z.object({ values_not_checked: count.nullable().default(null) })

/** Returns how many values of the answer a run did not check; null if it is unknown. */
export function notCheckedOf({ context }: Pick<Run, 'context'>): number | null {
  return storedCounts.parse(context ?? {}).values_not_checked
}

const storedVerifierRun = z.object(verifierOutcome.shape)

const storedCalibrations = z.object({
  calibrations: z
    .record(
      z.string(),
      z.object({
        calibrated: z.boolean(),
        labels: count,
        steps: z.array(z.object({ from: z.number(), value: z.number() })),
      }),
    )
    .default({}),
})

/** Returns the calibrations that a run used. */
export function calibrationsOf({ trust }: Pick<Run, 'trust'>): Calibrations {
  return storedCalibrations.parse(trust ?? {}).calibrations
}
