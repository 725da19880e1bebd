import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { requesterOf } from '../../jobs/index.ts'
import { type InsightDeps, reviewScope } from '../contract.ts'
import { queueQuery, readQueue, reviewTask, toQueueFilter, toReviewTasks } from './queue.ts'
import { claimsOf, lockQueue, putClaims } from './queue-store.ts'

const claim_ms = 15 * 60_000
const claims_max = 20

/**
 * POST /api/v1/feedback/review/claim: gives the next tasks of the queue to the caller. Until the
 * claim ends, the queue does not offer them to others, unless a task needs several reviewers.
 */
export function claimReviews({ db, clock }: InsightDeps): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v1/feedback/review/claim',
    id: 'claimReviews',
    summary: 'Take the next tasks of the review queue for 15 minutes',
    auth: 'jwt',
    scope: reviewScope,
    query: z.strictObject(queueQuery),
    body: record('ReviewClaimRequest', {
      tasks: z
        .int()
        .min(1, { error: 'expected a number of tasks, 1–20' })
        .max(claims_max, { error: 'expected a number of tasks, 1–20' })
        .default(1)
        .describe('Tasks that the caller then has, 1–20. Earlier claims of the caller count.'),
    }),
    reply: record('ReviewClaims', {
      tasks: z.array(reviewTask).describe('The tasks that the caller has, highest risk first.'),
    }),
    errors: ['store_unavailable'],
    handle: async ({ query, body, caller }) => {
      const { project_id } = caller
      const now_ms = clock.now_ms()
      const filter = toQueueFilter(query, { project_id, reviewer: requesterOf(caller), now_ms })
      const until = new Date(now_ms + claim_ms).toISOString()
      return db.transaction().execute(async (trx) => {
        await lockQueue(trx, project_id)
        const [queue, mine] = [await readQueue(trx, filter), await claimsOf(trx, filter)]
        // The caller's own tasks come first, so that a repeated call returns the same tasks.
        const own = queue.filter(({ task_id }) => mine.has(task_id))
        const others = queue.filter(({ task_id }) => !mine.has(task_id))
        const taken = [...own, ...others].slice(0, body.tasks)
        const task_ids = taken.map(({ task_id }) => task_id)
        await putClaims(trx, filter, { task_ids, state: 'claimed', until })
        return { tasks: await toReviewTasks(trx, filter, taken) }
      })
    },
  })
}
