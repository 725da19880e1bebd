import { z } from 'zod'
import { dollarsFrom } from '../../../../kernel/dollars.ts'
import { openProjectSlots } from '../../../../kernel/project-slots.ts'
import { Semaphore } from '../../../../kernel/semaphore.ts'
import { dollarsSchema, record } from '../../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import { tracePath } from '../../../traces/index.ts'
import { extractClaims } from '../../claims/extract-claims.ts'
import { verifierNames } from '../../contract.ts'
import { runLimits } from '../../runs/limits.ts'
import type { TraceInStore } from '../../runs/trace-target.ts'
import { findTrace, tryReadAnswer } from '../../runs/trace-target.ts'
import { chooseVerifiers, type RequestedVerifier } from '../../verifiers/choose-verifiers.ts'
import { readScope, type VerificationRoutesDeps } from '../contract.ts'
import { runError } from '../run-reply.ts'
import { estimateBody } from '../verify-request.ts'

/** An estimate reads up to 8 MiB and splits the answer into claims, in the thread of the API. */
const slotLimits = { work: 'estimates', running_max: 1, waiting_max: 4, wait_ms_max: 5_000 }
/** Maximum concurrent estimates of all projects in a process. */
const running_max = 2

const count = z.int().nonnegative()

const verifierEstimate = record('VerifierEstimate', {
  name: z.enum(verifierNames),
  available: z.boolean(),
  reason: z
    .string()
    .nullable()
    .describe('Reason why the verifier would be skipped; null if it is available.'),
  claims: count.describe('Maximum claims that the verifier would check.'),
  calls: count.describe('Maximum priced calls of the verifier.'),
  cost_usd_max: dollarsSchema,
})

const estimateSchema = record('VerificationEstimate', {
  trace_id: z.guid(),
  claims: count.describe('Claims that rules find in the answer.'),
  calls: count.describe('Maximum priced calls of all verifiers.'),
  cost_usd_max: dollarsSchema.describe('Maximum cost of all verifiers.'),
  verifiers: z.array(verifierEstimate),
  gaps: z.array(z.string()).describe('Why the context is incomplete; empty when it is complete.'),
  error: runError.nullable().describe('Why a run would fail; null if it can verify the answer.'),
})

/**
 * POST /api/v1/verification/traces/{trace_id}/estimate: the maximum cost of a verification. Starts
 * no run and calls no model.
 */
export function estimateVerification(deps: VerificationRoutesDeps): Route {
  const slots = openProjectSlots(slotLimits)
  const running = new Semaphore({ permits_max: running_max })
  return defineRoute({
    method: 'POST',
    url: '/api/v1/verification/traces/{trace_id}/estimate',
    id: 'estimateVerification',
    summary: 'Estimate the cost of a verification',
    audit: 'refusals',
    auth: 'jwt',
    scope: readScope,
    params: tracePath,
    body: estimateBody,
    reply: estimateSchema,
    errors: ['trace_not_found', 'rate_limited', 'store_unavailable'],
    handle: async ({ params: { trace_id }, body, caller: { project_id }, signal }) => {
      const chosen = chooseVerifiers(deps.verifiers, body?.verifiers ?? null)
      const trace = await findTrace(deps, { project_id, trace_id })
      const read = () => running.run(() => readClaims(deps, trace, signal), signal)
      const { gaps, fault, found } = await slots.take({ project_id, signal }, read)
      const claims = Math.min(found, runLimits.claims)
      const verifiers = chosen.map((one) => estimate(deps.verifiers, one, claims))
      const nano = verifiers.reduce((sum, { nano_dollars }) => sum + nano_dollars, 0n)
      return {
        trace_id,
        claims,
        gaps,
        error: fault,
        calls: verifiers.reduce((sum, { calls }) => sum + calls, 0),
        cost_usd_max: dollarsFrom(nano),
        verifiers: verifiers.map(({ nano_dollars, ...one }) => ({
          ...one,
          cost_usd_max: dollarsFrom(nano_dollars),
        })),
      }
    },
  })
}

async function readClaims(deps: VerificationRoutesDeps, trace: TraceInStore, signal: AbortSignal) {
  const { context, fault } = await tryReadAnswer(deps, trace, signal)
  const found = context === null ? 0 : extractClaims(context.answer.text).claims.length
  return { gaps: [...(context?.gaps ?? [])], fault, found }
}

function estimate(
  verifiers: VerificationRoutesDeps['verifiers'],
  { name, options }: RequestedVerifier,
  claims: number,
) {
  const verifier = verifiers.get(name)
  const checked = verifier?.cost === 'model' ? Math.min(claims, runLimits.model_claims) : claims
  const reason = verifier === undefined ? 'unknown' : (verifier.unavailable() ?? null)
  const greatest =
    verifier === undefined || reason !== null
      ? { calls: 0, nano_dollars: 0n }
      : verifier.estimate(checked, options)
  return { name, available: reason === null, reason, claims: checked, ...greatest }
}
