import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import { cancelJob, requesterOf } from '../../../jobs/index.ts'
import type { RetentionDeps } from '../contract.ts'
import { runSchema, toRetentionRun } from './run-schema.ts'
import { findRun, runParams } from './runs.ts'

/**
 * POST /api/v2/observability/retention/runs/{job_id}/cancel: ends a run or a dry run as `failed`.
 * Its worker stops before its next statement; deleted rows stay deleted. A run that has ended is
 * returned unchanged.
 */
export function cancelRetentionRun({ db }: RetentionDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/retention/runs/{job_id}/cancel',
    id: 'cancelRetentionRun',
    summary: 'Cancel a run of retention or a dry run',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'admin', key: 'retention:write' },
    params: runParams,
    reply: runSchema,
    errors: ['job_not_found', 'store_unavailable'],
    handle: async ({ params: { job_id: id }, caller }) => {
      const job = await findRun(db, { project_id: caller.project_id, id })
      return toRetentionRun(await cancelJob(db, job, requesterOf(caller)))
    },
  })
}
