import { z } from 'zod'
import { isUuid } from '../../../../kernel/ids.ts'
import {
  cutPage,
  decodeCursor,
  encodeCursor,
  invalidCursor,
  pageInfo,
} from '../../../../kernel/pages.ts'
import { idPageQuery, pageFields } from '../../../../model/id-pages.ts'
import { expected, textParameter } from '../../../../model/list-query.ts'
import { record } from '../../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import { tracePath } from '../../../traces/index.ts'
import { claimsOf, countClaims, overridesOf } from '../../runs/claims-store.ts'
import { findTrace } from '../../runs/trace-target.ts'
import { verdicts } from '../../verdicts/verdict.ts'
import { byDigest, claimSchema, toClaimReply } from '../claim-reply.ts'
import { readScope, type VerificationRoutesDeps } from '../contract.ts'
import { chooseRun } from '../find-run.ts'

const querySchema = z.strictObject({
  verdict: z
    .enum(verdicts, { error: expected(`one of ${verdicts.join(', ')}`) })
    .optional()
    .describe('Only claims with this verdict of the verifiers.'),
  run_id: textParameter('Claims of this run. Default: the newest verified run.', 80),
  ...idPageQuery,
})

/**
 * GET /api/v1/verification/traces/{trace_id}/claims: the claims of a run in the order of the
 * answer. A cursor names its run, so that a new run does not change the pages of a list.
 */
export function listTraceClaims(deps: VerificationRoutesDeps): Route {
  const { db } = deps
  return defineRoute({
    method: 'GET',
    url: '/api/v1/verification/traces/{trace_id}/claims',
    id: 'listTraceClaims',
    summary: 'Claims of a trace’s answer, with verdicts and evidence',
    audit: 'content',
    auth: 'jwt',
    scope: readScope,
    params: tracePath,
    query: querySchema,
    reply: record('VerifiedClaimList', {
      run_id: z.uuid().nullable().describe('Run of the claims; null without a verified run.'),
      claims: z.array(claimSchema),
      ...pageFields,
    }),
    errors: [
      'trace_not_found',
      'verification_run_not_found',
      'invalid_cursor',
      'store_unavailable',
    ],
    handle: async ({ params: { trace_id }, query, caller: { project_id } }) => {
      const trace = { project_id, trace_id }
      const { verdict, limit, cursor } = query
      const list = `claims ${trace_id} ${verdict ?? ''} ${query.run_id ?? ''}`
      const begin = cursor === undefined ? undefined : readCursor(list, cursor)
      const run = await chooseRun(db, trace, begin?.run_id ?? query.run_id)
      if (run === undefined) {
        await findTrace(deps, trace)
        return { run_id: null, claims: [], ...pageInfo(0, null) }
      }
      const filter = { project_id, run_id: run.id, verdict }
      const [rows, total, overrides] = await Promise.all([
        claimsOf(db, filter, { after: begin?.position ?? -1, limit: limit + 1 }),
        countClaims(db, filter),
        overridesOf(db, trace),
      ])
      const { items, last } = cutPage(rows, limit)
      const next = last === undefined ? null : encodeCursor(list, [run.id, last.position])
      const known = byDigest(overrides)
      const claims = items.map((claim) => toClaimReply(claim, known))
      return { run_id: run.id, claims, ...pageInfo(total, next) }
    },
  })
}

const position_max = 1_000_000

function readCursor(list: string, cursor: string): { run_id: string; position: number } {
  const [run_id, position] = decodeCursor(list, cursor, 2)
  const isPosition = Number.isInteger(position) && Number(position) >= 0
  if (typeof run_id === 'string' && isUuid(run_id) && isPosition) {
    return { run_id, position: Math.min(Number(position), position_max) }
  }
  throw invalidCursor(cursor)
}
