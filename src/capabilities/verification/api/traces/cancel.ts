import { problem } from '../../../../kernel/problem.ts'
import { defineRoute, type Route, requesterOf } from '../../../../platform/http/index.ts'
import { tracePath } from '../../../traces/index.ts'
import { cancelRun, listRuns } from '../../runs/store.ts'
import { findTrace } from '../../runs/trace-target.ts'
import { runScope, type VerificationRoutesDeps } from '../contract.ts'
import { runSchema, toRunReply } from '../run-reply.ts'

/**
 * POST /api/v1/verification/traces/{trace_id}/cancel: cancels the pending run of a trace. A run that
 * has ended is returned unchanged, so the call can be repeated.
 */
export function cancelVerification(deps: VerificationRoutesDeps): Route {
  const { db } = deps
  return defineRoute({
    method: 'POST',
    url: '/api/v1/verification/traces/{trace_id}/cancel',
    id: 'cancelVerification',
    summary: 'Cancel the pending verification of a trace',
    auth: 'jwt',
    scope: runScope,
    params: tracePath,
    reply: runSchema,
    errors: ['trace_not_found', 'verification_run_not_found', 'store_unavailable'],
    handle: async ({ params: { trace_id }, caller }) => {
      const { project_id } = caller
      const trace = { project_id, trace_id }
      const [newest] = await listRuns(db, trace, { limit: 1 })
      if (newest === undefined) {
        await findTrace(deps, trace)
        throw problem('verification_run_not_found', {
          detail: `trace_id: ${trace_id} has no verification to cancel`,
        })
      }
      const cancelled = await cancelRun(
        deps,
        { project_id, run_id: newest.id },
        requesterOf(caller),
      )
      if (cancelled !== undefined) return toRunReply(cancelled)
      const [ended] = await listRuns(db, trace, { limit: 1 })
      return toRunReply(ended ?? newest)
    },
  })
}
