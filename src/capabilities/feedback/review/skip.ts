import { z } from 'zod'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { requesterOf } from '../../jobs/index.ts'
import { taskNamed, taskPath } from '../../tasks/index.ts'
import { type InsightDeps, reviewScope } from '../contract.ts'
import { putClaims } from './queue-store.ts'

const skip_ms = 7 * 24 * 3_600_000

/**
 * POST /api/v1/feedback/review/{task_id}/skip: returns a task to the queue, for other reviewers.
 */
export function skipReview({ db, clock }: InsightDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v1/feedback/review/{task_id}/skip',
    id: 'skipReview',
    summary: 'Give a task back; it is not offered to the caller for 7 days',
    status: 204,
    auth: 'jwt',
    scope: reviewScope,
    params: taskPath,
    reply: z.undefined(),
    errors: ['task_not_found', 'store_unavailable'],
    handle: async ({ params, caller }) => {
      const { project_id } = caller
      const { task_id } = await taskNamed({ db }, project_id, params.task_id)
      const now_ms = clock.now_ms()
      const [now, until] = [now_ms, now_ms + skip_ms].map((ms) => new Date(ms).toISOString())
      await putClaims(
        db,
        { project_id, reviewer: requesterOf(caller), now: now ?? '' },
        { task_ids: [task_id], state: 'skipped', until: until ?? '' },
      )
      return undefined
    },
  })
}
