import { z } from 'zod'
import { isUuid } from '../../../../kernel/ids.ts'
import { type Problem, problem } from '../../../../kernel/problem.ts'
import { expected } from '../../../../model/list-query.ts'
import { record } from '../../../../model/named-schemas.ts'
import { refuseUnstorable } from '../../../../model/storable.ts'
import { defineRoute, type Route, requesterOf } from '../../../../platform/http/index.ts'
import type { RunsDb } from '../../contract.ts'
import {
  deleteOverride,
  findClaim,
  putOverride,
  type StoredClaim,
} from '../../runs/claims-store.ts'
import { readVerifiedAnswer } from '../../runs/verified-answer.ts'
import { byDigest, claimSchema, personVerdicts, toClaimReply } from '../claim-reply.ts'
import type { VerificationRoutesDeps } from '../contract.ts'
import { requireRun } from '../find-run.ts'

const url = '/api/v1/verification/claims/{claim_id}/override'
const scope = { level: 'project', role: 'editor', key: null } as const
const claimPath = z.strictObject({ claim_id: z.string().describe('Id of the claim.') })
const reason_chars_max = 2_000

const overrideBody = record('ClaimOverrideRequest', {
  verdict: z.enum(personVerdicts, { error: expected(personVerdicts.join(' or ')) }),
  reason: z
    .string()
    .trim()
    .min(1, { error: 'expected a reason, 1 to 2,000 characters' })
    .max(reason_chars_max, { error: 'expected at most 2,000 characters' })
    .describe('Why the verdict is right, for other people; 1–2,000 characters.'),
}).superRefine(refuseUnstorable)

/**
 * POST /api/v1/verification/claims/{claim_id}/override: a person’s verdict on a claim. It also
 * applies to the equal claim of other runs of the trace. The verdict of the verifiers stays.
 */
export function overrideClaim(deps: VerificationRoutesDeps): Route {
  return defineRoute({
    method: 'POST',
    url,
    id: 'overrideClaim',
    summary: 'Set a person’s verdict on a claim',
    auth: 'jwt',
    scope,
    params: claimPath,
    body: overrideBody,
    reply: claimSchema,
    errors: ['claim_not_found', 'store_unavailable'],
    handle: async ({ params, body, caller }) => {
      const { db, clock } = deps
      const claim = await requireClaim(db, { ...params, project_id: caller.project_id })
      const { trace_start } = await requireRun(db, { ...claim })
      const override = await changeVerdict(deps, claim, (trx) =>
        putOverride(trx, {
          ...body,
          claim,
          trace_start,
          created_at: new Date(clock.now_ms()),
          created_by: requesterOf(caller),
        }),
      )
      if (override === undefined) throw claimNotFound(params.claim_id)
      return toClaimReply(claim, byDigest([override]))
    },
  })
}

/** DELETE /api/v1/verification/claims/{claim_id}/override: removes a person’s verdict. */
export function removeOverride(deps: VerificationRoutesDeps): Route {
  return defineRoute({
    method: 'DELETE',
    url,
    id: 'removeClaimOverride',
    summary: 'Remove a person’s verdict on a claim',
    status: 204,
    auth: 'jwt',
    scope,
    params: claimPath,
    reply: z.undefined(),
    errors: ['claim_not_found', 'store_unavailable'],
    handle: async ({ params, caller: { project_id } }) => {
      const claim = await requireClaim(deps.db, { ...params, project_id })
      await changeVerdict(deps, claim, (trx) => deleteOverride(trx, claim))
      return undefined
    },
  })
}

/** Writes a person's verdict, and the findings that depend on it, in one transaction. */
async function changeVerdict<Written>(
  { db, onOverride }: VerificationRoutesDeps,
  { project_id, trace_id }: StoredClaim,
  write: (trx: RunsDb) => Promise<Written>,
): Promise<Written> {
  let afterCommit: (() => void) | undefined
  const written = await db.transaction().execute(async (trx) => {
    const changed = await write(trx)
    const answer = await readVerifiedAnswer(trx, { project_id, trace_id })
    if (answer !== undefined) afterCommit = await onOverride(trx, answer)
    return changed
  })
  afterCommit?.()
  return written
}

async function requireClaim(
  db: RunsDb,
  { project_id, claim_id }: { project_id: string; claim_id: string },
): Promise<StoredClaim> {
  const claim = isUuid(claim_id) ? await findClaim(db, { project_id, claim_id }) : undefined
  if (claim !== undefined) return claim
  throw claimNotFound(claim_id)
}

function claimNotFound(claim_id: string): Problem {
  return problem('claim_not_found', {
    detail: `claim_id: got "${claim_id.slice(0, 80)}", expected the id of a claim of this project`,
  })
}
