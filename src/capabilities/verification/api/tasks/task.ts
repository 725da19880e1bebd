import { z } from 'zod'
import { idPageQuery } from '../../../../model/id-pages.ts'
import { record } from '../../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import { taskNamed, taskPath } from '../../../tasks/index.ts'
import { readScope, type VerificationRoutesDeps } from '../contract.ts'
import { runFields } from '../run-reply.ts'
import { statusOf } from '../start-verification.ts'
import { readRunPage, runPageFields } from '../traces/runs.ts'
import { statusSchema } from '../traces/trace.ts'

const taskSchema = record('TaskVerification', {
  task_id: z.string(),
  status: statusSchema.describe('Status of the newest verification of the task.'),
  trust_score: runFields.trust_score.describe('Trust score of the newest verified answer.'),
  coverage: runFields.coverage,
  verified_at: z.iso.datetime().nullable(),
  ...runPageFields,
})

/** GET /api/v1/verification/tasks/{task_id}: the runs of a task’s traces, newest first. */
export function getTaskVerification(deps: VerificationRoutesDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/verification/tasks/{task_id}',
    id: 'getTaskVerification',
    summary: 'Trust of a task, and its verification runs',
    audit: 'content',
    auth: 'jwt',
    scope: readScope,
    params: taskPath,
    query: z.strictObject(idPageQuery),
    reply: taskSchema,
    errors: ['task_not_found', 'invalid_cursor', 'store_unavailable'],
    handle: async ({ params, query, caller: { project_id } }) => {
      const task = await taskNamed({ db: deps.db }, project_id, params.task_id)
      const { task_id, trust_score, verified_at, verification_state: state } = task
      const list = `task runs ${task_id}`
      const page = await readRunPage(deps.db, { project_id, task_id }, { list, ...query })
      const isVerified = state !== null && state !== 'cancelled'
      const status = isVerified ? statusOf({ state }) : ('not_verified' as const)
      const { trust_coverage: coverage } = task
      return { task_id, status, trust_score, coverage, verified_at, ...page }
    },
  })
}
