import { z } from 'zod'
import { cutPage, pageInfo, totalExactMax } from '../../../kernel/pages.ts'
import {
  cursorAt,
  cursorParameter,
  isStorable,
  limitParameter,
  positionIn,
} from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { requesterOf } from '../../jobs/index.ts'
import { type InsightDeps, labelReadScope } from '../contract.ts'
import { queueQuery, readQueue, reviewTask, toQueueFilter, toReviewTasks } from './queue.ts'
import { candidates_max } from './queue-store.ts'

const sorted = { list: 'review', sort: 'risk', order: 'desc', kind: 'score' } as const

/** GET /api/v1/feedback/review: the tasks that the caller may review, highest risk first. */
export function listReviewQueue({ db, clock }: InsightDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/feedback/review',
    id: 'listReviewQueue',
    summary: 'Tasks to review, highest risk first',
    audit: 'content',
    auth: 'jwt',
    scope: labelReadScope,
    query: z.strictObject({ ...queueQuery, limit: limitParameter, cursor: cursorParameter }),
    reply: record('ReviewQueue', {
      tasks: z.array(reviewTask).describe('The page, highest risk first.'),
      total: z
        .int()
        .nonnegative()
        .describe('Tasks in the queue: at most 1,000 of each reason to review a task.'),
      total_is_exact: z.literal(false).optional(),
      next_cursor: z.string().nullable(),
    }),
    errors: ['invalid_cursor', 'store_unavailable'],
    handle: async ({ query: { limit, cursor, ...query }, caller }) => {
      const { project_id } = caller
      const about = { project_id, reviewer: requesterOf(caller), now_ms: clock.now_ms() }
      const filter = toQueueFilter(query, about)
      const after = cursor === undefined ? undefined : positionIn(sorted, cursor, isStorable)
      const queue = await readQueue(db, filter)
      const rest =
        after === undefined
          ? queue
          : queue.filter(({ risk, task_id }) => {
              return risk < Number(after.value) || (risk === after.value && task_id > after.id)
            })
      const { items, last } = cutPage(rest, limit)
      const next = last && cursorAt(sorted, { value: last.risk, id: last.task_id })
      // A reason with the maximum number of tasks may have more that are not in the queue.
      const counted = queue.length < candidates_max ? queue.length : totalExactMax + 1
      const info = pageInfo(counted, next ?? null)
      return {
        tasks: await toReviewTasks(db, filter, items),
        ...info,
        total: queue.length,
      }
    },
  })
}
