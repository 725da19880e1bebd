import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import { tracePath } from '../../../traces/index.ts'
import { runScope } from '../contract.ts'
import {
  endedReply,
  type StartDeps,
  startErrors,
  startReply,
  verifyTrace,
} from '../start-verification.ts'
import { verifyBody } from '../verify-request.ts'

/**
 * POST /api/v1/verification/traces/{trace_id}/verify: verifies the answer of a trace. A trace has
 * one pending run: a second request returns it. A verified trace returns its result, and starts a
 * run only with `force_reverify`.
 */
export function postVerifyTrace(deps: StartDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v1/verification/traces/{trace_id}/verify',
    id: 'verifyTrace',
    summary: 'Verify the answer of a trace',
    status: 202,
    auth: 'jwt',
    scope: runScope,
    params: tracePath,
    body: verifyBody,
    reply: startReply,
    also: endedReply,
    errors: startErrors,
    handle: ({ params: { trace_id }, body, caller, signal }) => {
      const trace = { project_id: caller.project_id, trace_id }
      return verifyTrace(deps, { trace, body, trigger: 'request', caller, signal })
    },
  })
}
