import { z } from 'zod'
import { dollarsFrom } from '../../../kernel/dollars.ts'
import { dollarsSchema, record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { verifierNames } from '../contract.ts'
import { policySchema, toPolicyReply } from '../policy/rules.ts'
import { policyTable } from '../policy/store.ts'
import { readLimits, runLimits } from '../runs/limits.ts'
import { maxQueuedRuns } from '../runs/store.ts'
import { minCalibrationLabels } from '../trust/calibration.ts'
import { type StoredCalibration, storedCalibrations } from '../trust/calibration-store.ts'
import { trustFormula, verifierWeights } from '../trust/fuse.ts'
import { readScope, type VerificationRoutesDeps } from './contract.ts'

const count = z.int().nonnegative()

const configSchema = record('VerificationConfig', {
  verifiers: z.array(
    record('VerifierConfig', {
      name: z.enum(verifierNames),
      description: z.string(),
      available: z.boolean(),
      reason: z
        .string()
        .nullable()
        .describe('Reason why the verifier is unavailable; null if it is available.'),
      cost: z.enum(['free', 'search', 'model']).meta({ id: 'VerifierCost' }),
      weight: z.number().describe('Weight of its verdicts in the trust score.'),
      options: z.record(z.string(), z.unknown()).describe('JSON schema of its options.'),
      calibration: record('VerifierCalibration', {
        calibrated: z.boolean(),
        labels: count.describe('Verdicts of people used for the fit.'),
        labels_needed: count,
        brier: z.number().nullable().describe('Mean squared error of the confidence.'),
        ece: z.number().nullable().describe('Expected calibration error.'),
      }).describe('How the confidence of the verifier is calibrated in this project.'),
    }),
  ),
  formula_version: z.string().describe('Version of the trust formula.'),
  models: z.array(
    record('VerificationModel', {
      name: z.string(),
      type: z.string(),
      use: z.array(z.string()),
      model: z.string(),
    }),
  ),
  limits: record('VerificationLimits', {
    answer_chars_max: count.describe('Maximum characters of an answer that a run reads.'),
    claims_max: count.describe('Maximum claims of a run.'),
    model_claims_max: count.describe('Maximum claims of a run that models check.'),
    run_ms_max: count.describe('Maximum duration of a run, in milliseconds.'),
    wait_ms_max: count.describe(
      'Maximum wait of a request with `async_mode: false`, in milliseconds.',
    ),
    pending_runs_max: count.describe('Maximum pending runs of a project.'),
    budget_usd_per_day: dollarsSchema.describe(
      'Maximum cost of priced calls of a project on a day (UTC), in US dollars.',
    ),
  }),
  policy: policySchema,
})

/** GET /api/v1/verification/config: verifiers, models, limits and policy of the project. */
export function getVerificationConfig(deps: VerificationRoutesDeps): Route {
  const { db, verifiers } = deps
  return defineRoute({
    method: 'GET',
    url: '/api/v1/verification/config',
    id: 'getVerificationConfig',
    summary: 'Verifiers, models, limits and policy of verification',
    auth: 'jwt',
    scope: readScope,
    reply: configSchema,
    errors: ['store_unavailable'],
    handle: async ({ caller: { project_id } }) => {
      const [policy, calibrations] = await Promise.all([
        policyTable.read(db, project_id),
        storedCalibrations(db, project_id),
      ])
      return {
        verifiers: [...verifiers.values()].map((verifier) => {
          const { name, description, cost, options } = verifier
          const reason = verifier.unavailable() ?? null
          return {
            name,
            description,
            available: reason === null,
            reason,
            cost,
            weight: verifierWeights[name],
            options: z.toJSONSchema(options, { io: 'input' }),
            calibration: toCalibration(calibrations.get(name)),
          }
        }),
        formula_version: trustFormula,
        models: deps.models.map(({ use, ...model }) => ({ ...model, use: [...use] })),
        limits: {
          answer_chars_max: readLimits.answer_chars,
          claims_max: runLimits.claims,
          model_claims_max: runLimits.model_claims,
          run_ms_max: runLimits.run_ms,
          wait_ms_max: deps.wait_ms_max,
          pending_runs_max: maxQueuedRuns,
          budget_usd_per_day: dollarsFrom(deps.budget_nano_dollars),
        },
        policy: toPolicyReply(policy),
      }
    },
  })
}

function toCalibration(stored: StoredCalibration | undefined) {
  const { calibrated = false, labels = 0, brier = null, ece = null } = stored ?? {}
  return { calibrated, labels, brier, ece, labels_needed: minCalibrationLabels }
}
