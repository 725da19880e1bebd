import { z } from 'zod'
import { record } from '../../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import { tracePath } from '../../../traces/index.ts'
import { verifierNames } from '../../contract.ts'
import { claimsOf, overridesOf } from '../../runs/claims-store.ts'
import { latestVerified, type Run } from '../../runs/store.ts'
import { byDigest, effectiveVerdict, type Overrides, verdictSchema } from '../claim-reply.ts'
import {
  type ClaimInEffect,
  countByVerifier,
  findWorstClaims,
  noteOf,
  scoreWithOverrides,
} from '../claims-in-effect.ts'
import { readScope, type VerificationRoutesDeps } from '../contract.ts'
import { calibrationsOf, runFields, toCounts, toRunResult, verdictCounts } from '../run-reply.ts'
import { messageOf, resultUrl, statusOf } from '../start-verification.ts'
import { newestRun, statusSchema } from './trace.ts'

const maxWorstClaims = 5

const worstClaim = record('WorstClaim', {
  claim_id: z.uuid(),
  text: z.string(),
  at: z.tuple([z.int(), z.int()]).describe('UTF-16 offsets in the answer.'),
  verdict: verdictSchema,
  effective_verdict: verdictSchema,
  probability: z.number().min(0).max(1).nullable(),
  note: z.string(),
})

const verifierCounts = record('VerifierCounts', {
  name: z.enum(verifierNames),
  counts: verdictCounts,
})

const { trust_score, interval, coverage, counts, values_checked, values_not_checked } = runFields

const summarySchema = record('VerificationSummary', {
  trace_id: z.guid(),
  run_id: z.uuid().nullable().describe('Id of the newest verified run; null without one.'),
  status: statusSchema.describe('Status of the newest run. The result may be of an earlier run.'),
  message: z.string(),
  trust_score,
  interval,
  coverage,
  counts,
  values_checked,
  values_not_checked,
  trust_score_with_overrides: trust_score.describe(
    'Trust score in which the verdicts of people replace those of the verifiers.',
  ),
  overridden: z.int().nonnegative().describe('Claims with a verdict of a person.'),
  claims_total: z.int().nonnegative(),
  verifiers: z.array(verifierCounts),
  worst_claims: z.array(worstClaim).max(maxWorstClaims),
})

/**
 * GET /api/v1/verification/traces/{trace_id}/summary: a summary of the newest result of a trace,
 * with the claims that most need a review, and with the verdicts of people.
 */
export function getVerificationSummary(deps: VerificationRoutesDeps): Route {
  const { db } = deps
  return defineRoute({
    method: 'GET',
    url: '/api/v1/verification/traces/{trace_id}/summary',
    id: 'getVerificationSummary',
    summary: 'Summary of the verification of a trace, with its worst claims',
    audit: 'content',
    auth: 'jwt',
    scope: readScope,
    params: tracePath,
    reply: summarySchema,
    errors: ['trace_not_found', 'store_unavailable'],
    handle: async ({ params: { trace_id }, caller: { project_id } }) => {
      const trace = { project_id, trace_id }
      const newest = await newestRun(deps, trace)
      const about = { trace_id, ...describeNewest(trace_id, newest) }
      const run = await latestVerified(db, trace)
      if (run === undefined) return { ...about, ...noResult }
      const [claims, overrides] = await Promise.all([
        claimsOf(db, { project_id, run_id: run.id }, { limit: claims_max }),
        overridesOf(db, trace),
      ])
      return { ...about, ...summarise(run, claims, byDigest(overrides)) }
    },
  })
}

/** Maximum claims read: more than a run can have. */
const claims_max = 10_000

function describeNewest(trace_id: string, newest: Awaited<ReturnType<typeof newestRun>>) {
  if ('run' in newest) return { status: statusOf(newest.run), message: messageOf(newest.run) }
  const message = `The trace is not verified. Start with POST ${resultUrl(trace_id)}/verify.`
  return { status: 'not_verified' as const, message }
}

const noResult = {
  run_id: null,
  trust_score: null,
  interval: null,
  coverage: null,
  counts: toCounts({}),
  trust_score_with_overrides: null,
  overridden: 0,
  claims_total: 0,
  values_checked: 0,
  values_not_checked: null,
  verifiers: [],
  worst_claims: [],
}

function summarise(run: Run, claims: readonly ClaimInEffect[], overrides: Overrides) {
  const { trust_score, interval, coverage, counts, claims_total, ...values } = toRunResult(run)
  const { values_checked, values_not_checked } = values
  const overridden = claims.filter(({ digest }) => overrides.has(digest)).length
  const worst = findWorstClaims(claims, overrides, maxWorstClaims)
  return {
    run_id: run.id,
    trust_score,
    interval,
    coverage,
    counts,
    claims_total,
    overridden,
    values_checked,
    values_not_checked,
    trust_score_with_overrides:
      overridden === 0 ? trust_score : scoreWithOverrides(claims, overrides, calibrationsOf(run)),
    verifiers: [...countByVerifier(claims)].map(([name, counts]) => ({ name, counts })),
    worst_claims: worst.map((claim) => toWorstClaim(claim, overrides)),
  }
}

function toWorstClaim(claim: ClaimInEffect, overrides: Overrides): z.input<typeof worstClaim> {
  const { id: claim_id, text, starts_at, ends_at, verdict, probability } = claim
  return {
    claim_id,
    text,
    probability,
    at: [starts_at, ends_at],
    note: noteOf(claim),
    verdict: verdictSchema.parse(verdict),
    effective_verdict: effectiveVerdict(claim, overrides),
  }
}
