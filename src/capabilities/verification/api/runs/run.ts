import { z } from 'zod'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import { readScope, type VerificationRoutesDeps } from '../contract.ts'
import { requireRun } from '../find-run.ts'
import { runSchema, toRunReply } from '../run-reply.ts'

/** Path of one run. */
export const runPath = z.strictObject({ run_id: z.string().describe('Id of the run.') })

/** GET /api/v1/verification/runs/{run_id}: one run, in any state. */
export function getVerificationRun({ db }: VerificationRoutesDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/verification/runs/{run_id}',
    id: 'getVerificationRun',
    summary: 'One verification run',
    audit: 'content',
    auth: 'jwt',
    scope: readScope,
    params: runPath,
    reply: runSchema,
    errors: ['verification_run_not_found', 'store_unavailable'],
    handle: async ({ params: { run_id }, caller: { project_id } }) =>
      toRunReply(await requireRun(db, { project_id, run_id })),
  })
}
