import { z } from 'zod'
import { durationMs, durationPattern } from '../../../kernel/duration.ts'
import { expected } from '../../../model/list-query.ts'
import { dollarsSchema, record } from '../../../model/named-schemas.ts'
import { refuseUnstorable } from '../../../model/storable.ts'
import type { Selectable, VerificationTables } from '../../../platform/relational/index.ts'
import type { EffectiveDocument } from '../../documents/index.ts'
import { verifierList } from '../verifiers/choose-verifiers.ts'

/** The stored policy of a project. */
export type StoredPolicy = Selectable<VerificationTables['verification_policies']>

const globs_max = 50
const glob_chars_max = 256
const maxMinIntervalMs = 7 * 24 * 3_600_000

const percent = z
  .number({ error: expected('a number from 0 to 100') })
  .min(0, { error: expected('a number from 0 to 100') })
  .max(100, { error: expected('a number from 0 to 100') })

/** Fields of a policy that a request sets. Fields left out have their defaults. */
const policyFields = {
  enabled: z.boolean().default(false).describe('Whether answers are verified automatically.'),
  sample_percent: percent
    .default(100)
    .describe('Percentage of the tasks that are verified, 0–100, chosen by task id.'),
  task_names: z
    .array(z.string().min(1).max(glob_chars_max))
    .min(1, { error: expected('at least one name; null means all tasks') })
    .max(globs_max, { error: `expected at most ${globs_max} names` })
    .nullable()
    .default(null)
    .describe('Names of tasks to verify; `*` and `?` are wildcards. Null: all tasks.'),
  verifiers: verifierList
    .default(null)
    .describe('Verifiers to run. Null: all that are available in this installation.'),
  budget_usd_per_day: z
    .string()
    .regex(/^\d{1,6}(\.\d{1,9})?$/, { error: expected('US dollars as decimal text') })
    .nullable()
    .default(null)
    .describe(
      'Maximum cost of the runs of the policy on a day (UTC). Null: only the budget of the project.',
    ),
  min_interval: z
    .string()
    .regex(durationPattern, { error: expected('a duration such as 10m') })
    .refine((text) => durationMs(text) <= maxMinIntervalMs, {
      error: expected('at most 7 days'),
    })
    .nullable()
    .default(null)
    .describe('Minimum time between two verifications of a task, such as `10m`. Null: no limit.'),
}

export const policyBody = record('VerificationPolicyRequest', policyFields).superRefine(
  refuseUnstorable,
)

/** Rules of a policy. */
export type PolicyRules = z.output<typeof policyBody>

/** Reply with a policy. */
export const policySchema = record('VerificationPolicy', {
  project_id: z.uuid(),
  enabled: z.boolean(),
  sample_percent: percent,
  task_names: z.array(z.string()).nullable(),
  verifiers: z
    .array(
      z.union([
        z.string(),
        record('PolicyVerifier', {
          name: z.string(),
          options: z.record(z.string(), z.unknown()),
        }),
      ]),
    )
    .nullable(),
  budget_usd_per_day: dollarsSchema.nullable(),
  min_interval: z.string().nullable(),
  version: z.int().describe('Version, incremented with each change; 0 for the default policy.'),
  updated_at: z.iso.datetime().nullable(),
  updated_by: z.string().nullable(),
})

/** Returns a policy as a reply. */
export function toPolicyReply({
  policy,
  ...row
}: EffectiveDocument<StoredPolicy>): z.input<typeof policySchema> {
  return { ...row, ...readRules({ policy }) }
}

/** Returns the rules of a stored policy. */
export function readRules({ policy }: Pick<StoredPolicy, 'policy'>): PolicyRules {
  return policyBody.parse(policy)
}
