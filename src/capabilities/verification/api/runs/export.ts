import { z } from 'zod'
import { record } from '../../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import { overridesOf } from '../../runs/claims-store.ts'
import { runExportFormat, storedTrust } from '../../trust/recompute.ts'
import { byDigest, claimSchema, toClaimReply } from '../claim-reply.ts'
import { readScope, type VerificationRoutesDeps } from '../contract.ts'
import { runSchema, toRunReply } from '../run-reply.ts'
import { readVerifiedRun } from '../scored-run.ts'
import { runPath } from './run.ts'

const calibrationSchema = record('UsedCalibration', {
  calibrated: z.boolean(),
  labels: z.int().nonnegative(),
  steps: z.array(record('CalibrationStep', { from: z.number(), value: z.number() })),
})

/**
 * GET /api/v1/verification/runs/{run_id}/export: a run with all that its score was computed from,
 * for `looptrace trust recompute --file`.
 */
export function exportRun({ db }: VerificationRoutesDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/verification/runs/{run_id}/export',
    id: 'exportVerificationRun',
    summary:
      'Export of a run with all claims, evidence and calibrations, for an offline recomputation',
    audit: 'content',
    auth: 'jwt',
    scope: readScope,
    params: runPath,
    reply: record('VerificationRunExport', {
      format: z.literal(runExportFormat),
      run: runSchema,
      calibrations: z
        .record(z.string(), calibrationSchema)
        .describe('Calibrations that the run used, by verifier.'),
      claims: z.array(claimSchema),
    }),
    errors: ['verification_run_not_found', 'verification_without_result', 'store_unavailable'],
    handle: async ({ params: { run_id }, caller: { project_id } }) => {
      const { run, claims } = await readVerifiedRun(db, { project_id, run_id })
      const overrides = byDigest(await overridesOf(db, run))
      const { calibrations } = storedTrust.pick({ calibrations: true }).parse(run.trust ?? {})
      return {
        format: runExportFormat,
        run: toRunReply(run),
        calibrations,
        claims: claims.map((claim) => toClaimReply(claim, overrides)),
      }
    },
  })
}
