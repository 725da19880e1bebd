import { z } from 'zod'
import { record } from '../../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import { recomputeTrust } from '../../trust/recompute.ts'
import { verdicts } from '../../verdicts/verdict.ts'
import { readScope, type VerificationRoutesDeps } from '../contract.ts'
import { scoreInterval, trustCap } from '../run-reply.ts'
import { readVerifiedRun, toScoredRun } from '../scored-run.ts'
import { runPath } from './run.ts'

const share = z.number().min(0).max(1)

const trustSchema = record('TrustScore', {
  trust_score: share.nullable().describe('Trust score, 0–1; null if no verifier decided a claim.'),
  interval: scoreInterval.nullable(),
  coverage: share.describe('Share of the claims that a verifier decided.'),
  calibrated: z
    .record(z.string(), z.boolean())
    .describe('For each verifier, whether its confidence is calibrated by labels.'),
  caps: z.array(trustCap),
})

const claimScore = record('ClaimScore', {
  verdict: z.enum(verdicts),
  probability: share.nullable(),
  weight: share,
})

/** POST /api/v1/verification/runs/{run_id}/recompute: the trust score from its evidence. */
export function recomputeRun({ db }: VerificationRoutesDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v1/verification/runs/{run_id}/recompute',
    id: 'recomputeVerificationRun',
    summary: 'Compute the trust score of a run again from its stored results',
    audit: 'refusals',
    auth: 'jwt',
    scope: readScope,
    params: runPath,
    reply: record('RecomputedTrust', {
      run_id: z.uuid(),
      formula_version: z.string().describe('Version of the trust formula.'),
      stored: trustSchema,
      recomputed: trustSchema,
      identical: z
        .boolean()
        .describe('Whether all numbers of the run and of its claims are equal, bit for bit.'),
      differences: z
        .array(
          record('ClaimScoreDifference', {
            claim_id: z.uuid(),
            stored: claimScore,
            recomputed: claimScore,
          }),
        )
        .describe('Claims whose stored and recomputed verdicts differ.'),
    }),
    errors: [
      'verification_run_not_found',
      'verification_without_result',
      'trust_formula_changed',
      'store_unavailable',
    ],
    handle: async ({ params: { run_id }, caller: { project_id } }) => {
      const { run, claims } = await readVerifiedRun(db, { project_id, run_id })
      return { run_id: run.id, ...recomputeTrust(toScoredRun(run, claims)) }
    },
  })
}
